"""Notebooks as kernels: running them, tidying their outputs, what nbval must not forgive."""

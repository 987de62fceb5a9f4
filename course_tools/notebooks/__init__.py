"""Notebooks as files and as kernels: running them, comparing their outputs, what nbval must not forgive."""

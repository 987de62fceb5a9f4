"""Checks of CUDA C: a student's kernel is launched on the CPU engine, under all its tools."""

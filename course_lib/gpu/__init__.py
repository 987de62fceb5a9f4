"""CUDA C from Python: on a GPU through PyCUDA, and without one on the CPU engine."""

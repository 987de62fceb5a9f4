"""What checks are built from: cases, tolerances, causes and messages. The map is ../README.md.

`threads` guards the threads that students start, `kernels` is for CUDA C, `ranks` for MPI.
"""

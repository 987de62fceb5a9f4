"""What checks are built from: cases, tolerances, causes and messages; the map is in ../README.md.

`threads` guards the threads that students start, `kernels` is for CUDA C, `ranks` for MPI.
"""

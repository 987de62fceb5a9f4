"""What checks are built from: cases, tolerances, causes and messages; `kernels` for CUDA C, `ranks` for MPI."""

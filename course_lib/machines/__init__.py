"""What runs code, each usable alone: the CPU engine for CUDA C, the rehearsal of MPI programs, real ranks."""

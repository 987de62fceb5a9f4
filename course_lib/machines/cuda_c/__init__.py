"""CUDA C for a host's C++ compiler: a source rewritten line for line, and headers with what CUDA adds to C++."""

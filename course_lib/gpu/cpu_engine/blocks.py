"""Limits of a block, the same as those of `native/blocks.h`, which are those of every CUDA GPU."""

MAX_THREADS = 1024
MAX_SHARED = 48 << 10

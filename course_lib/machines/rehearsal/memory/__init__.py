"""A rank's memory while MPI has it: poison, what touches it too early, the order of its elements."""

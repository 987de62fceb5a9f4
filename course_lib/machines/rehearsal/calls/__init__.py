"""More of mpi4py: what the communicator has beside messages and collectives, requests, groups, the names of MPI."""

"""`course bench mpi`: allreduces by size and the schemes of training over ranks, measured and predicted."""

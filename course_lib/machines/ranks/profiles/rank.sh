# One rank. An mpiexec ends all ranks at once when one is killed by a signal; this shell turns the signal into an exit
# status, so that the other ranks can still be asked where they are. The line is read by course_lib.mpi.
"$@"; echo "rank ${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}} ended with status $?"

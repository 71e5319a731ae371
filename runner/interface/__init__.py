"""What a library and its header offer to a program, compared with the standard: no MPI call is made."""

"""Several processes, ranks, on one machine or many: the same programs on the same graph, over MPI."""

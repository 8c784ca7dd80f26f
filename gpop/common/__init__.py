"""What every room uses: errors, memory, threads, atomics, progress. Knows nothing of graphs."""

"""Other libraries, measured beside gpop on the same graphs; `perf.implementations` says what a file holds."""

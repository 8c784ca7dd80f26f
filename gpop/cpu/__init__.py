"""The CPU target: scatter, gather, active lists and the compiled iteration loop, on Numba."""

"""Measuring gpop: benchmarks, a store of results, profiles of L2 misses, machine facts, figures.

``python -m perf`` lists the commands. This package lies beside gpop, uses its public API only, and is
not part of the wheel.
"""

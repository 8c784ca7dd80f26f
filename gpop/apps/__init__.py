"""Graph algorithms as GPOP programs, one per file, each with the same four parts.

A banner; the program class; the one-call function with its result; a serial verifier of a different
kind than the program; ``main``. Shared: inputs.py (vertices given by a caller), around_seeds.py (local
searches), without_messages.py (runs of `gpop.direct`), with_messages.py (the others, run alike); holds.py,
result.py, tables.py, paths.py and show.py (results); app.py, cli.py and cli_arguments.py (the command line);
report.py, json_report.py and run_report.py (what it prints and writes).
"""

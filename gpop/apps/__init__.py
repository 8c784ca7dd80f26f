"""Graph algorithms, most of them GPOP programs: one per file, each with the same four parts.

A banner; the program class; the one-call function with its result; a serial verifier of a different
kind than the program; ``main``. What one app has in files of its own begins with its name (sssp_methods.py,
pagerank_programs.py). What several share:

what is given   inputs.py (vertices, checks), weights.py, options.py, resolved.py and prototype.py (a call
                like an earlier one), reorder.py, on_ranks.py
runs            with_messages.py (alike), without_messages.py (of `gpop.direct`), around_seeds.py (local
                searches), affine.py and shares.py (ranks of all kinds)
results         result.py, holds.py, tables.py, paths.py, distances.py, show.py
the shell       app.py, cli.py, cli_arguments.py, samples.py, checkpoint_options.py; report.py,
                json_report.py, run_report.py
"""

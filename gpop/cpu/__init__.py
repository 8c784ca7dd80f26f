"""The CPU target: scatter, gather, active lists and the compiled iteration loop, on Numba.

==================  ==========================================================================
a run               ``engine`` (its threads, its end), ``preparation`` (all that it needs before),
                    ``layouts``, ``again`` (runs like an earlier one), ``beginning``, ``traits``,
                    ``specialise`` (what is compiled), ``program_kernels`` (of what),
                    ``schedule``, ``settling``, ``filling`` (of fields), ``counters``
the loop            ``loop``, ``loops`` (one for each kind of program), ``loop_state``, ``control``,
                    ``work`` (what a phase does to partitions)
modes               ``choose_mode``, ``tree``, ``scatter``, ``scatter_inside``,
                    ``scatter_partition``, ``gather``, ``sums``, ``interleave``, ``pull``,
                    ``pull_all``; ``trial`` and ``trying`` (which one is faster, by its times)
who is active       ``active`` (two-level lists), ``marks`` (what a run leaves), ``bitmap``, ``priority``,
                    ``tournament``
threads             ``team``, ``follow``, ``sharing`` and ``alone`` (whether), ``shares`` (who does
                    what)
memory              ``workspace`` (a run's arrays), ``workspace_tables`` (their sizes),
                    ``kept_workspace``, ``arrays``, ``disk``, ``read_ahead``
this machine        ``constants``, ``calibrate``
between ranks       ``exchange``, ``exchange_out``, ``exchange_in``, ``exchange_post``,
                    ``exchange_wire``, ``owed``, ``own_vertices``
==================  ==========================================================================
"""

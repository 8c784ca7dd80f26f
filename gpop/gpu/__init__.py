"""The GPU target: ``gpop.run(program, ..., target="gpu")``, the same programs over the same bins.

Needs a CUDA device and CuPy, which is imported when the GPU is asked for and never otherwise. A program's
functions become CUDA C++ (one text with the engine, compiled by NVRTC and kept on disk by CuPy); graph and
bins are copied to the device once and stay with the graph until ``graph.drop("device")``; the loop over
iterations runs on the device and returns to Python a few times a second.

==================  ==========================================================================
user functions      ``emit`` (entry), ``emitted``, ``source``, ``function``, ``expressions``,
                    ``operations``, ``calls``, ``helpers``, ``c_types``, ``semantics.cuh`` (Python's
                    arithmetic), ``ranked`` (on a rank)
engine text         ``kernel``, ``kernel_files``, ``traits``, ``limits``, ``model_source``, ``structs``
                    (mirrors of ``kernels/layout.cuh``); the loop is ``kernels/engine.cuh``
ways                ``choices`` (decisions), ``strategies``, ``tree``, ``calibrate`` (eq. 1)
on the device       ``device_graph`` (with its bins), ``device_tables`` and ``pieces`` (who does what),
                    ``edge_arrays``, ``hyb_arrays``, ``workspace`` (a run's arrays)
beyond its memory   ``streaming``, ``streamed_graph``, ``budgeted_graph``
a run               ``preparing`` and ``prepared`` (once for runs alike), ``engine`` (slices of the
                    loop), ``again`` (runs like an earlier one; of small graphs ``one_block``,
                    ``answer``), ``launch``, ``exchange`` and ``mail`` (what travels),
                    ``exchange_form``
fields              ``fields``, ``beginning``, ``rooms``, ``staging``, ``left`` (until somebody looks)
without messages    ``direct`` (components, shortest paths, triangles), ``kernels/direct/*.cuh``
the machine         ``device`` (CuPy, memory that is free)
==================  ==========================================================================
"""

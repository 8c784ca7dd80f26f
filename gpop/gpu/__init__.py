"""The GPU target: ``gpop.run(program, ..., target="gpu")``, the same programs over the same bins.

Needs a CUDA device and CuPy, which is imported when the GPU is asked for and never otherwise. A program's
functions become CUDA C++ (one text with the engine, compiled by NVRTC and kept on disk by CuPy); graph and
bins are copied to the device once and stay with the graph until ``graph.drop("device")``; the loop over
iterations runs on the device and returns to Python a few times a second.

==================  ==========================================================================
user functions      ``emit`` (entry), ``source``, ``function``, ``expressions``, ``operations``,
                    ``calls``, ``typed_ir``, ``c_types``, ``semantics.cuh`` (Python's arithmetic)
engine text         ``kernel`` (types, traits, mirrors of structs), ``kernels/engine.cuh`` (the loop),
                    ``layout``, ``team`` (barrier), ``strip``, ``fold`` (atomics), ``scatter``,
                    ``push``, ``gather``, ``combine``, ``frontier`` (``.cuh``)
on the device       ``device_graph`` (with its bins and tables of work), ``workspace`` (a run's arrays)
a run               ``choices`` (decisions), ``preparing`` and ``prepared`` (once for runs alike),
                    ``fields``, ``exchange`` and ``mail`` (what travels), ``launch``, ``engine``
                    (slices of the loop), ``again`` (runs like an earlier one), ``calibrate`` (eq. 1)
without messages    ``direct`` (components, shortest paths, triangles), ``kernels/direct/*.cuh``
the machine         ``device`` (CuPy, memory that is free)
==================  ==========================================================================
"""

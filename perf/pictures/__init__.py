"""The pictures and tables of ``python -m perf figures``: one file each, and one line here.

What such a module has is said in `perf.pictures.sheet`; these draw on a `perf.pictures.study.Study`.
"""

PICTURES = {  # name of the files: module
    "figure1-traffic": "perf.pictures.traffic_split",
    "figure3-strong-scaling": "perf.pictures.strong_scaling",
    "figure4-weak-scaling": "perf.pictures.weak_scaling",
    "figure5-degree": "perf.pictures.degree_sweep",
    "figure6-ablation": "perf.pictures.ablation",
    "figure7-iterations": "perf.pictures.mode_times",
    "table3-times": "perf.pictures.table_times",
    "table4-l2-misses": "perf.pictures.table_misses",
    "partitions-and-modes": "perf.pictures.active_partitions",
    "model-bytes": "perf.pictures.model_bytes",
}

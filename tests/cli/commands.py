"""The apps by name, and ways to run one."""

from __future__ import annotations

import importlib
import subprocess
import sys

APPS = (
    "betweenness",
    "bfs",
    "cc",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "heat_kernel",
    "hits",
    "independent_set",
    "katz",
    "label_propagation",
    "nibble",
    "pagerank",
    "pagerank_nibble",
    "personalized_pagerank",
    "spanning_forest",
    "sssp",
    "strong_components",
    "triangles",
)
WITHOUT_SOURCE = (
    "betweenness",
    "cc",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "hits",
    "independent_set",
    "katz",
    "label_propagation",
    "pagerank",
    "spanning_forest",
    "strong_components",
    "triangles",
)
WITHOUT_MESSAGES = (
    "betweenness",
    "closeness",
    "clustering",
    "coloring",
    "core_number",
    "label_propagation",
    "spanning_forest",
    "strong_components",
    "triangles",
)


def run_app(name, *arguments):
    """Exit code of an app that runs in this process."""
    return importlib.import_module(f"gpop.apps.{name}").main([str(argument) for argument in arguments])


def start(*arguments, **options):
    """``python -m`` in a process of its own."""
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)

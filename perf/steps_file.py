"""``python -m perf steps``: logs of steps as small files, from which trees are trained without the store.

    python -m perf steps --store cpu.db --folder perf/results/steps     # all algorithms and platforms there

A file is JSON, compressed by xz: what was measured where, features of every graph, and for every variant the
active vertices and edges of its steps and the seconds of every strategy, to four digits. The other features
of a step follow from those. What was visited is told, since steps are left out where strategies did not do
the same (`perf.steps`). `logs_of` reads a file or a store, whichever it is.
"""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from gpop.learn.steps import Steps
from gpop.model.features import FEATURES, OF_GRAPH, OF_RUN, OF_STEP, STEP_AT, step_feature
from perf.parser import with_store
from perf.provenance import head, perf_command
from perf.steps import Log, Which, all_logs
from perf.store import Store

KIND, SUFFIX = "gpop steps", ".json.xz"
DIGITS = 4
COUNTS = ("frontier abs", "visited abs", "edges abs")
"""Of `FEATURES`: those of a step that the others follow from."""

ABOUT = ("left_out", "version", "platform", "threads", "algorithm", "target")
"""Of `Log`."""


def name_of(algorithm: str, target: str, platform: str, threads: int) -> str:
    """Of the file of a log, without its folder.

    >>> name_of("bfs", "gpu", "NVIDIA H200", 1)
    'bfs-gpu-nvidia-h200-1.json.xz'
    """
    words = f"{algorithm} {target} {platform} {threads}".lower()
    return "-".join(re.findall("[a-z0-9]+", words)) + SUFFIX


def write_log(log: Log, path: Path, of: str) -> None:
    """Write the file, which appears whole or not at all; ``of`` is the head of what wrote it."""
    steps = log.steps
    columns = [FEATURES.index(name) for name in COUNTS]
    of_run = slice(len(OF_GRAPH), STEP_AT)
    seconds = np.column_stack([steps.seconds, *steps.others.values()])
    graphs, variants = {}, []
    for variant in steps.variants.tolist():
        rows = np.flatnonzero(steps.variant == variant)
        first, graph = rows[0], int(steps.graph[rows[0]])
        graphs[graph] = {
            "name": log.graphs[graph],
            "family": str(steps.family[first]),
            "features": steps.features[first, : len(OF_GRAPH)].tolist(),
        }
        variants.append(
            {
                "graph": graph,
                "name": log.variants[variant],
                "of run": steps.features[first, of_run].tolist(),
                "step": steps.step[rows].tolist(),
                "counts": steps.features[np.ix_(rows, columns)].T.astype(int).tolist(),
                "seconds": [[float(f"{s:.{DIGITS}g}") for s in way] for way in seconds[rows].T],
            }
        )
    said = {
        "kind": KIND,
        "head": of.splitlines(),
        **{name: getattr(log, name) for name in ABOUT},
        "features": OF_GRAPH,
        "of run": OF_RUN,
        "strategies": steps.strategies,
        "others": [*steps.others],
        "graphs": graphs,
        "variants": variants,
    }
    text = json.dumps(said, separators=(",", ":"))
    with replacing(path) as temporary:
        temporary.write_bytes(lzma.compress(text.encode(), preset=9))


def read_file(path: Path) -> Log:
    """The log of a file.

    Raises
    ------
    UsageError
        If it cannot be read, is no such file, or is of a gpop with other features.
    """
    try:
        said = json.loads(lzma.decompress(path.read_bytes()))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}: expected a file of python -m perf steps") from None
    except (lzma.LZMAError, ValueError):
        said = None
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise UsageError(f"{path}: is no log of steps, or cut short: expected one of python -m perf steps")
    if (said["features"], said["of run"]) != ([*OF_GRAPH], [*OF_RUN]):
        raise UsageError(f"{path}: has other features than this gpop: expected one of python -m perf steps")
    return _log_of(said)


def _log_of(said: dict[str, Any]) -> Log:
    parts: list[tuple] = []
    for number, variant in enumerate(said["variants"]):
        graph = said["graphs"][str(variant["graph"])]
        features = np.empty((len(variant["step"]), len(FEATURES)))
        features[:, :STEP_AT] = (*graph["features"], *variant["of run"])
        vertices, edges = (max(size, 1.0) for size in graph["features"][:2])
        frontier, visited, active = np.array(variant["counts"], float)
        for which in range(len(OF_STEP)):
            value = step_feature(which, vertices, edges, frontier, active, visited)
            features[:, STEP_AT + which] = value
        ids = ([each] * len(features) for each in (variant["graph"], number, graph["family"]))
        parts.append((features, np.array(variant["seconds"]).T, variant["step"], *ids))
    features, seconds, step, *ids = (np.concatenate(each) for each in zip(*parts, strict=True))
    graph, variant, family = ids
    ways = len(said["strategies"])
    others = dict(zip(said["others"], seconds[:, ways:].T, strict=True))
    strategies, seconds = tuple(said["strategies"]), seconds[:, :ways]
    steps = Steps(strategies, features, seconds, graph, variant, step, family, others)
    graphs = {int(number): each["name"] for number, each in said["graphs"].items()}
    variants = {number: each["name"] for number, each in enumerate(said["variants"])}
    return Log(steps, graphs=graphs, variants=variants, **{name: said[name] for name in ABOUT})


def logs_of(paths: list[Path], which: Which) -> list[Log]:
    """The logs in stores and files that are of what is asked for.

    Raises
    ------
    UsageError
        If there are none.
    """
    logs = []
    for path in paths:
        if path.name.endswith(SUFFIX):
            log = read_file(path)
            logs += [log] if Which(log.algorithm, log.target, log.platform, log.threads).is_in(which) else []
        else:
            with Store(path, create=False) as store:
                logs += all_logs(store, which)
    if not logs:
        named = ", ".join(map(str, paths))
        raise UsageError(f"{named}: no steps of these: expected those of python -m perf run-benchmarks")
    return logs


def _run(argv: list[str]) -> None:
    parser = with_store("steps", __doc__)
    parser.add_argument("--folder", type=Path, default=Path("steps"), help="default: %(default)s")
    given = parser.parse_args(argv)
    logs = logs_of([given.store], Which(None, None))
    given.folder.mkdir(parents=True, exist_ok=True)
    for log in logs:
        path = given.folder / name_of(log.algorithm, log.target, log.platform, log.threads)
        write_log(log, path, head(perf_command("steps", argv)))
        print(f"{path}: {len(log.steps)} steps, {path.stat().st_size} bytes")


def main(argv: list[str]) -> int:
    """Write the files; returns the exit code."""
    return exit_code(lambda: _run(argv))

"""``python -m perf add``: say what is to be measured.

    python -m perf add graphs small data/road.bin rmat:scale=16,degree=16
    python -m perf add run-config small --apps pagerank,bfs --threads 1,2 --repeats 10
    python -m perf add variant bfs "vertex 0" source=0
    python -m perf add implementation pagerank gpop-q4096 partition_size=4096
    python -m perf add strategies bfs
    python -m perf add roots bfs 10
    python -m perf run-benchmarks

``strategies`` adds what the log of single steps needs, every mode and strategy of a target, never
interleaved, and ``roots`` variants from random vertices. A graph is a file or KIND:SIZE=VALUE,... of a
generator (`python -m gpop.generate --help`).
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from typing import Any

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.execution.asked import COMPILED_TARGETS
from gpop.model.asked import ASKED, asked_on, check_asked
from gpop.model.models import MODEL_NAMES
from perf import register
from perf.algorithms import ALGORITHMS
from perf.parser import with_store
from perf.store import Store

OPTIONS = {
    "mode": ASKED, "interleave": (True, False), "partition_size": int, "ratio": float,
    "model": MODEL_NAMES, "target": COMPILED_TARGETS,
}  # fmt: skip


def flag(text: str) -> tuple[str, Any]:
    """``name=value`` with a number, true, false or a text.

    >>> flag("source=5"), flag("source=max-degree")
    (('source', 5), ('source', 'max-degree'))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def counts(text: str) -> list[int]:
    """Whole numbers from 1 on, separated by commas.

    >>> counts("1,2")
    [1, 2]
    """
    if not all(part.isdecimal() and int(part) > 0 for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers from 1 on, separated by commas")
    return [int(part) for part in text.split(",")]


def apps(text: str) -> list[str]:
    """Names of algorithms, separated by commas."""
    names = text.split(",")
    for name in names:
        if name not in ALGORITHMS:
            raise argparse.ArgumentTypeError(f"{name!r}: expected some of {', '.join(ALGORITHMS)}")
    return names


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """Options of `gpop.run` for an implementation."""
    for name, value in options.items():
        expected = OPTIONS.get(name)
        if expected is None:
            raise UsageError(f"option {name}: expected some of {', '.join(OPTIONS)}")
        if name == "mode":
            check_asked("option mode", value, asked_on(options.get("target", "cpu")))
            continue
        right = value in expected if isinstance(expected, tuple) else isinstance(value, (int, expected))
        if not right:
            raise UsageError(f"{name}={value}: expected {getattr(expected, '__name__', expected)}")
    return options


def _add(argv: list[str]) -> None:
    parser = with_store("add", __doc__)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="kind")
    platform = kinds.add_parser("platform", help="this machine, under a name of your own")
    platform.add_argument("name", nargs="?")
    graphs = kinds.add_parser("graphs", aliases=["graph"], help="graphs of a dataset")
    graphs.add_argument("dataset")
    graphs.add_argument("graphs", nargs="+", metavar="graph")
    graphs.add_argument("--origin", help="where the dataset comes from: a DOI, an address")
    implementation = kinds.add_parser("implementation", help="gpop with other options")
    variant = kinds.add_parser("variant", help="another source, another number of iterations")
    for kind in (implementation, variant):
        kind.add_argument("app", choices=ALGORITHMS)
        kind.add_argument("name")
        kind.add_argument("flags", nargs="+", type=flag, metavar="NAME=VALUE")
    strategies = kinds.add_parser("strategies", help="gpop in every mode and strategy, for the log of steps")
    strategies.add_argument("app", choices=ALGORITHMS)
    strategies.add_argument("--target", choices=COMPILED_TARGETS, default="cpu")
    roots = kinds.add_parser("roots", help="variants from random vertices")
    roots.add_argument("app", choices=ALGORITHMS)
    roots.add_argument("roots", type=counts, metavar="N")
    config = kinds.add_parser("run-config", help="measure apps on datasets")
    config.add_argument("datasets", nargs="+", metavar="dataset")
    config.add_argument("--apps", type=apps, default=list(ALGORITHMS), help="default: all")
    config.add_argument("--threads", type=counts, default=[1], help="default: 1")
    config.add_argument("--repeats", type=counts, default=[10], help="default: 10")
    config.add_argument("--platform", help="default: this machine")
    given = parser.parse_args(argv)
    with Store(given.store) as store:
        if given.kind == "platform":
            register.register_platform(store, given.name)
        elif given.kind in ("graphs", "graph"):
            register.register_graphs(store, given.dataset, given.graphs, given.origin)
        elif given.kind == "implementation":
            register.register_implementation(store, given.app, given.name, _checked(dict(given.flags)))
        elif given.kind == "variant":
            register.register_variant(store, given.app, given.name, dict(given.flags))
        elif given.kind == "strategies":
            register.register_strategies(store, given.app, given.target)
        elif given.kind == "roots":
            register.register_roots(store, given.app, given.roots[0])
        else:
            for app, dataset, threads in product(given.apps, given.datasets, given.threads):
                register.register_run_config(store, app, dataset, threads, given.repeats[0], given.platform)
        store.complete_variants()


def main(argv: list[str]) -> int:
    """Register something; returns the exit code."""
    return exit_code(lambda: _add(argv))

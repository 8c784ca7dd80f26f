"""``python -m perf model``: decision trees that predict the fastest strategy of a step, from the store's log.

    python -m perf model train half --app bfs --graph-percent 50 --seed 7
    python -m perf model list
    python -m perf model query half            # where it is from, importances, leaves that predict nothing
    python -m perf model show half             # its decisions
    python -m perf model validate half         # on the steps of its log that it was not trained on
    python -m perf model evaluate half         # on all steps of the log, as it is now
    python -m perf model compare [half all]    # one row for each model
    python -m perf model export half tree.json # for mode="tree:tree.json"

Tables give times over those of the oracle, which takes the fastest strategy in every step; with --relative-to
"best fixed" over those of the best strategy of each variant.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from gpop.learn.evaluate import BEST_FIXED, ORACLE, TREE, evaluate, table
from gpop.learn.split import Split
from gpop.learn.train import LEAVES
from gpop.model.trees import LEAF, NO_STRATEGY, Tree, write_tree
from perf.algorithms import ALGORITHMS
from perf.models import Trained, model_named, train_model, training_set
from perf.parser import with_store
from perf.query import TABLES, show
from perf.steps import Log, Which, described, read_log
from perf.store import Store


def told(log: Log) -> str:
    """What a table is about, in a line."""
    left_out = f"; {log.left_out} steps that are not comparable left out" if log.left_out else ""
    return f"{described(log.steps)}, {log.threads} threads, {log.platform}, gpop {log.version}{left_out}"


def sentence(log: Log, tree: Tree) -> str:
    """How the tree does beside the oracle and the best fixed strategy, in words."""
    totals = {line.name: line.total for line in evaluate(log.steps, {TREE: tree})}
    best = min((name for name in log.steps.strategies), key=totals.__getitem__)
    beside = f", auto {totals['auto']:.2f}" if "auto" in totals else ""
    return (
        f"The tree takes {totals[TREE]:.2f} times the oracle's time{beside}; {best}, the best strategy over "
        f"all, {totals[best]:.2f}, the best of each variant {totals[BEST_FIXED]:.2f}."
    )


def decisions(tree: Tree, node: int = 0, depth: int = 0) -> list[str]:
    """The tree as lines, a level deeper with every decision.

    Examples
    --------
    >>> from gpop.model.trees import stump
    >>> print(*decisions(stump("edges rel", 0.1, "sc", "pull")), sep="\\n")
    edges rel <= 0.1
      sc
    else
      pull
    """
    indent = "  " * depth
    if tree.left[node] == LEAF:
        strategy = int(tree.right[node])
        if strategy <= NO_STRATEGY:
            among = " or ".join(tree.strategies[i] for i in tree.sets[-1 - strategy][0])
            return [f"{indent}as before ({among})"]
        return [f"{indent}{tree.strategies[strategy]}"]
    name = tree.features[tree.feature[node]]
    return [
        f"{indent}{name} <= {tree.threshold[node]:.6g}",
        *decisions(tree, int(tree.left[node]), depth + 1),
        f"{indent}else",
        *decisions(tree, int(tree.right[node]), depth + 1),
    ]


def query(model: Trained) -> list[dict[str, object]]:
    """Where a model is from, importances in descending order, and sets of leaves that predict nothing."""
    row, tree = model.row, model.tree
    names = ("name", "algorithm", "platform", "target", "threads", "algorithmVersion", "timestamp")
    found = [{"name": name, "value": row[name]} for name in names]
    found += [{"name": f"trained on, {n}", "value": value} for n, value in model.split._asdict().items()]
    found += [{"name": "steps", "value": json.loads(row["provenance"])["steps"]}]
    found += [{"name": "nodes", "value": len(tree.left)}]
    weights = sorted(zip(tree.importances, tree.features, strict=True), reverse=True)
    found += [{"name": f"importance of {feature}", "value": weight} for weight, feature in weights]
    found += [{"name": "steps in leaves that predict nothing", "value": row["totalUnknownCount"]}]
    for among, samples in tree.sets:
        found.append({"name": " or ".join(tree.strategies[i] for i in among), "value": samples})
    return found


def _percent(text: str) -> float:
    try:
        share = float(text) / 100
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0, at most 100")
    return share


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = with_store("model", __doc__)
    kinds = parser.add_subparsers(dest="do", required=True, metavar="what")
    training = kinds.add_parser("train", help="train a tree on a part of the log, and store it")
    training.add_argument("name")
    training.add_argument("--app", choices=ALGORITHMS, default="bfs")
    training.add_argument("--target", default="cpu")
    training.add_argument("--platform", help="default: the only one there is")
    training.add_argument("--threads", type=int, help="default: the only number there is")
    training.add_argument("--datasets", default="", metavar="NAME,...", help="default: all")
    for share, default in zip(("graph", "variant", "step"), Split(), strict=False):
        training.add_argument(
            f"--{share}-percent", type=_percent, default=default, metavar="P",
            help=f"{share}s to train on (default {100 * default:.0f})",
        )  # fmt: skip
    training.add_argument("--seed", type=int, default=Split().seed, help="default: %(default)s")
    training.add_argument("--leaves", type=int, default=LEAVES, help="at most so many (default %(default)s)")
    training.add_argument(
        "--unweighted", action="store_true", help="all steps weigh the same, whatever a wrong choice costs"
    )
    training.add_argument("--description")
    listing = kinds.add_parser("list", help="the models of the store")
    listing.add_argument("--json", action="store_true", help="print JSON")
    for name, about in {
        "query": "where it is from, importances, leaves that predict nothing",
        "show": "its decisions",
        "validate": "on the steps that it was not trained on",
        "evaluate": "on all steps of the log, as it is now",
        "export": "write the file that mode=tree:FILE takes",
    }.items():
        kinds.add_parser(name, help=about).add_argument("name")
    kinds.choices["export"].add_argument("file", type=Path)
    comparing = kinds.add_parser("compare", help="models side by side, on all steps of the log")
    comparing.add_argument("names", nargs="*", metavar="name", help="default: all")
    for name in ("validate", "evaluate", "compare"):
        kinds.choices[name].add_argument(
            "--relative-to", choices=(ORACLE, BEST_FIXED), default=ORACLE,
            help="what times are divided by (default: %(default)s)",
        )  # fmt: skip
    return parser.parse_args(argv)


def _train(store: Store, given: argparse.Namespace) -> None:
    if given.leaves < 2:
        raise UsageError(f"--leaves {given.leaves}: expected 2 or more")
    datasets = tuple(name for name in given.datasets.split(",") if name)
    for name in datasets:
        store.require("Dataset", "dataset", name)
    which = Which(given.app, given.target, given.platform, given.threads, datasets)
    split = Split(given.graph_percent, given.variant_percent, given.step_percent, given.seed)
    tree = train_model(store, given.name, which, split, given.leaves, not given.unweighted, given.description)
    print(f"{given.name}: {len(tree.left)} nodes, trained on {tree.about['steps']} steps")


def _tables(store: Store, given: argparse.Namespace) -> None:
    if given.do == "compare":
        names = given.names or [row["name"] for row in store.rows("SELECT name FROM PredictionModel")]
        models = {name: model_named(store, name) for name in names}
        if not models:
            raise UsageError(
                f"{store.path}: there are no models: expected some of python -m perf model train"
            )
        log = read_log(store, next(iter(models.values())).which._replace(datasets=(), until=None))
        trees = {name: each.tree for name, each in models.items()}
        lines = evaluate(log.steps, trees, relative_to=given.relative_to)
        print(told(log), table(lines), sep="\n\n")
        return
    model = model_named(store, given.name)
    if given.do == "validate":
        _, log = training_set(store, model)
        if not len(log.steps):
            raise UsageError(
                f"model {given.name!r}: was trained on all steps: expected some to validate with"
            )
    else:
        log = read_log(store, model.which._replace(datasets=(), until=None))
    lines = evaluate(log.steps, {TREE: model.tree}, relative_to=given.relative_to)
    print(told(log), table(lines), sentence(log, model.tree), sep="\n\n")


def _run(argv: list[str]) -> None:
    given = _parse(argv)
    with Store(given.store, create=False) as store:
        if given.do == "train":
            _train(store, given)
        elif given.do == "list":
            show([dict(row) for row in store.rows(TABLES["model"])], given.json)
        elif given.do == "query":
            show(query(model_named(store, given.name)), as_json=False)
        elif given.do == "show":
            print(*decisions(model_named(store, given.name).tree), sep="\n")
        elif given.do == "export":
            write_tree(model_named(store, given.name).tree, given.file)
        else:
            _tables(store, given)


def main(argv: list[str]) -> int:
    """``model`` and its arguments; returns the exit code."""
    return exit_code(lambda: _run(argv))

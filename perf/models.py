"""Trained models in the store: the tree as its file, with how its training set was drawn (T-48 to T-53).

The training set of a model is the log as it was when the model was trained: what was measured later is left
out when it is made again. Importances and sets of unknown leaves are rows, so that they can be asked for.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from gpop.common.errors import UsageError
from gpop.learn.split import Split
from gpop.learn.train import train
from gpop.model.trees import Tree, text_of, tree_of
from perf.provenance import commit
from perf.steps import Log, Which, read_log
from perf.store import Row, Store, now


class Trained(NamedTuple):
    """A model of the store: its row, its tree, and which part of the log it was trained on."""

    row: Row
    tree: Tree
    which: Which
    split: Split


def train_model(
    store: Store, name: str, which: Which, split: Split, leaves: int | None, weighted: bool,
    description: str | None = None,
) -> Tree:  # fmt: skip
    """Train a tree on a part of the log, and store it.

    Raises
    ------
    UsageError
        If there is a model of that name, or nothing to train on.
    """
    if store.find("PredictionModel", name=name):
        raise UsageError(f"{store.path}: a model {name!r} exists already: expected another name")
    moment = now()
    log = read_log(store, which)
    chosen = log.steps.where(split.of(log.steps))
    about = {
        "algorithm": which.algorithm, "target": which.target, "platform": log.platform,
        "threads": log.threads, "gpop": log.version, "split": split._asdict(), "steps": len(chosen),
        "datasets": sorted({*log.steps.family.tolist()}), "leaves": leaves, "weighted": weighted,
        "timestamp": moment,
    }  # fmt: skip
    tree = train(chosen, leaves=leaves, weighted=weighted, seed=split.seed, about=about)
    with store.transaction():
        algorithm = store.require("Algorithm", "algorithm", which.algorithm)
        model = store.insert(
            "PredictionModel", name=name, platformId=store.require("Platform", "platform", log.platform),
            algorithmId=algorithm, algorithmVersion=log.version, description=description,
            model=text_of(tree), target=which.target, threads=log.threads, skipIncomplete=1,
            trainGraphs=split.graphs, trainVariants=split.variants, trainSteps=split.steps,
            trainSeed=split.seed, totalUnknownCount=sum(samples for _, samples in tree.sets),
            provenance=json.dumps({"commit": commit(), **about}), timestamp=moment,
        )  # fmt: skip
        for dataset in about["datasets"]:
            row = (model, store.require("Dataset", "dataset", dataset))
            store.execute("INSERT INTO ModelTrainDataset VALUES(?, ?)", row)
        for place, (feature, importance) in enumerate(zip(tree.features, tree.importances, strict=True)):
            prop = store.name_id("PropertyName", property=feature)  # the log has it
            store.execute("INSERT INTO ModelProperty VALUES(?, ?, ?, ?)", (model, prop, place, importance))
        for number, (among, samples) in enumerate(tree.sets):
            unknown = store.insert(
                "UnknownPrediction", modelId=model, algorithmId=algorithm, unknownSetId=number, count=samples
            )
            for strategy in among:
                found = store.rows(
                    "SELECT DISTINCT implId FROM StepLog WHERE algorithm = ? AND strategy = ? AND target = ? "
                    "AND type = 'Core'",
                    (which.algorithm, tree.strategies[strategy], which.target),
                )
                row = (unknown, found[0]["implId"], algorithm)
                store.execute("INSERT INTO UnknownPredictionSet VALUES(?, ?, ?)", row)
    return tree


def model_named(store: Store, name: str) -> Trained:
    """The model, or a `UsageError` that lists those there are."""
    store.require("PredictionModel", "model", name)
    row = store.rows(
        "SELECT m.*, a.name AS algorithm, p.name AS platform FROM PredictionModel m "
        "JOIN Algorithm a ON a.id = m.algorithmId JOIN Platform p ON p.id = m.platformId WHERE m.name = ?",
        (name,),
    )[0]
    datasets = store.rows(
        "SELECT d.name FROM ModelTrainDataset t JOIN Dataset d ON d.id = t.datasetId WHERE t.modelId = ?",
        (row["id"],),
    )
    split = Split(row["trainGraphs"], row["trainVariants"], row["trainSteps"], row["trainSeed"])
    names = tuple(found["name"] for found in datasets)
    which = Which(row["algorithm"], row["target"], row["platform"], row["threads"], names, row["timestamp"])
    return Trained(row, tree_of(json.loads(row["model"]), f"{store.path}: model {name!r}"), which, split)


def training_set(store: Store, model: Trained) -> tuple[Log, Log]:
    """The log that a model was trained on, divided: the steps it saw, and those it did not."""
    log = read_log(store, model.which)
    seen = model.split.of(log.steps)
    return log._replace(steps=log.steps.where(seen)), log._replace(steps=log.steps.where(~seen))

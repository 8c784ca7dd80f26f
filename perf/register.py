"""Registering what is to be measured: the functions behind ``python -m perf add``, for scripts as well.

Registering twice changes nothing. A run configuration brings its algorithm, with the variants and
implementations that the code knows, and is for this version of gpop: results of other code never mix.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gpop.common.errors import UsageError
from gpop.model.asked import asked_on, split
from gpop.model.strategies import MODES, TREE
from perf.algorithms import ALGORITHMS, algorithm_named
from perf.graphs import name_of, normal
from perf.hardware import facts, platform_name
from perf.implementations import family_module, gpop_version, registered
from perf.own import ALWAYS
from perf.store import Store, flags_text, now

MODE_NAMES = tuple(mode.name for mode in MODES)


def register_platform(store: Store, name: str | None = None, pretty: str | None = None) -> int:
    """This machine, under its own or another name; the id."""
    also = {"prettyName": pretty, "facts": json.dumps(facts())}
    return store.name_id("Platform", name=name or platform_name(), also=also)


def register_graphs(
    store: Store, dataset: str, specs: Iterable[str], origin: str | None = None
) -> dict[str, int]:
    """Graphs (files or generators' specs, see `perf.graphs`) of a dataset; ids by name."""
    paths = [(name_of(spec), normal(spec)) for spec in specs]
    with store.transaction():
        dataset_id = store.name_id("Dataset", name=dataset, also={"origin": origin})
        found = {}
        for name, path in paths:
            known = store.rows("SELECT id, name, datasetId FROM Graph WHERE path = ?", (path,))
            if known and known[0]["datasetId"] != dataset_id:
                raise UsageError(f"graph {path}: is in another dataset already")
            if not known and store.find("Graph", name=name, datasetId=dataset_id):
                raise UsageError(f"graph {path}: dataset {dataset!r} has another graph named {name}")
            also = {"name": name, "timestamp": now()}
            found[name] = store.name_id("Graph", path=path, datasetId=dataset_id, also=also)
    return found


def register_algorithm(store: Store, name: str) -> int:
    """An algorithm with the variants and implementations that the code knows; the id."""
    known = algorithm_named(name)
    with store.transaction():
        algorithm = store.name_id("Algorithm", name=name, also={"prettyName": known.title})
        for place, (variant, flags) in enumerate(known.variants.items()):
            also = {"flags": flags_text(flags), "isDefault": place == 0, "timestamp": now()}
            store.name_id("VariantConfig", algorithmId=algorithm, name=variant, also=also)
        for implementation, flags in registered(name).items():
            _implementation(store, algorithm, implementation, flags)
    return algorithm


def _implementation(store: Store, algorithm: int, name: str, flags: dict[str, Any]) -> int:
    kind = "Builtin"
    if family_module(flags["family"]).LIBRARY == "gpop":
        # The thesis: what switches is derived from what does not.
        kind = "Derived" if split(flags.get("mode", "auto"))[0] in ("auto", TREE) else "Core"
    also = {"flags": flags_text(flags), "type": kind, "timestamp": now()}
    return store.name_id("Implementation", algorithmId=algorithm, name=name, also=also)


def register_family(store: Store, algorithm: str, implementations: dict[str, dict[str, Any]]) -> None:
    """Implementations of an algorithm that are not registered with it: name -> flags, with the family."""
    algorithm_id = register_algorithm(store, algorithm)
    with store.transaction():
        for name, flags in implementations.items():
            _implementation(store, algorithm_id, name, flags)


def register_implementation(store: Store, algorithm: str, name: str, options: dict[str, Any]) -> int:
    """gpop with other options of `gpop.run` (mode, model, interleave, partition_size, ratio); the id."""
    algorithm_id = register_algorithm(store, algorithm)
    if store.find("Implementation", algorithmId=algorithm_id, name=name):
        raise UsageError(f"implementation {name!r} of {algorithm} exists already")
    if "interleave" in options and not ALGORITHMS[algorithm].interleaved:
        raise UsageError(f"{algorithm} cannot be interleaved")
    return _implementation(store, algorithm_id, name, {"family": "gpop", **options})


def register_strategies(store: Store, algorithm: str, target: str = "cpu") -> list[int]:
    """gpop in every mode and strategy of a target, never interleaved, and by eq. (1) alone; ids.

    Where iterations may differ the modes are those that a run may change between; on a GPU each as the engine
    has it that changes: there pull is what auto takes, not one owner per vertex.
    """
    algorithm_id = register_algorithm(store, algorithm)
    switches = ALGORITHMS[algorithm].switches
    plain = {"family": "gpop"} | ({"interleave": False} if ALGORITHMS[algorithm].interleaved else {})
    other = {} if target == "cpu" else {"target": target}
    found = []
    for mode in asked_on(target):
        if mode == TREE or (switches and mode in MODE_NAMES and mode not in switches):
            continue
        name = f"gpop-{mode}" if target == "cpu" else f"gpop-{target}-{mode}"
        always = {ALWAYS: True} if mode in switches and target != "cpu" else {}
        found.append(_implementation(store, algorithm_id, name, plain | other | {"mode": mode} | always))
    name = "gpop-paper" if target == "cpu" else f"gpop-{target}-paper"
    flags = plain | other | {"mode": "auto", "model": "paper"}
    return [*found, _implementation(store, algorithm_id, name, flags)]


def register_roots(store: Store, algorithm: str, roots: int) -> None:
    """Variants from so many random vertices that have out-edges, the same in every call."""
    default = next(iter(algorithm_named(algorithm).variants.values()))
    if "source" not in default:
        raise UsageError(f"{algorithm} has no source: expected an app that begins at a vertex")
    algorithm_id = register_algorithm(store, algorithm)
    for root in range(1, roots + 1):
        if not store.find("VariantConfig", algorithmId=algorithm_id, name=f"root {root}"):
            flags = {"source": f"random-{root}", **algorithm_named(algorithm).bulk}
            register_variant(store, algorithm, f"root {root}", flags)


def register_variant(store: Store, algorithm: str, name: str, flags: dict[str, Any]) -> int:
    """A configuration of an algorithm, on every graph it runs on; flags not given are the default's."""
    default = next(iter(algorithm_named(algorithm).variants.values()))
    unknown = flags.keys() - default.keys() - algorithm_named(algorithm).bulk.keys()
    if unknown:
        expected = ", ".join(default) or "none"
        raise UsageError(f"variant of {algorithm}: {min(unknown)} is unknown, expected {expected}")
    algorithm_id = register_algorithm(store, algorithm)
    text = flags_text({**default, **flags})
    known = store.rows(
        "SELECT id, name FROM VariantConfig WHERE algorithmId = ? AND (name = ? OR flags = ?)",
        (algorithm_id, name, text),
    )
    if known:
        raise UsageError(f"variant {known[0]['name']!r} of {algorithm} exists already")
    return store.insert("VariantConfig", algorithmId=algorithm_id, name=name, flags=text, timestamp=now())


def register_run_config(
    store: Store,
    algorithm: str,
    dataset: str,
    threads: int = 1,
    repeats: int = 10,
    platform: str | None = None,
) -> int:
    """Measure an algorithm on a dataset with so many threads; the id."""
    algorithm_id = register_algorithm(store, algorithm)
    dataset_id = store.require("Dataset", "dataset", dataset)
    platform_id = register_platform(store, platform)
    key = {
        "algorithmId": algorithm_id,
        "platformId": platform_id,
        "datasetId": dataset_id,
        "algorithmVersion": gpop_version(),
        "threads": threads,
    }
    found = store.name_id("RunConfig", **key, also={"repeats": repeats})
    store.complete_variants()
    return found

"""``python -m gpop.convert in out``: another format, another graph, or both.

Suffixes name the formats. What is asked for is done in this order, whatever the order of the options:

1. ``--weights none``         weights are not read
2. ``--reverse``              every edge turned round
3. ``--remove-self-loops``
4. ``--remove-duplicates P``  one edge of several, with the weight that policy P says
5. ``--symmetrize``           the opposite of every edge; where both are there, the lesser weight
6. ``--largest-component``    weakly connected
7. ``--weights random:LOW:HIGH[:SEED]`` or ``--weights NUMBER``   new weights; opposite edges get equal ones
8. ``--relabel ORDER``        vertices in another order (degree, random, bfs or rcm)

Weights come before the new order, so that the same seed gives the same weighted graph in any order.
``--layout`` writes the graph with its layouts to a folder, NAME.mapped, from which it is run without being
read first: in passes, with no more than ``--memory`` beside the program itself, so that graph and layout may
be larger than memory. Any format is read, also a generator's KIND:SIZE=VALUE,... (rmat:scale=24); of the
steps above, weights can be left out and opposite edges added.

Memory for the costliest step is predicted, told and asked for before the first; the output appears whole
or not at all.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.common.command import (
    Parser,
    add_json_option,
    add_reading_options,
    exit_code,
    file_to_write,
    print_json,
    prog,
    reading_options,
)
from gpop.common.errors import UsageError
from gpop.common.launched import launched_rank
from gpop.common.memory import available_bytes, bytes_of, readable, require_memory
from gpop.common.progress import by_default, progress_bar
from gpop.common.replacing import replacing
from gpop.common.write_arrays import save_array
from gpop.convert_steps import POLICIES, Weights, predicted_bytes, steps
from gpop.generate.spec import generated, is_spec
from gpop.graph import transform
from gpop.graph.graph import Graph
from gpop.io import module_to_write
from gpop.io.mapped import layout_folder
from gpop.ranks.parts_file import SUFFIX, write_parts


def _weights(text: str) -> Weights:
    words = text.split(":")
    try:
        if text == "none":
            return Weights("none")
        if words[0] == "random" and len(words) in (3, 4):
            return Weights("random", *map(int, words[1:]))
        if len(words) == 1 and 0 <= int(text) < 2**32:
            return Weights("constant", int(text))
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"{text!r}: expected none, random:LOW:HIGH[:SEED] or a number from 0 to 2^32-1"
    )


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 0 to 2^64-1")
    return int(text)


def _parser() -> Parser:
    parser = Parser(prog=prog("gpop.convert"), description=__doc__)
    parser.add_argument("input", type=Path, help="graph file to read")
    parser.add_argument("output", type=Path, help="graph file to write")
    add_reading_options(parser)
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--remove-self-loops", action="store_true")
    parser.add_argument("--remove-duplicates", choices=POLICIES, metavar="POLICY", help=", ".join(POLICIES))
    parser.add_argument("--symmetrize", action="store_true")
    parser.add_argument("--largest-component", action="store_true")
    parser.add_argument("--weights", type=_weights, help="none, random:LOW:HIGH[:SEED] or a number")
    parser.add_argument(
        "--relabel", choices=transform.ORDERS, metavar="ORDER", help=", ".join(transform.ORDERS)
    )
    parser.add_argument("--seed", type=_seed, default=1, help="of random weights and orders (default: 1)")
    parser.add_argument(
        "--ids",
        type=file_to_write((".npy",)),
        metavar="FILE",
        help="write the original id of every vertex (.npy)",
    )
    parser.add_argument(
        "--parts",
        type=_parts,
        metavar="N",
        help="write a folder, NAME.parts, for up to N ranks",
    )
    parser.add_argument(
        "--layout",
        action="store_true",
        help="write a folder, NAME.mapped, to run from without reading it first",
    )
    parser.add_argument(
        "--memory",
        type=_size,
        metavar="SIZE",
        help="for --layout, such as 2GB: most bytes in memory (default: half of what is available)",
    )
    add_json_option(parser)
    return parser


def _size(text: str) -> int:
    size = bytes_of(text)
    if not size:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a size such as 500MB or 2GB")
    return size


def _parts(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 on")
    return int(text)


def _describe(graph: Graph) -> str:
    weights = "" if graph.weights is None else f", {graph.weights.dtype} weights"
    return f"{graph.n:,} vertices, {graph.m:,} edges{weights}"


def _sizes(graph: Graph) -> dict[str, Any]:
    weights = None if graph.weights is None else str(graph.weights.dtype)
    return {"vertices": graph.n, "edges": graph.m, "weights": weights}


def _convert(given: argparse.Namespace) -> None:
    start = time.perf_counter()
    if given.layout:
        _lay_out(given)
        return
    if given.memory is not None:
        raise UsageError("--memory is for --layout")
    if given.parts is None:
        module_to_write(given.output)
    elif given.output.suffix != SUFFIX:
        raise UsageError(f"{given.output}: expected a name ending in {SUFFIX}, for --parts")
    chosen = steps(given)
    unweighted = given.weights is not None
    graph = gpop.load(
        given.input, weighted=False if unweighted else None, progress=by_default(), **reading_options(given)
    )
    names = [str(given.input), str(given.output), str(given.ids or ""), *(step.name for step in chosen)]
    width = max(map(len, names))

    def say(name: str, text: str) -> None:
        if not given.json:
            print(f"{name:{width}}  {text}", flush=True)

    say(str(given.input), _describe(graph))
    told: dict[str, Any] = {"input": {"file": str(given.input), **_sizes(graph)}, "steps": []}
    weight = 0 if graph.weights is None else graph.weights.itemsize
    predicted = predicted_bytes(graph.n, graph.m, weight, chosen)
    require_memory(predicted, f"converting {given.input}")
    if chosen:
        say("memory", f"up to {readable(predicted)} more, {readable(available_bytes())} available")
    with progress_bar(len(chosen) + 1, "converting", "step", by_default()) as bar:
        for step in chosen:
            begin = time.perf_counter()
            graph = step.change(graph)
            say(step.name, _describe(graph))
            seconds = time.perf_counter() - begin
            told["steps"].append({"name": step.name, **_sizes(graph), "seconds": seconds})
            bar.update()
        if given.parts is None:
            graph.save(given.output)
        else:
            write_parts(graph, given.output, given.parts)
        if given.ids:
            _save_ids(graph, given.ids)
        bar.update()
    seconds = time.perf_counter() - start
    say(str(given.output), f"written, {seconds:.1f} s in all")
    if given.json:
        told["output"] = {"file": str(given.output), **_sizes(graph)}
        told |= {"ids": given.ids and str(given.ids), "original_ids": graph.original_ids is not None}
        print_json("convert", told | {"predicted_bytes": predicted, "seconds": seconds})
    if given.ids:
        say(str(given.ids), "original ids of the vertices")
    elif graph.original_ids is not None:
        say("note", "vertices were renumbered; --ids FILE.npy writes their original ids")


def _lay_out(given: argparse.Namespace) -> None:
    """``--layout``: a graph on disk, written with bounded memory."""
    start = time.perf_counter()
    asked = {
        "--parts": given.parts,
        "--ids": given.ids,
        "--weights": given.weights and given.weights.kind != "none",
    }
    left = [step.name for step in steps(given) if step.name != "symmetrize"]
    left += [name for name, value in asked.items() if value]
    if left:
        raise UsageError(
            f"--layout takes the graph as it is, without {left[0]}: expected a convert before it"
        )
    spec, options = str(given.input), reading_options(given)
    with layout_folder(given.output, given.memory) as write:
        with write.reading():
            if is_spec(spec):
                graph = generated(spec, by_default())
                graph = graph.symmetrize() if given.symmetrize else graph
            else:
                weighted = False if given.weights else None
                graph = gpop.load(
                    given.input,
                    weighted=weighted,
                    symmetrize=given.symmetrize,
                    progress=by_default(),
                    **options,
                )
        if not given.json:
            print(f"{spec}  {_describe(graph)}", flush=True)
        write(graph, by_default())
    seconds = time.perf_counter() - start
    if given.json:
        output = {"file": str(given.output), **_sizes(graph)}
        told = {"input": {"file": spec, **_sizes(graph)}, "steps": [], "output": output, "ids": None}
        told |= {"original_ids": graph.original_ids is not None, "predicted_bytes": write.memory}
        print_json("convert", told | {"seconds": seconds})
    else:
        print(f"{given.output}  written, {readable(write.bytes)}, {seconds:.1f} s in all")


def _save_ids(graph: Graph, path: Path) -> None:
    ids = np.arange(graph.n) if graph.original_ids is None else graph.original_ids
    with replacing(path) as temporary, open(temporary, "wb") as file:
        save_array(ids.astype(str) if ids.dtype == object else ids, file)


def main(argv: list[str] | None = None) -> int:
    """Convert, save, and print what was done; returns the exit code. Of several ranks the first does it."""
    if launched_rank():
        return 0
    return exit_code(lambda: _convert(_parser().parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())

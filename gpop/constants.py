"""``python -m gpop.constants``: what ``--mode auto`` chooses by on this machine, and whether it was measured.

``--measure`` measures again and keeps what it finds for later processes (some seconds, on a machine that does
nothing else). See `gpop.cpu.constants` for what is measured, when, and where it is kept.
"""

from __future__ import annotations

from typing import Any

from gpop.common.alike import SETTING, is_shipped
from gpop.common.command import Parser, add_json_option, exit_code, print_json, prog
from gpop.cpu.constants import constants, kept, machine, measured
from gpop.cpu.engine import CpuEngine

ABOUT = {
    "ratio": "bandwidth of pc over that of sc, of equation (1)",
    "probe": "bytes that a vertex behind an id counts for",
    "cursor": "bytes that the insertion points of a message of sc count for",
    "pull_edge": "ns per edge and core of pull through blocks",
    "pull_value": "ns more per value read",
    "pull_sparse": "ns more per edge of a sparse block",
    "pc_edge": "ns per edge and core of pc",
    "pc_message": "ns more per message",
}


def describe() -> dict[str, Any]:
    """The constants of this process, and where they are from.

    Examples
    --------
    >>> sorted(describe())
    ['constants', 'machine', 'origin']
    """
    origin = "measured" if kept() else "shipped with gpop, not measured here"
    if is_shipped():
        origin = f"shipped with gpop, as {SETTING} says"
    return {"machine": machine(), "origin": origin, "constants": constants().told()}


def text(told: dict[str, Any]) -> str:
    """The same for people."""
    lines = [f"machine     {told['machine']}", f"constants   {told['origin']}"]
    lines += [f"{name:12}{value:<9.4g}{ABOUT[name]}" for name, value in told["constants"].items()]
    return "\n".join(lines)


def _run(argv: list[str] | None) -> None:
    parser = Parser(prog=prog("gpop.constants"), description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure, and keep it for later processes")
    add_json_option(parser)
    given = parser.parse_args(argv)
    if given.measure:
        found, fault = measured(CpuEngine)
        origin = "measured now" if fault is None else f"measured now, not kept: {fault}"
        told = {"machine": machine(), "origin": origin, "constants": found.told()}
    else:
        told = describe()
    if given.json:
        print_json("constants", told)
    else:
        print(text(told))


def main(argv: list[str] | None = None) -> int:
    """Print or measure the constants; returns the exit code."""
    return exit_code(lambda: _run(argv))


if __name__ == "__main__":
    raise SystemExit(main())

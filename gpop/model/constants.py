"""What the model multiplies bytes and accesses with, by machine (see `gpop.cpu.constants`)."""

from __future__ import annotations

from typing import NamedTuple

from gpop.layout.edge_block_plan import COSTS, Costs
from gpop.model.bytes import CURSOR_BYTES, PROBE_BYTES
from gpop.model.choosers import DEFAULT_RATIO


class Constants(NamedTuple):
    """``ratio`` is BW_PC / BW_SC, ``probe`` and ``cursor`` are bytes (see `gpop.model.bytes`)."""

    ratio: float
    probe: int
    cursor: int
    costs: Costs

    def told(self) -> dict[str, float]:
        """By name, as plain numbers.

        Examples
        --------
        >>> list(SHIPPED.told())[:4], Constants.of(SHIPPED.told()) == SHIPPED
        (['ratio', 'probe', 'cursor', 'pull_edge'], True)
        """
        return {"ratio": self.ratio, "probe": self.probe, "cursor": self.cursor} | self.costs._asdict()

    @classmethod
    def of(cls, told: dict[str, float]) -> Constants:
        """What `told` has told."""
        costs = Costs(*(float(told[name]) for name in Costs._fields))
        return cls(float(told["ratio"]), int(told["probe"]), int(told["cursor"]), costs)


SHIPPED = Constants(DEFAULT_RATIO, PROBE_BYTES, CURSOR_BYTES, COSTS)
"""Those that gpop comes with, from machines that it was developed on."""

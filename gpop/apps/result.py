"""What every one-call function returns besides its own arrays: the run and its trace."""

from __future__ import annotations

from dataclasses import dataclass, field

import gpop


@dataclass(frozen=True, kw_only=True)
class AppResult:
    """Base of the results: ``run`` (`gpop.Run`) and ``trace`` (`gpop.Trace`)."""

    run: gpop.Run = field(repr=False)

    @property
    def trace(self) -> gpop.Trace:
        """One record per iteration."""
        return self.run.trace

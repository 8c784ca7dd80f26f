"""What a choice of modes goes by: values of ``model=`` and ``--model``, one record each.

A model is no other code, but other sizes (`gpop.model.bytes.Sizes`): the engine compiles one kernel for all
of them, and its choosers (choosers.py) count what the sizes say. ``paper`` is eq. (1) of GPOP alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpop.model.bytes import Sizes


@dataclass(frozen=True)
class Model:
    """What the choice goes by: its name, what that is in one line, and what it counts beyond eq. (1).

    Attributes
    ----------
    name : str
        Value of ``--model``.
    about : str
    cache : bool
        Whether the engine's accesses to its cache count, ``Sizes.probe`` and ``Sizes.cursor``.
    direct : bool
        Whether it knows that SC needs no bins for edges inside a local partition.
    pulls : bool
        Whether pull is considered.
    """

    name: str
    about: str
    cache: bool
    direct: bool
    pulls: bool

    def sizes(self, sizes: Sizes) -> Sizes:
        """Those of the engine's sizes that the model counts.

        Examples
        --------
        >>> [model.sizes(Sizes(8, 4, 2, 2, 4, 0, 0, 8, 40))[-3:] for model in MODELS]
        [(8, 40, 1), (0, 0, 0)]
        """
        if not self.cache:
            sizes = sizes._replace(probe=0, cursor=0)
        return sizes if self.direct else sizes._replace(direct=0)


MODELS = (
    Model(
        "engine", "eq. (1), what the engine touches in the cache, edges that need no bin, and pull",
        cache=True, direct=True, pulls=True,
    ),
    Model(
        "paper", "eq. (1) of the paper alone: sc or pc for each partition, never pull",
        cache=False, direct=False, pulls=False,
    ),
)  # fmt: skip
"""The first is the default."""

MODEL_NAMES = tuple(model.name for model in MODELS)
"""Values of ``model=`` and ``--model``."""


def model_of(name: str) -> Model:
    """The model of that name.

    Examples
    --------
    >>> [model_of(name).name for name in MODEL_NAMES]
    ['engine', 'paper']
    """
    return MODELS[MODEL_NAMES.index(name)]

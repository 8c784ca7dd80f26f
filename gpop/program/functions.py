"""The functions about one vertex that a program may define: their arguments, their meaning, their defaults.

The names ``scatterFunc``, ``initFunc``, ``gatherFunc``, ``filterFunc`` and ``applyWeight`` and their
meaning are those of GPOP. One iteration:

1. scatter: ``scatterFunc(node)`` gives the value sent along the out-edges of every active vertex;
   then ``initFunc(node)`` is called for it, and True keeps it active for the next iteration;
2. gather: ``gatherFunc(value, node)`` folds each message into its destination (weighted graphs:
   ``gatherFunc(applyWeight(value, weight), node)``), and True activates it; then
   ``filterFunc(node)`` is called once for every active vertex, and False drops it.

Beyond the paper, ``needsFunc(node)`` says whether a vertex has any use for more messages. Where it says
no, ``gatherFunc`` must change nothing and return False, whatever the message: then the engine may *pull*,
that is, let vertices ask along their in-edges and stop early, and the results stay the same.

``priorityFunc(node)`` gives the bucket of an active vertex, a whole number. The vertices of the lowest bucket
go on until it is empty; the others wait. For programs whose result is a fixpoint whatever the order of
updates (distances, widths): a good order saves updates, and the result stays the same.

Ownership: a function reads and writes fields at ``node`` only; ``scatterFunc``, ``applyWeight``,
``needsFunc`` and ``priorityFunc`` write nothing. That is what makes the engine correct without locks, and
it is checked. Nor may a function print, raise, draw random numbers or look at a clock; to look inside, run
with ``target="python"`` (`gpop.reference`), which allows all of that.

They are compiled, not called. Of a default no engine has a trace: what a program does not define is left out.
"""

from __future__ import annotations

from typing import Any

from gpop.common.errors import ProgramError

ARGUMENTS = {
    "scatterFunc": ("self", "node"),
    "initFunc": ("self", "node"),
    "gatherFunc": ("self", "value", "node"),
    "filterFunc": ("self", "node"),
    "applyWeight": ("self", "value", "weight"),
    "needsFunc": ("self", "node"),
    "priorityFunc": ("self", "node"),
}
FUNCTIONS = tuple(ARGUMENTS)


class Functions:
    """What `gpop.program.program.Program` inherits, and who writes a program overrides."""

    def scatterFunc(self, node: int) -> Any:  # noqa: N802 - the interface keeps the original's names
        """Value that ``node`` sends along its out-edges. Pure: it may be called more than once.

        Parameters
        ----------
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        scalar
            A number of one type; the type of the messages.
        """
        raise ProgramError(f"{type(self).__name__} has no scatterFunc")

    def initFunc(self, node: int) -> bool:  # noqa: N802
        """Called for an active vertex after it was scattered; True keeps it active.

        Parameters
        ----------
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        bool
            Whether it stays active.
        """
        return False

    def gatherFunc(self, value: Any, node: int) -> bool:  # noqa: N802
        """Fold one message into ``node``; True makes ``node`` active.

        Parameters
        ----------
        value : scalar
            What was sent, after ``applyWeight`` where the graph has weights.
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        bool
            Whether the message makes the vertex active.
        """
        raise ProgramError(f"{type(self).__name__} has no gatherFunc")

    def filterFunc(self, node: int) -> bool:  # noqa: N802
        """Called for every active vertex after gather; False drops it.

        Parameters
        ----------
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        bool
            Whether it stays active.
        """
        return True

    def applyWeight(self, value: Any, weight: Any) -> Any:  # noqa: N802
        """Message value as it arrives over an edge of this weight (weighted graphs).

        Parameters
        ----------
        value : scalar
            What was sent.
        weight : scalar
            Of the edge, in the type of the graph's weights.

        Returns
        -------
        scalar
            What ``gatherFunc`` gets.
        """
        return value

    def needsFunc(self, node: int) -> bool:  # noqa: N802
        """Whether a message could still change ``node`` or make it active. Pure.

        Parameters
        ----------
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        bool
            False: ``gatherFunc`` changes nothing, whatever the message.
        """
        return True

    def priorityFunc(self, node: int) -> int:  # noqa: N802
        """Bucket of an active vertex, a whole number: lower ones are emptied first. Pure.

        Parameters
        ----------
        node : int
            A vertex, uint32 in compiled code.

        Returns
        -------
        int
            The bucket; of int64.
        """
        return 0

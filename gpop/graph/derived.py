"""What is derived from a graph and stays with it: its reverse, symmetry, the list of what is kept.

`Graph` inherits it. What is found is kept in ``store`` and ``facts``, so that it is made once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gpop.common.progress import activity
from gpop.graph.kept import Kind
from gpop.graph.kept_bytes import KeptList

if TYPE_CHECKING:
    import numpy as np

    from gpop.graph.facts import Facts
    from gpop.graph.kept import Store


class Derived:
    """Methods of `gpop.graph.graph.Graph`, which has the attributes and makes graphs of other edges."""

    n: int
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    store: Store
    facts: Facts
    _with_edges: Any

    def reverse(self) -> Self:
        """The graph with every edge turned round (its CSC), weights carried; kept once made.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_edges([0, 0], [1, 2]).reverse().indptr.tolist()
        [0, 0, 1, 2]
        """
        turned = self.store.get(Kind.REVERSE)
        if turned is None:
            from gpop.graph.build import build_csr, csr_edges

            edges = csr_edges(self.indptr, self.indices, self.weights).reversed()
            dtype = None if self.weights is None else self.weights.dtype
            # sources come in ascending order: they are the new destinations, sorted already
            with activity("turning the edges round"):
                arrays = build_csr(self.n, [edges], dtype, by_destination=False)
            turned = self._with_edges(arrays)
            self.store.put(Kind.REVERSE, turned, holds=arrays, graph=turned)
        return turned

    def kept(self) -> KeptList:
        """What is kept with the graph and with graphs made of it, and the bytes of each on host and device.

        Returns
        -------
        KeptList
            A list of `gpop.graph.kept.Kept`, shown as a table.

        Examples
        --------
        >>> import gpop
        >>> graph = gpop.Graph.from_edges([0, 0, 2], [1, 2, 1])
        >>> _ = graph.reverse()
        >>> graph.kept()
        kind     what  host  device
        reverse        44 B     0 B
        total          44 B     0 B
        """
        return self.store.listed()

    def drop(self, kind: str | None = None) -> None:
        """Free what is kept, all or one kind (as `kept` names it), on the host and on a device.

        What is dropped is built again when a run needs it. A run on the graph in another thread is waited
        for.

        Parameters
        ----------
        kind : str, optional
            One of the kinds that `kept` lists; all when not given.

        Raises
        ------
        UsageError
            If there is no such kind, or from a callback of a run on the graph.

        Examples
        --------
        >>> import gpop
        >>> graph = gpop.Graph.from_edges([0, 0, 2], [1, 2, 1])
        >>> _ = graph.reverse()
        >>> graph.drop("reverse")
        >>> len(graph.kept())
        0
        """
        from gpop.graph.exclusive import exclusive

        with exclusive(self):
            self.store.drop(kind)

    def symmetrize(self) -> Self:
        """The graph with both directions of every edge, each once; a merged edge has the least weight.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_edges([0, 0], [1, 2]).symmetrize().indices.tolist()
        [1, 2, 0, 0]
        """
        from gpop.graph.build import build_csr, csr_edges

        edges = csr_edges(self.indptr, self.indices, self.weights)
        dtype = None if self.weights is None else self.weights.dtype
        with activity("adding the opposite edges"):
            arrays = build_csr(self.n, [edges, edges.reversed()], dtype, "min")
        result = self._with_edges(arrays)
        result.facts.symmetric = True
        return result

    def is_symmetric(self) -> bool:
        """Whether every edge u -> v has its v -> u (how often, and weights, do not matter).

        Found by a fingerprint: a False is certain, a True wrong with probability 2**-64.

        Returns
        -------
        bool

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_edges([0, 1, 1], [1, 0, 0]).is_symmetric()
        True
        """
        if self.facts.symmetric is None:
            from gpop.graph.symmetry import mirrored

            ascending = self if self.has_ascending_lists() else self.reverse()
            self.facts.symmetric = mirrored(ascending.indptr, ascending.indices)
        return self.facts.symmetric

    def has_ascending_lists(self) -> bool:
        """Whether every adjacency list ascends, as those of a graph that was read or built from edges do.

        Returns
        -------
        bool

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_csr([0, 2, 2], [1, 0]).has_ascending_lists()
        False
        """
        if self.facts.ascending is None:
            from gpop.graph.symmetry import rows_sorted

            self.facts.ascending = rows_sorted(self.indptr, self.indices)
        return self.facts.ascending

    def equals_reverse(self) -> bool:
        """Whether turning every edge round gives the same edges, as often and with the same weights.

        Found by a fingerprint, as in `is_symmetric`.

        Returns
        -------
        bool

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_edges([0, 1, 1], [1, 0, 0]).equals_reverse()
        False
        """
        if self.facts.equals_reverse is None:
            from gpop.graph.symmetry import mirrored

            self.facts.equals_reverse = mirrored(self.indptr, self.indices, self.weights, exactly=True)
        return self.facts.equals_reverse

"""What is dispatched: the functions of NetworkX that gpop has, by the file that holds them, and notes.

Loaded when NetworkX is imported, so it imports nothing.
"""

from __future__ import annotations

FAMILIES: dict[str, tuple[str, ...]] = {
    "breadth_first": (
        "bfs_edges",
        "bfs_layers",
        "bfs_predecessors",
        "bfs_successors",
        "bfs_tree",
        "descendants_at_distance",
    ),
    "centralities": (
        "betweenness_centrality",
        "closeness_centrality",
    ),
    "colours": (
        "greedy_color",
        "label_propagation_communities",
    ),
    "components": (
        "connected_components",
        "is_connected",
        "is_strongly_connected",
        "is_weakly_connected",
        "node_connected_component",
        "number_connected_components",
        "number_strongly_connected_components",
        "number_weakly_connected_components",
        "strongly_connected_components",
        "weakly_connected_components",
    ),
    "independent_sets": ("maximal_independent_set",),
    "links": (
        "hits",
        "katz_centrality",
        "pagerank",
    ),
    "neighbourhoods": (
        "average_clustering",
        "clustering",
        "core_number",
        "transitivity",
        "triangles",
    ),
    "shortest_paths": (
        "has_path",
        "shortest_path",
        "shortest_path_length",
    ),
    "unweighted_paths": (
        "all_pairs_shortest_path",
        "all_pairs_shortest_path_length",
        "bidirectional_shortest_path",
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path",
        "single_target_shortest_path_length",
    ),
    "weighted_paths": (
        "all_pairs_dijkstra",
        "all_pairs_dijkstra_path",
        "all_pairs_dijkstra_path_length",
        "bidirectional_dijkstra",
        "dijkstra_path",
        "dijkstra_path_length",
        "multi_source_dijkstra",
        "multi_source_dijkstra_path",
        "multi_source_dijkstra_path_length",
        "single_source_dijkstra",
        "single_source_dijkstra_path",
        "single_source_dijkstra_path_length",
    ),
}
"""File -> functions of NetworkX, under the names that it dispatches them by."""

LOCAL = frozenset(
    (
        *FAMILIES["breadth_first"],
        "bidirectional_dijkstra",
        "bidirectional_shortest_path",
        "dijkstra_path",
        "dijkstra_path_length",
        "has_path",
        "node_connected_component",
        "shortest_path",
        "shortest_path_length",
    )
)
"""Functions that may look at a small part of the graph only, or leave the work to others of these."""

NOTES: dict[str, str] = {
    "maximal_independent_set": "The set for a seed is another one than NetworkX's.",
}
"""What a user should know beside NetworkX's own documentation, which shows it."""

HOMES = {name: family for family, names in FAMILIES.items() for name in names}

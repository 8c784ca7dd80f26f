// What leaves a source vertex where messages are sent one by one, and initFunc.

// Source-centric scatter: values of the active vertices; initFunc follows at once, on the same thread.
__device__ void scatter_list(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const int64 size = EVERY_VERTEX ? graph.n : control->head.list_size;
  for (int64 i = team.rank(); i < size; i += team.size()) {
    const unsigned v = EVERY_VERTEX ? (unsigned)i : space.list[i];
    if ((MASKED && !is_active(space, v)) || !pushes(v, space, control)) continue;
    space.vertex_value[v] = scatterFunc(state, v);
    if (HAS_INIT && initFunc(state, v) && !ALL_ACTIVE) activate(v, space, control);
  }
}

// initFunc for the active vertices of partitions that scattered partition-centric.
__device__ void init_rows(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  for (int64 v = team.rank(); v < graph.n; v += team.size()) {
    if (space.mode[partition_of(v)] != MODE_PC || !is_active(space, v)) continue;
    if (initFunc(state, v) && !ALL_ACTIVE) activate(v, space, control);
  }
}

// Base of the strategies that scatter as above. Their gather follows the list, or looks at the whole graph.
template <bool FOLLOWS_LIST>
struct KeepsValues {
  static const bool LISTED = FOLLOWS_LIST;
  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    scatter_list(team, state, graph, space, control);
  }
};

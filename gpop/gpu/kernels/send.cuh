// What leaves a source vertex where messages are sent one by one, and initFunc.

const int SENT_AT_ONCE = 4;  // vertices of a thread whose fields are on their way together

// Source-centric scatter: values of the active vertices; initFunc follows at once, on the same thread.
__device__ void scatter_list(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const int64 size = EVERY_VERTEX ? graph.n : control->head.list_size, stride = team.size();
  for (int64 first = team.rank(); first < size; first += SENT_AT_ONCE * stride) {
    unsigned v[SENT_AT_ONCE];
    bool sends[SENT_AT_ONCE];
    Message value[SENT_AT_ONCE];
#pragma unroll
    for (int j = 0; j < SENT_AT_ONCE; ++j) {
      const int64 i = first + j * stride;
      sends[j] = i < size;
      v[j] = !sends[j] ? 0 : EVERY_VERTEX ? (unsigned)i : space.list[i];
      sends[j] = sends[j] && (!MASKED || is_active(space, v[j])) && pushes(v[j], space, control);
    }
#pragma unroll
    for (int j = 0; j < SENT_AT_ONCE; ++j)
      if (sends[j]) value[j] = scatterFunc(state, v[j]);
#pragma unroll
    for (int j = 0; j < SENT_AT_ONCE; ++j) {
      if (!sends[j]) continue;
      space.vertex_value[v[j]] = value[j];
      if (HAS_INIT && initFunc(state, v[j]) && !ALL_ACTIVE) activate(v[j], space, control);
    }
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

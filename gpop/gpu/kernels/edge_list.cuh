// Strategy edge-list: a thread per edge of the whole graph, delivered straight to its destination.
//
// Sources and destinations lie in two arrays, in the order of the sources, so that both are read as streams, and
// neighbouring lanes look at one word of the frontier and one value. Bytes per edge: 4 (source); per edge whose
// source is active another 4 (destination) [+ weight] and one random access to the vertex. No vertex has too many
// edges for its thread, and no edge is skipped: it pays where most are active.

struct EdgeList {
  static const bool LISTED = false;

  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    scatter_list(team, state, graph, space, control);
  }

  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    const bool live = LIVE && !control->head.dense;
    for (int64 e = team.rank(); e < graph.m; e += team.size()) {
      const unsigned source = graph.edge_source[e];
      if (!is_active(space, source) || !pushes(source, space, control)) continue;
      push_edge(e, sent_by(source, state, space, live), state, graph, space, control);
    }
  }
};

// Edges one by one: a thread per edge of the whole graph, delivered straight to its destination.
//
// In arrays side by side, of which a message reads no more than it needs, or in structs, which are read whole.
// Either in the order of the sources, so that neighbouring lanes look at one word of the frontier and one value, or
// in that of the destinations, so that they write to one vertex. No vertex has too many edges for its thread, and
// no edge is skipped: it pays where most are active.

struct Edge {
  unsigned source, target;
#if WEIGHTED
  Weight weight;
#endif
};

template <class T>
__device__ __forceinline__ void push_arrays(const unsigned* sources, const unsigned* targets, const T* weights, Team& team, State& state,
                            const Graph& graph, const Space& space, Control* control) {
  for (int64 e = team.rank(); e < graph.m; e += team.size()) {
    const unsigned source = sources[e];
    if (!is_active(space, source)) continue;
    const Message value = sent_by(source, state, space, LIVE);
#if WEIGHTED
    deliver(state, weighted(state, value, weights[e]), targets[e], graph, space, control);
#else
    deliver(state, value, targets[e], graph, space, control);
#endif
  }
}

template <class T>
__device__ __forceinline__ void push_structs(const T* edges, Team& team, State& state, const Graph& graph, const Space& space,
                                             Control* control) {
  for (int64 e = team.rank(); e < graph.m; e += team.size()) {
    const T edge = edges[e];
    if (!is_active(space, edge.source)) continue;
    const Message value = sent_by(edge.source, state, space, LIVE);
#if WEIGHTED
    deliver(state, weighted(state, value, edge.weight), edge.target, graph, space, control);
#else
    deliver(state, value, edge.target, graph, space, control);
#endif
  }
}

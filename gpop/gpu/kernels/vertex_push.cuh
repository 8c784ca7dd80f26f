// Strategy vertex-push: a thread per listed vertex walks its edges, delivered straight to their destinations.
//
// Neighbouring lanes read edges of different vertices, and wait for the one that has most: for graphs whose
// vertices have few edges each. Bytes as push.cuh.

struct VertexPush : KeepsValues<true> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    const int64 size = EVERY_VERTEX ? graph.n : control->head.list_size;
    for (int64 i = team.rank(); i < size; i += team.size()) {
      const unsigned v = EVERY_VERTEX ? (unsigned)i : space.list[i];
      if (MASKED && !is_active(space, v)) continue;
      const Message value = sent_by(v, state, space, LIVE);
      const int64 end = graph.indptr[v + 1];
      for (int64 e = graph.indptr[v]; e < end; ++e) push_edge(e, value, state, graph, space, control);
    }
  }
};

// Strategy vertex-pull: a thread per vertex of the whole graph walks its in-edges in order; nothing is atomic.
//
// gatherFunc runs on a copy in registers, until needsFunc says no. Neighbouring lanes read in-edges of different
// vertices, and wait for the one that has most. Bytes as owner.cuh, without its care for hubs.
#include "in_edges.cuh"

struct VertexPull : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    for (int64 i = team.rank(); i < graph.n; i += team.size()) {
      const unsigned v = (unsigned)i;
      Owned own(state, v);
      if (!needsFunc(own, v)) continue;
      Inbox inbox;
      const int64 end = graph.in_indptr[v + 1];
      for (int64 e = graph.in_indptr[v]; e < end; ++e) {
        const unsigned source = graph.in_indices[e];
        if (!is_active(space, source)) continue;
        inbox.take(own, pulled(e, source, state, graph, space), v);
        if (ENDS_EARLY && !needsFunc(own, v)) break;
      }
      const bool activated = inbox.close(own, v);
      if (inbox.heard) put_back(own, state, v);
      if (activated && !ALL_ACTIVE) activate(v, space, control);
    }
  }
};

// Vertices that want messages ask their in-neighbours: a way of a level (levels.cuh), where many edges are those of its
// vertices.
//
// The walk is that of in_edges.cuh. The last warps have hubs, and the others as many vertices each as there are for all of
// them to have some. Graphs with large ones have no such levels (limits.MOST_ASKED): a warp would walk all that wants nothing.
// Who becomes active has a bit for the next level. Bytes: bottom_up_bytes. Paper: Beamer, Asanovic, Patterson,
// "Direction-optimizing breadth-first search" (SC 2012).
#include "in_edges.cuh"

// `each(v, first, end)` for every vertex that becomes active; `active` are the bits of this level, `next` those of the next.
// Returns how many messages this thread has taken.
template <class Each>
__device__ __forceinline__ unsigned ask_level(unsigned walker, unsigned walkers, unsigned* active, unsigned* next, State& state,
                                              const Graph& graph, const Space& space, Each each) {
  Space seen = space;
  seen.frontier_bits = active;
  Asked asked = {0, 0, 0};
  const auto activated = [&](unsigned v) {
    atomicOr(next + (v >> 5), 1u << (v & 31));
    if (TRACK) set_bit(space.touched_bits, v);
    filterFunc(state, v);
    each(v, graph.indptr[v], graph.indptr[v + 1]);
  };
  if (walker >= walkers) return 0;
  const unsigned for_hubs = min(graph.hubs, walkers / 2), others = walkers - for_hubs;
  if (walker >= others || walkers == 1) {
    for (unsigned hub = walkers == 1 ? 0 : walker - others; hub < graph.hubs; hub += max(1u, for_hubs)) {
      const unsigned v = graph.hub_vertex[hub];
      if (ask_for_hub(v, state, graph, seen, asked) && lane_id() == 0) activated(v);
    }
  }
  const int64 tile = min((int64)32, (graph.n + others - 1) / others);
  for (int64 first = walker < others ? tile * walker : graph.n; first < graph.n; first += tile * others) {
    const bool mine = lane_id() < tile && first + lane_id() < graph.n;
    const unsigned v = (unsigned)(mine ? first + lane_id() : first);
    Owned own(state, v);
    const bool wants = mine && needsFunc(own, v);
    if (!__any_sync(ALL_LANES, wants)) continue;
    if (pull_lanes(v, wants, state, graph, seen, asked)) activated(v);
  }
  return (unsigned)asked.messages;
}

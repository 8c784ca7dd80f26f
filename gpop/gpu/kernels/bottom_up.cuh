// Strategy bottom-up: in this iteration vertices that still want messages (needsFunc) ask their in-neighbours.
//
// One of the ways of a run that pushes otherwise, chosen per iteration as on the CPU (gpop/cpu/pull.py). The walk
// is that of in_edges.cuh: who wants messages is packed within a warp, so that nothing is listed; the bits of the
// frontier are read, and who becomes active is a bit.
// Messages are computed where they are wanted, so that there is no scatter phase, unless scatterFunc reads what
// other functions write: then the frontier's values are kept first. How many want messages still is counted, for
// the next choice. Paper: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search" (SC 2012).
#include "in_edges.cuh"

struct BottomUp : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    Asked asked = ask_all<false>(team, state, graph, space, control);
    asked.messages = warp_sum(asked.messages);
    asked.left = warp_sum(asked.left);
    asked.left_edges = warp_sum(asked.left_edges);
    if (lane_id() != 0 || asked.messages + asked.left == 0) return;
    atomicAdd((uint64*)&control->head.messages, (uint64)asked.messages);
    atomicAdd((uint64*)&control->head.left, (uint64)asked.left);
    atomicAdd((uint64*)&control->head.left_edges, (uint64)asked.left_edges);
  }
};

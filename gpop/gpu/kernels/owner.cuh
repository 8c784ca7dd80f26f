// Strategy owner: one owner per destination vertex, its messages one after the other, correct for any gatherFunc.
//
// A whole run: nothing is pushed, so gatherFunc may write any number of fields (in_edges.cuh).
#include "in_edges.cuh"

struct Owner : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    ask_all<true>(team, state, graph, space, control);
  }
};

// Strategy reverse-struct-edge-list: a thread per edge of the whole graph, an array of structs, by destination.
//
// Bytes per edge: 8 [+ weight], a random access to the frontier; per edge whose source is active its value and an
// access to the vertex (edges.cuh).
#include "edges.cuh"

struct ReverseStructEdgeList : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_structs(graph.reverse_edge, team, state, graph, space, control);
  }
};

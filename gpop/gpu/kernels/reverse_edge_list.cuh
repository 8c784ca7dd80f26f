// Strategy reverse-edge-list: a thread per edge of the whole graph, in two arrays, by destination.
//
// Bytes per edge: 4 (source), a random access to the frontier; per edge whose source is active its value, 4
// (destination) [+ weight] and an access to the vertex, which neighbouring lanes share (edges.cuh).
#include "edges.cuh"

struct ReverseEdgeList : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_arrays(graph.in_indices, graph.edge_target, graph.in_weights, team, state, graph, space, control);
  }
};

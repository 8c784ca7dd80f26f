// Strategy edge-list: a thread per edge of the whole graph, sources and destinations in two arrays, by source.
//
// Bytes per edge: 4 (source); per edge whose source is active another 4 (destination) [+ weight] and one random
// access to the vertex (edges.cuh).
#include "edges.cuh"

struct EdgeList : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_arrays(graph.edge_source, graph.indices, graph.weights, team, state, graph, space, control);
  }
};

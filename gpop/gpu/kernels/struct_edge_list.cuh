// Strategy struct-edge-list: a thread per edge of the whole graph, an array of structs, by source.
//
// Bytes per edge: 8 [+ weight]; per edge whose source is active one random access to the vertex (edges.cuh).
#include "edges.cuh"

struct StructEdgeList : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_structs(graph.edge, team, state, graph, space, control);
  }
};

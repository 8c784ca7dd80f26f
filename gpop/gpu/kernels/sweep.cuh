// All edges of a small graph, of which those of active vertices send: a way of a level (levels.cuh).
//
// Where a device has a thread for every few edges, to look whether their sources are active takes less time than to walk
// the edges of those that are: all warps have as much to do, and nobody looks for a list first. Bits that are read are
// cleared when the next level is at work, and nobody looks at them any more. Bytes: edge_list_bytes.
// Compare: bfs_edge and sssp_edge in perf/gpu_baselines.cu.
#include "level_edges.cuh"

const int EDGES_OF_LANE = 4;  // in a row: their sources are 16 bytes

__device__ __forceinline__ void clear_words(const Team& team, unsigned* bits, const Graph& graph) {
  for (int64 w = team.rank(); 32 * w < graph.n; w += team.size()) bits[w] = 0;
}

// `each(v, first, end)` for every vertex that becomes active; `active` are those of this level, `next` those of the next.
template <class Active, class Each>
__device__ __forceinline__ void sweep(unsigned walker, unsigned walkers, const Active& active, const Active& next,
                                      State& state, const Graph& graph, const Space& space, Control* control, Each each) {
  if (walker >= walkers) return;
  for (int64 e = EDGES_OF_LANE * (32LL * walker + lane_id()); e < graph.m; e += 32LL * EDGES_OF_LANE * walkers) {
    unsigned source[EDGES_OF_LANE], v[EDGES_OF_LANE];
    bool sends[EDGES_OF_LANE], some = false;
    Message value[EDGES_OF_LANE];
    Gathered x[EDGES_OF_LANE];
    if (e + EDGES_OF_LANE <= graph.m) {
      const uint4 four = *(const uint4*)(graph.edge_source + e);
      source[0] = four.x, source[1] = four.y, source[2] = four.z, source[3] = four.w;
    } else {
      for (int i = 0; i < EDGES_OF_LANE; ++i) source[i] = e + i < graph.m ? graph.edge_source[e + i] : 0;
    }
#pragma unroll
    for (int i = 0; i < EDGES_OF_LANE; ++i) some |= sends[i] = e + i < graph.m && active.has(source[i]);
    if (!some) continue;
#pragma unroll
    for (int i = 0; i < EDGES_OF_LANE; ++i) {
      if (!sends[i]) continue;
      v[i] = graph.indices[e + i];
      value[i] = scatterFunc(state, source[i]);
    }
#pragma unroll
    for (int i = 0; i < EDGES_OF_LANE; ++i)
      if (sends[i]) x[i] = CARRIED(state, value[i], e + i);
    reach_together(sends, v, x, next, state, graph, space, control,
                   [&](int i, int64 first, int64 end) { each(v[i], first, end); });
  }
}

// Strategy vertex-push-warp: virtual warps walk the edges of listed vertices, delivered straight to their destinations.
//
// All lanes of a virtual warp share the edges of one vertex, so that as many neighbouring edges are read at once
// (virtual_warps.cuh). Bytes as push.cuh.
#include "virtual_warps.cuh"

struct VertexPushWarp : KeepsValues<true> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    const int64 size = EVERY_VERTEX ? graph.n : control->head.list_size;
    for (VirtualWarp part(team); part.some(size); part.chunk += part.chunks) {
      for (int group = 0; group < CHUNK; group += VIRTUAL_WARP) {
        const int64 i = part.chunk * CHUNK + group + part.lane;
        int64 begin = 0, end = 0;
        Message value = Message(0);
        const unsigned v = i >= size ? 0 : EVERY_VERTEX ? (unsigned)i : space.list[i];
        if (i < size && !(MASKED && !is_active(space, v))) {
          begin = graph.indptr[v];
          end = graph.indptr[v + 1];
          value = sent_by(v, state, space, LIVE);
        }
        for (int j = 0; j < VIRTUAL_WARP; ++j) {
          const int64 last = __shfl_sync(ALL_LANES, end, part.first + j);
          const Message x = __shfl_sync(ALL_LANES, value, part.first + j);
          for (int64 e = __shfl_sync(ALL_LANES, begin, part.first + j) + part.lane; e < last; e += VIRTUAL_WARP)
            push_edge(e, x, state, graph, space, control);
          __syncwarp();
        }
      }
    }
  }
};

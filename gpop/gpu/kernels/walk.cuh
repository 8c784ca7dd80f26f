// How a warp walks the edges of up to 32 vertices together, a vertex of each lane: neighbouring lanes have
// neighbouring edges. A lane has up to N of them at once: `each(edge, v, left)` is called with those numbered 0, 32, 64
// ... that are less than `left`.
#include "owner_of.cuh"

template <int N, class Each>
__device__ __forceinline__ void walk_edges(unsigned v, int64 first, int degree, Each each) {
  const int upto = warp_inclusive_sum(degree), before = upto - degree;
  const int total = __shfl_sync(ALL_LANES, upto, 31);
  for (int begun = 0; begun < total; begun += 32 * N) {
    int64 edge[N];
    unsigned source[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const int e = begun + 32 * j + lane_id();
      if (j && begun + 32 * j >= total) break;
      const int owner = owner_of(e, before);
      edge[j] = __shfl_sync(ALL_LANES, first - before, owner) + e;
      source[j] = __shfl_sync(ALL_LANES, v, owner);
    }
    each(edge, source, total - begun - (int)lane_id());
    __syncwarp();
  }
}

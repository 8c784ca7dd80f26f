// How a warp walks the edges of up to 32 vertices together, a vertex of each lane: neighbouring lanes have
// neighbouring edges. `each(edge, v)` is called for every one of them.
#include "owner_of.cuh"

template <class Each>
__device__ __forceinline__ void walk_edges(unsigned v, int64 first, int degree, Each each) {
  const int upto = warp_inclusive_sum(degree), before = upto - degree;
  const int total = __shfl_sync(ALL_LANES, upto, 31);
  for (int begun = 0; begun < total; begun += 32) {
    const int e = begun + lane_id();
    const int owner = owner_of(e, before);
    const int64 edge = __shfl_sync(ALL_LANES, first - before, owner) + e;
    const unsigned source = __shfl_sync(ALL_LANES, v, owner);
    if (e < total) each(edge, source);
    __syncwarp();
  }
}

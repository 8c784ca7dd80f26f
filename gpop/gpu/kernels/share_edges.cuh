// Edges of vertices that the warps of a block have, shared by all of its lanes.
//
// A level waits for its slowest warp, and most of a warp's time is waiting for L2. So a block adds up the edges of its
// vertices; neighbouring lanes take neighbouring edges, and look for their vertex in shared memory, of which each takes 12
// bytes. On an H100 searches of six graphs took .84 to 1.0 of the time that they take with long_lists.cuh, paths .88 to 1.1;
// with two edges of a lane at once .98 to 1.25 of it, with four 1.15 to 1.5: they want the same words.
#include "warp.cuh"

struct Share {  // of a vertex: the edges of the block before its own, and where those would begin
  unsigned before, vertex, first;
};

// Of so many, the last one that has no more than e edges before it.
__device__ __forceinline__ Share share_of(unsigned e, const Share* shares, unsigned count) {
  unsigned at = 0;
  for (unsigned step = 1u << (31 - __clz(count)); step; step >>= 1)
    if (at + step < count && shares[at + step].before <= e) at += step;
  return shares[at];
}

// `next(v, first, degree)` says which vertex this lane has in a round, the first `tile` lanes of each warp; `each(edge, u, v)`
// is called for every edge from u to v, which is on its way while the one before is at work. `lanes`: so many take edges,
// the others of the block are free for what there is to do `meanwhile`. All threads of a block must be here.
template <class Next, class Meanwhile, class Each>
__device__ __forceinline__ void share_edges(unsigned rounds, unsigned tile, unsigned lanes, const unsigned* indices, Next next,
                                            Meanwhile meanwhile, Each each) {
  __shared__ Share shares[SWEEP_THREADS];
  __shared__ unsigned of_warps[32];
  const unsigned lane = lane_id(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned v = 0, first = 0, degree = 0;
    next(round, v, first, degree);
    const unsigned upto = warp_inclusive_sum(degree);
    if (lane == 31) of_warps[warp] = upto;
    __syncthreads();
    const unsigned own = lane < warps ? of_warps[lane] : 0, upto_warp = warp_inclusive_sum(own);
    const unsigned total = __shfl_sync(ALL_LANES, upto_warp, 31);
    const unsigned before = __shfl_sync(ALL_LANES, upto_warp - own, warp) + upto - degree;
    if (lane < tile) shares[warp * tile + lane] = {before, v, first - before};
    __syncthreads();
    if (round == 0) meanwhile();
    unsigned e = threadIdx.x, to = 0;
    Share share;
    const auto fetch = [&] {
      if (e >= total) return false;
      share = share_of(e, shares, warps * tile);
      to = indices[share.first + e];
      return true;
    };
    for (bool has = e < lanes && fetch(); has;) {
      const unsigned edge = share.first + e, source = share.vertex, v = to;
      e += lanes;
      has = fetch();
      each((int64)edge, source, v);
    }
  }
}

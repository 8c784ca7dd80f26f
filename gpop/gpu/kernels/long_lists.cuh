// Edges of vertices that the warps of a block have, walked by these: short lists by the warp that has them, long ones by
// all warps together.
//
// A round of 32 edges takes microseconds, of which most is waiting for L2. A block waits for its slowest warp, and the
// grid for its slowest block: so a list of more than LONG_LIST edges is left until all warps are through with the others,
// then each takes a slice of it.
#include "walk.cuh"

struct LongLists {  // in shared memory
  static constexpr unsigned MOST = 256;  // more are walked as if they were short
  unsigned count;
  unsigned vertex[MOST];
  int degree[MOST];
  int64 first[MOST];

  // Whether it is left for later.
  __device__ __forceinline__ bool take(unsigned v, int64 begin, int edges) {
    if (edges <= LONG_LIST || *(volatile unsigned*)&count >= MOST) return false;
    const unsigned at = atomicAdd(&count, 1u);
    if (at >= MOST) return false;
    vertex[at] = v;
    degree[at] = edges;
    first[at] = begin;
    return true;
  }

  __device__ __forceinline__ unsigned size() const { return min(count, MOST); }

  // What this warp has of a list.
  __device__ __forceinline__ void slice(unsigned i, unsigned& v, int64& begin, int& edges) const {
    const int64 warps = blockDim.x >> 5, own = threadIdx.x >> 5;
    const int from = (int)(degree[i] * own / warps), to = (int)(degree[i] * (own + 1) / warps);
    v = vertex[i];
    begin = first[i] + from;
    edges = to - from;
  }
};

// `next(v, first, degree)` says which vertex this lane has next, if any, and whether the warp has some; it is called by
// whole warps. `each(edge, v)` is called for every edge of every vertex. All threads of a block must be here. `some`:
// whether the graph has long lists at all; else nobody waits for the others. APART: that has a loop of its own, which takes
// .95 of the time where there are registers for it, and 1.07 where there are not.
template <bool APART, class Next, class Each>
__device__ __forceinline__ void walk_together(bool some, Next next, Each each) {
  if (APART && !some) {
    unsigned v = 0;
    int64 first = 0;
    int degree = 0;
    for (; next(v, first, degree); degree = 0) walk_edges(v, first, degree, each);
    return;
  }
  __shared__ LongLists lists;
  if (some) {
    if (threadIdx.x == 0) lists.count = 0;
    __syncthreads();
  }
  bool own = true;
  unsigned at = 0;
  while (own || at < lists.size()) {
    unsigned v = 0;
    int64 first = 0;
    int degree = 0;
    if (own) {
      own = next(v, first, degree);
      if (!own) {
        if (!some) break;
        __syncthreads();
        continue;
      }
      if (some && lists.take(v, first, degree)) degree = 0;
    } else {
      if (at + lane_id() < lists.size()) lists.slice(at + lane_id(), v, first, degree);
      at += 32;
    }
    walk_edges(v, first, degree, each);
  }
}

// When a program without a frontier has settled (Program.settles): its changes sum to less than its tolerance.
//
// Who filters a vertex adds up what it changed, in float64: a thread its vertices, a block its threads, and the block
// that plans, all blocks. Which thread has which vertex follows from the graph and the grid, so that the sum is the
// same every time. Bytes per vertex: those of the field, which filterFunc has just written; per block: 8.

struct Changes {
  double sum = 0;

  // Where a block says what it has changed in this iteration.
  static __device__ __forceinline__ double* told(int64 iteration, const Space& space) {
    return space.changes + (iteration & 1) * MOST_BLOCKS;
  }

  __device__ __forceinline__ void add(const State& state, unsigned v) {
#if SETTLES
    sum += (double)CHANGE(state, v);
#endif
  }

  // By whole blocks, when all their vertices are filtered.
  __device__ __forceinline__ void tell(int64 iteration, const Space& space) const {
#if SETTLES
    __shared__ double share[32];
    const double own = warp_sum(sum);
    if (lane_id() == 0) share[threadIdx.x >> 5] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    double all = 0;
    for (unsigned warp = 0; warp < blockDim.x >> 5; ++warp) all += share[warp];
    told(iteration, space)[blockIdx.x] = all;
#endif
  }
};

// By a block's first warp, when all have told it: whether the run has settled.
__device__ __forceinline__ bool has_settled(int64 iteration, const State& state, const Space& space) {
#if SETTLES
  double all = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += 32) all += Changes::told(iteration, space)[block];
  return warp_sum(all) < TOLERANCE(state);
#else
  return false;
#endif
}

// By the block that plans: nobody is active if the run has settled.
__device__ __forceinline__ void settle(const State& state, const Space& space, Control* control) {
#if SETTLES
  if (STEADY || threadIdx.x >= 32) return;  // those know it themselves
  const bool settled = has_settled(control->head.iteration, state, space);
  if (threadIdx.x == 0 && settled) control->head.next_frontier = 0;
#endif
}

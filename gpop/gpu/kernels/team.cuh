// Who works together on a phase: the whole grid, or block 0 alone when little is active. A grid may be one cluster,
// or one block.
//
// The engine is one cooperative launch (every block is resident). A barrier is an arrival counter that
// only grows; block 0 may do serial work (the plan of the next iteration) between arrival and release.
// One thread's fence on each side, with the block's own barrier around it, makes plain stores of one
// block visible to plain loads of another (it also drops what L1 holds), as cooperative groups do it.
#include "cluster.cuh"
#include "warp.cuh"

struct Team {
  Control* control;
  unsigned blocks, generation;
  bool alone;
  unsigned levels;  // barriers of the other kind that it has passed (meet.cuh)
  bool clustered;

  __device__ unsigned rank() const { return alone ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ unsigned size() const { return alone ? blockDim.x : blocks * blockDim.x; }
  // Neighbouring numbers on different multiprocessors, so that little work spreads over all of them.
  __device__ unsigned warp() const {
    const unsigned own = threadIdx.x >> 5;
    return alone ? own : own * blocks + blockIdx.x;
  }
  __device__ unsigned warps() const { return size() >> 5; }
  // One block, whose own barrier orders what it has written, atomics too; a fence would wait for L2.
  __device__ bool by_itself() const { return alone || blocks == 1; }
  __device__ bool leader() const { return blockIdx.x == 0 && threadIdx.x == 0; }

  // Everybody waits until all have arrived and block 0 has done `serial`.
  template <class Serial>
  __device__ void sync(Serial serial) {
    __syncthreads();
    if (by_itself()) {
      serial();
      __syncthreads();
      return;
    }
#if CLUSTER
    if (clustered) {
      cluster_barrier();
      if (blockIdx.x == 0) serial();
      cluster_barrier();
      return;
    }
#endif
    ++generation;
    volatile unsigned* arrived = &control->arrived_blocks;
    volatile unsigned* released = &control->released;
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) {
        while (*arrived < generation * (blocks - 1)) {}
        __threadfence();
      }
      __syncthreads();
      serial();
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        *released = generation;
      }
    } else if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&control->arrived_blocks, 1u);
      while (*released < generation) {}
      __threadfence();
    }
    __syncthreads();
  }

  __device__ void sync() {
    sync([] {});
  }
};

// The next item of a phase for the whole block.
__device__ __forceinline__ unsigned claim(unsigned* counter) {
  __shared__ unsigned claimed;
  __syncthreads();
  if (threadIdx.x == 0) claimed = atomicAdd(counter, 1u);
  __syncthreads();
  return claimed;
}

// What the blocks of a cluster share: a barrier in hardware, and each other's shared memory.
//
// Blocks of a cluster are resident together (compute capability 9.0 on). The barrier orders what they wrote before it,
// also to global memory, and takes a quarter of a microsecond; one through a counter in L2 takes more than one.

// All threads of all blocks, those of each having met: one warp's fence is for all of its block.
__device__ __forceinline__ void meet_other_blocks() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  if (threadIdx.x < 32)
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

__device__ __forceinline__ void cluster_barrier() {
  __syncthreads();
  meet_other_blocks();
}

// What lies at `own` in shared memory, in that of another block.
template <class T>
__device__ __forceinline__ T* on_block(T* own, unsigned block) {
#if __CUDA_ARCH__ >= 900
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(block));
  return there;
#else
  return own;
#endif
}

// What the blocks of a cluster share: a barrier in hardware, and each other's shared memory.
//
// Blocks of a cluster are resident together (compute capability 9.0 on). The barrier orders what they wrote before it,
// also to global memory, and takes a quarter of a microsecond; one through a counter in L2 takes more than one.

__device__ __forceinline__ void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
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

// Graphie's partition kernel, with its three corrections (perf/graphie.py): a thread per edge.
//
// A block takes as many consecutive edges as it has threads. Their sources have consecutive ids, so their values come
// to shared memory once; what an edge improves is a minimum of its destination, whose partition is noted in shared
// memory, a byte each, and in global memory when the block is done. Bytes per edge: 8, 4 of its weight, and an access
// to the destination. Paper: Han et al., "Graphie" (PACT 2017), algorithm 2, and the kernel of section IV.

const unsigned FAR = 0xffffffffu;  // a value that nobody has heard

extern __shared__ __align__(16) unsigned char shared_memory[];

// Id -> place in `values`: `before` has how many ids are skipped before each partition, and after all.
__device__ __forceinline__ unsigned place_of(unsigned id, unsigned partition, unsigned partitions, const unsigned* before) {
  return id - before[partition < partitions ? partition : partitions];
}

extern "C" __global__ void update(const unsigned* source, const unsigned* target, const unsigned* weight, unsigned edges,
                                  unsigned step, unsigned* values, const unsigned* before, unsigned partitions,
                                  unsigned most, unsigned char* activated) {
  unsigned* own = (unsigned*)shared_memory;
  unsigned char* noted = shared_memory + sizeof(unsigned) * blockDim.x;
  for (unsigned i = threadIdx.x; i < partitions; i += blockDim.x) noted[i] = 0;
  for (unsigned low = blockIdx.x * blockDim.x; low < edges; low += gridDim.x * blockDim.x) {
    const unsigned high = min(low + blockDim.x, edges) - 1;
    const unsigned start = source[low], distinct = source[high] - start + 1;
    __syncthreads();
    if (threadIdx.x < distinct) own[threadIdx.x] = values[place_of(start, start / most, partitions, before) + threadIdx.x];
    __syncthreads();
    const unsigned e = low + threadIdx.x;
    if (e > high) continue;
    const unsigned heard = own[source[e] - start];
    if (heard == FAR) continue;
    const unsigned value = heard + (step == FAR ? weight[e] : step), id = target[e], partition = id / most;
    unsigned* at = values + place_of(id, partition, partitions, before);
    if (value < *(volatile unsigned*)at && value < atomicMin(at, value) && partition < partitions) noted[partition] = 1;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < partitions; i += blockDim.x)
    if (noted[i]) activated[i] = 1;
}

// Kernels that prepare the tables of a layout (gpop/gpu/device_graph.py); no program in them.
typedef unsigned short Id;
typedef long long int64;

__device__ __forceinline__ int64 this_warp() { return ((int64)blockIdx.x * blockDim.x + threadIdx.x) / 32; }
__device__ __forceinline__ int64 all_warps() { return (int64)gridDim.x * blockDim.x / 32; }

// A warp per segment: ids from `first` to the next that begins a message, at most to `end` of the bin.
extern "C" __global__ void gpop_find_heads(const Id* ids, const int64* first, const int64* end, int64 segments, int64* head) {
  const int lane = threadIdx.x & 31;
  for (int64 s = this_warp(); s < segments; s += all_warps()) {
    int64 at = first[s];
    unsigned found = 0;
    for (; at < end[s]; at += 32) {
      found = __ballot_sync(0xffffffffu, at + lane < end[s] && ids[at + lane] >> 15);
      if (found) break;
    }
    if (lane == 0) head[s] = found ? at + __ffs(found) - 1 : end[s];
  }
}

// In-edges of every vertex.
extern "C" __global__ void gpop_count_heads(const unsigned* heads, int64 edges, unsigned* degree) {
  for (int64 e = (int64)blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += (int64)gridDim.x * blockDim.x)
    atomicAdd(degree + heads[e], 1u);
}

// A warp per segment: how many messages begin in it.
extern "C" __global__ void gpop_count_flags(const Id* ids, const int64* first, const int* count, int64 segments, int* flags) {
  for (int64 s = this_warp(); s < segments; s += all_warps()) {
    int found = 0;
    for (int i = threadIdx.x & 31; i < count[s]; i += 32) found += ids[first[s] + i] >> 15;
    for (int step = 16; step; step >>= 1) found += __shfl_xor_sync(0xffffffffu, found, step);
    if ((threadIdx.x & 31) == 0) flags[s] = found;
  }
}

// What the lanes of a warp tell each other.

__device__ __forceinline__ unsigned lane_id() { return threadIdx.x & 31; }
const unsigned ALL_LANES = 0xffffffffu;

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(ALL_LANES, value, step);
  return value;
}

template <class T>
__device__ __forceinline__ T warp_inclusive_sum(T value) {
  for (int step = 1; step < 32; step <<= 1) {
    const T other = __shfl_up_sync(ALL_LANES, value, step);
    if (lane_id() >= step) value += other;
  }
  return value;
}

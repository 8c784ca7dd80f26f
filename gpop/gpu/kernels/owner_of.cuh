// Which lane of a warp an item belongs to, where every lane has some, one lane's after the other's.

// The last lane whose items begin at or before this number; `before` of each lane: those of the lanes below it.
__device__ __forceinline__ int owner_of(int number, int before) {
  int owner = 0;
#pragma unroll
  for (int step = 16; step; step >>= 1) {
    const int begins = __shfl_sync(ALL_LANES, before, owner + step);
    if (begins <= number) owner += step;
  }
  return owner;
}

// Lanes from `first` to before `last`, which may lie outside of the warp.
__device__ __forceinline__ unsigned lanes_between(int first, int last) {
  first = max(first, 0);
  last = min(last, 32);
  return first < last ? ALL_LANES << first & ALL_LANES >> (32 - last) : 0;
}

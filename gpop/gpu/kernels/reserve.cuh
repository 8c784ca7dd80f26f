// Places in a list that threads fill together.

// Reserve one place for every lane that wants one; one atomic per warp (of the lanes that got here), or per lane.
__device__ __forceinline__ int64 reserve(int64* counter, bool wanted) {
  if (AGGREGATE == EACH || AGGREGATE == BULK) return wanted ? (int64)atomicAdd((uint64*)counter, 1ULL) : -1;
  const unsigned here = __activemask();
  const unsigned who = __ballot_sync(here, wanted);
  if (!wanted) return -1;
  const int first = __ffs(who) - 1;
  int64 base = 0;
  if (lane_id() == first) base = atomicAdd((uint64*)counter, (uint64)__popc(who));
  base = __shfl_sync(who, base, first);
  return base + __popc(who & ((1u << lane_id()) - 1));
}

// Virtual warps: a warp is divided into parts of VIRTUAL_WARP lanes; each takes CHUNK vertices, one after the other.
//
// Lanes first fetch what is known of one vertex each (neighbours in memory), then all of a part work on the vertex
// of its first lane, its second ...: where the paper has shared memory, lanes ask each other. Parts of a warp go in
// step, so a warp waits for the part whose vertex has most edges. Paper: Hong, Kim, Oguntebi, Olukotun,
// "Accelerating CUDA graph algorithms at maximum warp" (PPoPP 2011).

struct VirtualWarp {
  unsigned lane, first;   // of this thread in its part; the part's first lane in the warp
  int64 chunk, chunks;    // the chunk of this part, and how many parts there are

  __device__ __forceinline__ VirtualWarp(const Team& team)
      : lane(lane_id() % VIRTUAL_WARP), first(lane_id() - lane),
        chunk((int64)team.warp() * (32 / VIRTUAL_WARP) + first / VIRTUAL_WARP), chunks(team.size() / VIRTUAL_WARP) {}

  // Whether any part of this warp has something to do, of so many items. The same for all lanes.
  __device__ __forceinline__ bool some(int64 items) const { return (chunk - first / VIRTUAL_WARP) * CHUNK < items; }
};

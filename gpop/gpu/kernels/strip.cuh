// How a warp reads ids: LANE_IDS (8 or 16) consecutive ones per lane, with their message flags as a bit mask.

enum { WINDOW = 32 * LANE_IDS };

// Where in shared memory the cell of a local id lies: ids that differ in their last five bits lie in different banks,
// and so should those that differ elsewhere. In RMAT graphs a quarter of the edges leads to ids that end in five
// zeros. On an H200 PageRank on RMAT 22 and 24 took .84 and .79 of the time with this, on a random graph 1.01.
__device__ __forceinline__ unsigned cell_of_local(unsigned local) { return local ^ ((local >> 5 ^ local >> 10) & 0x1fu); }
// The same of two ids in a word; the flag of a message stays.
__device__ __forceinline__ unsigned two_cells(unsigned ids) { return ids ^ ((ids >> 5 ^ ids >> 10) & 0x1f001fu); }

struct Raw {  // two ids per word
  uint4 part[LANE_IDS / 8];
};

struct Strip {
  unsigned word[LANE_IDS / 2];
  unsigned valid;  // which ids belong to the segment
  unsigned flags;  // with which a message begins; both by bit_for(j), even ids below odd ones

  static const unsigned EVERY = 0x10001u * ((1u << LANE_IDS / 2) - 1);  // all are valid
  static __device__ constexpr unsigned bit_for(int j) { return 1u << (j / 2 + 16 * (j & 1)); }
  __device__ bool belongs(int j) const { return valid & bit_for(j); }
  __device__ bool begins(int j) const { return flags & bit_for(j); }
  __device__ unsigned local(int j) const { return word[j / 2] >> (16 * (j & 1)) & 0x7fffu; }
  __device__ unsigned cell(int j) const { return two_cells(word[j / 2]) >> (16 * (j & 1)) & 0x7fffu; }
};

// Ids from position `at` of a segment on, which is counted from `start`, a multiple of LANE_IDS.
__device__ __forceinline__ Raw load_raw(const Stored<Id>& ids, int64 start, int at, int end) {
  Raw raw = {};
  if (at < end) {
    const Id* from = address(ids, start + at);
    for (int i = 0; i < LANE_IDS / 8; ++i) raw.part[i] = *(const uint4*)(from + 8 * i);
  }
  return raw;
}

// Ids from position `at` on, of which those from `skip` to `end` count.
__device__ __forceinline__ Strip make_strip(const Raw& raw, int at, int skip, int end) {
  Strip strip = {};
  if (at >= end) return strip;
  memcpy(strip.word, &raw, sizeof(raw));
  strip.valid = Strip::EVERY;
  if (at < skip || at + LANE_IDS > end) {
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j)
      if (at + j < skip || at + j >= end) strip.valid &= ~Strip::bit_for(j);
  }
#pragma unroll
  for (int j = 0; j < LANE_IDS / 2; ++j) strip.flags |= strip.word[j] >> (15 - j) & 0x10001u << j;
  strip.flags &= strip.valid;
  return strip;
}

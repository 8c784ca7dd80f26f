// A barrier of the grid that brings, beside, how much all blocks have found, and gives each of them room in one list.
//
// One addition says that a block has arrived and how much it has, and what it returns is how much those had who came
// before: where in the list of all its own begins. Who sees that all have arrived knows the totals. To reserve room first,
// then to arrive, then to fetch the totals took 2.4 us on an H200 (132 blocks), of which most was waiting for one address.
// What goes into the list comes after the arrival, so that who reads it may be early: an entry is there when it is not 0,
// and whoever has read it leaves 0. Compare: meet.cuh.

// A word: how many have arrived, and how many of them have more beside; vertices, edges.
const int ARRIVED_SHIFT = 54, FLAGGED_SHIFT = 44, VERTICES_SHIFT = 23;
const uint64 MOST_ARRIVED = (1 << 10) - 1, MOST_VERTICES = (1 << (FLAGGED_SHIFT - VERTICES_SHIFT)) - 1,
             MOST_EDGES = (1 << VERTICES_SHIFT) - 1;
static_assert(MOST_BLOCKS <= MOST_ARRIVED + 1 && MOST_ENTRIES <= MOST_VERTICES, "a word has room");

struct Mustered {  // by the blocks that have arrived
  uint64 word;

  __device__ __forceinline__ unsigned vertices() const { return (unsigned)(word >> VERTICES_SHIFT & MOST_VERTICES); }
  __device__ __forceinline__ uint64 found() const { return (uint64)vertices() << FOUND_SHIFT | (word & MOST_EDGES); }
  __device__ __forceinline__ bool flagged() const { return word >> FLAGGED_SHIFT & MOST_ARRIVED; }
};

// Edges of which a block can tell; the rest lies beside.
__device__ __forceinline__ unsigned most_told(const Team& team) { return (unsigned)(MOST_EDGES / team.blocks); }

// One thread of each block, whose threads have met: who came before. Words are used in turns; block 0 clears the one that
// all have left for good.
__device__ __forceinline__ Mustered arrive(Team& team, unsigned vertices, unsigned edges, bool flagged) {
  uint64* words = team.control->level_told;
  team.levels += 1;
  if (blockIdx.x == 0) words[(team.levels + 1) % 3] = 0;
  __threadfence();
  const uint64 own = 1ULL << ARRIVED_SHIFT | (uint64)flagged << FLAGGED_SHIFT | (uint64)vertices << VERTICES_SHIFT | edges;
  return {atomicAdd(words + team.levels % 3, own)};
}

// The same thread, until all have.
__device__ __forceinline__ Mustered wait_for_all(const Team& team) {
  const volatile uint64* word = team.control->level_told + team.levels % 3;
  Mustered all;
  do all.word = *word;
  while (all.word >> ARRIVED_SHIFT < team.blocks);
  __threadfence();
  return all;
}

struct Entry {  // of a list of vertices: where the edges of one begin
  unsigned vertex, degree;
  int64 first;
};

// Into the list, by a block that has arrived. Each half of an entry is written at once, and has a bit that says so.
__device__ __forceinline__ void hand_in(const Entry& entry, Entry* to) {
  volatile uint64* halves = (volatile uint64*)to;
  halves[0] = (uint64)(entry.degree | 1u << 31) << 32 | entry.vertex;
  halves[1] = (uint64)entry.first | 1ULL << 63;
}

// Out of it, by one thread, behind the barrier.
__device__ __forceinline__ Entry take_out(Entry* from) {
  const volatile uint64* halves = (const volatile uint64*)from;
  uint64 vertex, first;
  do {
    vertex = halves[0];
    first = halves[1];
  } while (!vertex || !first);
  *from = Entry{};
  return {(unsigned)vertex, (unsigned)(vertex >> 32) & ~(1u << 31), (int64)(first & ~(1ULL << 63))};
}

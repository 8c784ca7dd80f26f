// Where what is found for a level lies until it is at work (levels.cuh).
//
// A block collects in its shared memory, in two stages in turns. Of a grid that goes to one list when all have met
// (muster.cuh); a block by itself and those of a cluster leave it where it is. What finds no room there lies beside, as
// does the level with which a run of levels begins.
#include "cluster.cuh"
#include "muster.cuh"

struct Stage {  // what a block has found for the next level
  unsigned count, edges, flags, pieces;  // entries; what of a long list are more entries than one
  Entry entry[1];
};

// Flags of a stage: the level is to be left to others, or has a vertex that is too much for a block; more of it, or that
// this is so, stands in Control.
enum : unsigned { LEAVES = 1, HUBS = 2, BESIDE = 4, FLAGS = 7 };
const int PIECES_SHIFT = 8;  // above the flags, in Control
const int FLAGS_SHIFT = 61;  // of what a block of a cluster tells the others: flags, vertices, edges in 32 bits
const unsigned MOST_TOLD = (1u << (FLAGS_SHIFT - FOUND_SHIFT)) - 1;

// DIVIDED: a list of more than PIECE edges is several entries, so that it is not one block that waits for all of it.
template <bool CLUSTERED, bool DIVIDED>
struct LevelStore {
  static constexpr unsigned STAGE_BYTES = SHARED_BYTES / 32 * 16;
  static constexpr unsigned MOST_STAGED = STAGE_BYTES / sizeof(Entry) - 1;

  const Graph& graph;
  const Space& space;
  Control* control;

  __device__ __forceinline__ int64 room() const { return min((int64)MOST_ENTRIES, graph.n) + (DIVIDES ? graph.m / PIECE : 0); }
  __device__ __forceinline__ Entry* list(unsigned of) const { return (Entry*)space.entries + (of & 1) * room(); }
  __device__ __forceinline__ Entry* beside(unsigned of) const { return list(of) + 2 * room(); }
  __device__ __forceinline__ uint64* sum(unsigned of) const { return (uint64*)control->level_found + of % 3; }  // beside
  __device__ __forceinline__ Stage* stage(unsigned of) const { return (Stage*)(shared_memory + (of & 1) * STAGE_BYTES); }
  __device__ __forceinline__ unsigned count(unsigned of) const { return min(stage(of)->count, MOST_STAGED); }
  static __device__ __forceinline__ uint64* told(unsigned of) {  // in a cluster
    __shared__ uint64 by[2][CLUSTERED ? 32 : 1];
    return by[of & 1];
  }

  static __device__ __forceinline__ unsigned& heard(unsigned of) {  // messages of vertices that asked
    __shared__ unsigned by[2];
    return by[of & 1];
  }

  __device__ __forceinline__ void empty(unsigned of) const {
    stage(of)->count = stage(of)->edges = stage(of)->flags = stage(of)->pieces = 0;
    if (LEVELS_ASK) heard(of) = 0;
  }

  // By all threads: nothing is found yet.
  __device__ __forceinline__ void open() const {
    if (threadIdx.x == 0) {
      empty(0);
      empty(1);
    }
    if (CLUSTERED && threadIdx.x < 32) told(0)[threadIdx.x] = told(1)[threadIdx.x] = 0;
    __syncthreads();
  }

  // A level is for others.
  __device__ __forceinline__ void leave(unsigned of) const { atomicOr(&stage(of)->flags, LEAVES); }

  __device__ __forceinline__ void add(unsigned of, unsigned v, int64 first, int64 degree) const {
    Stage* found = stage(of);
    if (DIVIDED && degree > PIECE) {
      const unsigned pieces = ((unsigned)degree + PIECE - 1) / PIECE, at = atomicAdd(&found->count, pieces);
      atomicAdd(&found->pieces, pieces - 1);
      if (at + pieces <= MOST_STAGED) {
        atomicAdd(&found->edges, (unsigned)degree);
#pragma unroll 2
        for (unsigned i = 0; i < pieces; ++i) found->entry[at + i] = piece(i, v, first, (unsigned)degree);
        return;
      }
#pragma unroll 1
      for (unsigned i = 0; i < pieces; ++i) {
        const Entry entry = piece(i, v, first, (unsigned)degree);
        put(found, of, at + i, entry, entry.degree);
      }
      return;
    }
    unsigned counted = (unsigned)degree;
    if (!DIVIDED && degree > LEVEL_DEGREE) {  // too much for a block
      atomicAdd(sum(of), (uint64)degree);
      atomicOr(&found->flags, HUBS | BESIDE);
      counted = 0;
    }
    put(found, of, atomicAdd(&found->count, 1u), {v, (unsigned)degree, first}, counted);
  }

  static __device__ __forceinline__ Entry piece(unsigned i, unsigned v, int64 first, unsigned degree) {
    return {v, min((unsigned)PIECE, degree - i * PIECE), first + i * PIECE};
  }

  __device__ __forceinline__ void put(Stage* found, unsigned of, unsigned at, const Entry& entry, unsigned edges) const {
    if (at < MOST_STAGED) {
      found->entry[at] = entry;
      atomicAdd(&found->edges, edges);
    } else {
      atomicOr(&found->flags, BESIDE);
      beside(of)[entries_of(atomicAdd(sum(of), (1ULL << FOUND_SHIFT) + edges))] = entry;
    }
  }

  // By a whole warp: so many messages each thread has taken, where vertices asked.
  __device__ __forceinline__ void hear(unsigned of, unsigned messages) const {
    const unsigned all = __reduce_add_sync(ALL_LANES, messages);
    if (lane_id() == 0 && all) atomicAdd(&heard(of), all);
  }

  // By one thread of a block: what it has divided and heard, to the warp that writes the trace.
  __device__ __forceinline__ void tell_recorder(unsigned of) const {
    if (LEVELS_ASK && heard(of)) atomicAdd(control->level_heard + of % 4, heard(of));
    if (DIVIDED && stage(of)->pieces) atomicAdd(control->level_leave + of % 3, stage(of)->pieces << PIECES_SHIFT);
  }

  // Vertices and edges of what was found, by that warp.
  __device__ __forceinline__ uint64 without_pieces(unsigned of, uint64 found) const {
    if (!DIVIDED) return found;
    return found - ((uint64)(*(volatile unsigned*)&control->level_leave[of % 3] >> PIECES_SHIFT) << FOUND_SHIFT);
  }

  // What the block has found, to the others of a cluster, which look into its stage.
  __device__ __forceinline__ void tell_cluster(unsigned of, unsigned blocks) const {
    __syncthreads();
    const Stage* found = stage(of);
    if (threadIdx.x < blocks)
      on_block(told(of), threadIdx.x)[blockIdx.x] =
          (uint64)found->flags << FLAGS_SHIFT | (uint64)count(of) << FOUND_SHIFT | found->edges;
    if (threadIdx.x == 0) empty(of + 1);
  }
};

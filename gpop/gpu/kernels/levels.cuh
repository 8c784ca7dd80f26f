// Strategy levels: iterations with few active vertices, one barrier of the grid each.
//
// Where a level has little to do, its barriers and the plan of the next one take the time. Here whoever activates a
// vertex appends it to the next frontier at once: two lists and two arrays of bits are used in turns, `list` and
// `frontier_bits` for the first level. An entry has where the edges of its vertex begin, so that a level waits for its
// entry, the neighbours, their cells and no more. Blocks collect what they find and reserve room for all of it
// together. Nobody plans: all blocks read the totals of the next level behind the barrier and decide alike; one
// warp, which has no edges, writes the trace of the level before and asks the model meanwhile. A tree is
// asked by all of them. A level waits for its slowest warp, so a block's warps share its long lists (long_lists.cuh); a
// vertex that is too much for a block, LEVEL_DEGREE, is left to another strategy with its level.
//
// One cluster of blocks (cluster.cuh) has another way between two levels: what a block has found stays in its shared
// memory, where the others read it, and each tells all others how much that is. What finds no room there, and what the
// first level begins with, lies where it does without clusters.
//
// For runs whose messages are computed when they are delivered (sent_by), swapped (swap.cuh), with a filterFunc that
// may be called when a vertex becomes active, if there is one: it says True, whatever was gathered.
// Bytes: 16 per active vertex, 4 [+ weight] and a random access per edge. Compare: the queue in perf/gpu_baselines.cu.
#include "cluster.cuh"
#include "level_record.cuh"
#include "long_lists.cuh"
#include "meet.cuh"

// To L2, for whoever reads it later; nobody waits.
__device__ __forceinline__ void prefetch(const void* at) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

struct Entry {  // as it lies in Space.entries
  unsigned vertex, degree;
  int64 first;
};

struct Stage {  // what a block has found for the next level
  unsigned count, edges, flags, pad;
  Entry entry[1];
};

// Flags of a stage: the level is to be left to others; more of it, or that it is, stands in Control.
enum : unsigned { LEAVES = 1, BESIDE = 2 };
const int FLAGS_SHIFT = 62;  // of what a block tells the others: flags, vertices, edges in 32 bits
const unsigned MOST_TOLD = (1u << (FLAGS_SHIFT - FOUND_SHIFT)) - 1;

struct Level {  // what a block is told of one by its first thread
  uint64 found;
  int64 visited;  // vertices of all earlier frontiers (HAS_TREE)
  unsigned most;
  int way;
  bool stays;
};

template <bool CLUSTERED>
struct LevelsOf {
  static constexpr unsigned STAGE_BYTES = CLUSTERED ? SHARED_BYTES / 32 * 16 : SHARED_BYTES;
  static constexpr unsigned MOST_STAGED = STAGE_BYTES / sizeof(Entry) - 1;

  Team& team;
  State& state;
  const Graph& graph;
  const Space& space;
  Control* control;
  unsigned level, size;  // since the first of this run of levels; its entries
  unsigned staged;       // of those, in shared memory
  int before;            // those of the blocks before the one that has the number of this lane

  __device__ __forceinline__ LevelsOf(Team& team, State& state, const Graph& graph, const Space& space, Control* control)
      : team(team), state(state), graph(graph), space(space), control(control), level(0), size(0), staged(0), before(0) {}

  __device__ __forceinline__ Entry* entries(unsigned of) const {
    return (Entry*)space.entries + (of & 1) * min((int64)LEVEL_EDGES, graph.n);
  }
  __device__ __forceinline__ unsigned* bits(unsigned of) const { return of & 1 ? space.active_bits : space.frontier_bits; }
  __device__ __forceinline__ Stage* stage(unsigned of) const {
    return (Stage*)(shared_memory + (CLUSTERED ? (of & 1) * STAGE_BYTES : 0));
  }
  static __device__ __forceinline__ uint64* told(unsigned of) {
    __shared__ uint64 by[2][CLUSTERED ? 32 : 1];
    return by[of & 1];
  }
  __device__ __forceinline__ uint64* sum() const { return (uint64*)control->level_found + (level + 1) % 3; }
  __device__ __forceinline__ bool recorder() const {
    return blockIdx.x == (team.alone ? 0 : team.blocks - 1) && threadIdx.x == blockDim.x - 32;
  }

  // The next level is for others.
  __device__ __forceinline__ void leave_next() const {
    if (CLUSTERED)
      atomicOr(&stage(level + 1)->flags, LEAVES);
    else
      control->level_leave[(level + 1) % 3] = 1;
  }

  // The list becomes the entries of level 0; plan has set its totals, and the next two to nothing.
  __device__ __forceinline__ void enter() {
    for (int64 i = team.rank(); i < control->head.list_size; i += team.size()) {
      const unsigned v = space.list[i];
      entries(0)[i] = Entry{v, (unsigned)degree_of(graph, v), graph.indptr[v]};
    }
    if (!CLUSTERED) return;
    if (threadIdx.x < 32) {
      told(0)[threadIdx.x] = threadIdx.x < team.blocks ? (uint64)BESIDE << FLAGS_SHIFT : 0;
      told(1)[threadIdx.x] = 0;
    }
    if (threadIdx.x == 0) empty(stage(1));
    __syncthreads();
  }

  __device__ __forceinline__ void empty(Stage* stage) const { stage->count = stage->edges = stage->flags = 0; }

  // One thread, behind the barrier: whether the level that begins is for this strategy. `most`: so many are.
  __device__ __forceinline__ bool stays(Level& now, bool leaves) const {
    const int64 size = entries_of(now.found), edges = edges_of(now.found);
    if (size == 0 || level >= now.most || leaves) return false;
    if (CLUSTERED) return edges <= CLUSTER_EDGES && size <= CLUSTER_EDGES;
    if (HAS_TREE) {
      const int way = way_of(space, size, now.visited, edges, now.way);
      if (!by_model(way) && way != MODE_SC) return false;
      now.way = way;
    }
    if (team.alone) return edges <= ALONE_EDGES && size <= ALONE_VERTICES;
    return edges <= LEVEL_EDGES && (edges > ALONE_EDGES / 4 || size > ALONE_VERTICES / 4);
  }

  // Everybody waits, then knows what there is to do. In a cluster the threads of each block have met.
  __device__ __forceinline__ void end_level(Level& now) {
    if (CLUSTERED) return end_level_of_cluster(now);
    __syncthreads();
    if (threadIdx.x == 0) {
      empty(stage(0));
      meet(team);
      const bool leaves = *(volatile unsigned*)&control->level_leave[level % 3];  // on its way with the next one
      now.found = *(volatile uint64*)&control->level_found[level % 3];
      if (HAS_TREE && level) now.visited += size;
      now.stays = level == 0 || stays(now, leaves);
    }
    __syncthreads();
    size = (unsigned)entries_of(now.found);
  }

  // The same in a cluster, by every thread, which has a `now` of its own.
  __device__ __forceinline__ void end_level_of_cluster(Level& now) {
    meet_other_blocks();
    const uint64 own = told(level)[lane_id()];
    const unsigned count = (unsigned)entries_of(own) & MOST_TOLD, upto = warp_inclusive_sum(count);
    before = (int)(upto - count);
    staged = __shfl_sync(ALL_LANES, upto, 31);
    now.found = ((uint64)staged << FOUND_SHIFT) + __reduce_add_sync(ALL_LANES, (unsigned)own);
    bool leaves = false;
    if (__any_sync(ALL_LANES, (own >> FLAGS_SHIFT) != 0)) {
      const unsigned flags = __reduce_or_sync(ALL_LANES, (unsigned)(own >> FLAGS_SHIFT));
      leaves = flags & LEAVES;
      if (flags & BESIDE) {
        leaves |= *(volatile unsigned*)&control->level_leave[level % 3] != 0;
        now.found += *(volatile uint64*)&control->level_found[level % 3];
      }
    }
    now.stays = level == 0 || stays(now, leaves);
    size = (unsigned)entries_of(now.found);
  }

  __device__ __forceinline__ void add(unsigned v, int64 first, int64 degree) {
    Stage* found = stage(level + 1);
    unsigned counted = (unsigned)degree;
    if (degree > LEVEL_DEGREE) {  // too much for a block: pieces of it are for another strategy
      atomicAdd(sum(), (uint64)degree);
      leave_next();
      if (CLUSTERED) atomicOr(&found->flags, BESIDE);
      counted = 0;
    }
    const Entry entry = {v, (unsigned)degree, first};
    const unsigned at = atomicAdd(&found->count, 1u);
    if (at < MOST_STAGED) {
      found->entry[at] = entry;
      atomicAdd(&found->edges, counted);
    } else {
      if (CLUSTERED) atomicOr(&found->flags, BESIDE);
      entries(level + 1)[entries_of(atomicAdd(sum(), (1ULL << FOUND_SHIFT) + counted))] = entry;
    }
  }

  __device__ __forceinline__ void relax(int64 edge, unsigned source) {
    const unsigned v = graph.indices[edge];
    const int64 first = graph.indptr[v], end = graph.indptr[v + 1];  // on their way while the cell is swapped
#if WEIGHTED
    const Gathered x = weighted(state, scatterFunc(state, source), graph.weights[edge]);
#else
    const Gathered x = scatterFunc(state, source);
#endif
    bool ends = false;
    if (!swap_gather(state, x, v, graph, space, control, &ends)) return;
#if PRIORITISED
#if SWAPPABLE
    Copy now(state, cell_of(load_cell(&written_cell(state, v))));  // past L1, which has not heard of the swap
#else
    State& now = state;
#endif
    if (!joins(v, now, space, control)) return;
#endif
    unsigned *word = bits(level + 1) + (v >> 5), bit = 1u << (v & 31);
    if (ends) atomicOr(word, bit);  // nobody waits for it: a search saves the round trip of half a microsecond
    else if (atomicOr(word, bit) & bit) return;
    if (TRACK) set_bit(space.touched_bits, v);
    prefetch(graph.indices + first);  // read by the next level, which waits for the slowest of its lines
#if WEIGHTED
    prefetch(graph.weights + first);
#endif
    filterFunc(state, v);
    add(v, first, end - first);
  }

  // The i-th entry of this level if it is `wanted`; in a cluster `block` has it, and the whole warp asks.
  __device__ __forceinline__ Entry entry(unsigned i, bool wanted, int block) const {
    Entry own = {};
    if (CLUSTERED) {
      const unsigned at = i - (unsigned)__shfl_sync(ALL_LANES, before, block);
      if (wanted) own = i < staged ? on_block(stage(level)->entry, block)[at] : entries(level)[i - staged];
    } else if (wanted) {
      own = entries(level)[i];
    }
    return own;
  }

  __device__ __forceinline__ void walk() {
    const unsigned walkers = max(1u, team.warps() - 1);  // the last one is the recorder's
    const unsigned tile = min(32u, (size + walkers - 1) / walkers);
    unsigned i = team.warp() < walkers ? team.warp() * tile : size;
    walk_together(
        [&](unsigned& v, int64& first, int& degree) {
          if (i >= size) return false;
          const unsigned mine = i + lane_id();
          const bool wanted = lane_id() < tile && mine < size;
          const Entry own = entry(mine, wanted, CLUSTERED ? owner_of((int)mine, before) : 0);
          if (wanted) bits(level)[own.vertex >> 5] = 0;  // all of a word are in this list
          v = own.vertex, first = own.first, degree = (int)own.degree;
          i += walkers * tile;
          return true;
        },
        [&](int64 edge, unsigned source) { relax(edge, source); });
  }

  // What the block has found to the entries of the next level; in a cluster all others are told how much it is.
  __device__ __forceinline__ void unload() {
    Stage* found = stage(level + 1);
    __shared__ int64 first;
    __syncthreads();
    const unsigned count = min(found->count, MOST_STAGED);
    if (CLUSTERED) {
      if (threadIdx.x < team.blocks)
        on_block(told(level + 1), threadIdx.x)[blockIdx.x] =
            (uint64)found->flags << FLAGS_SHIFT | (uint64)count << FOUND_SHIFT | found->edges;
      if (threadIdx.x == 0) empty(stage(level));
      return;
    }
    if (count == 0) return;
    if (threadIdx.x == 0) first = entries_of(atomicAdd(sum(), ((uint64)count << FOUND_SHIFT) + found->edges));
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) entries(level + 1)[first + i] = found->entry[i];
  }

  __device__ __forceinline__ void put_back(const Entry& entry) const {
    if (level & 1) {
      space.active_bits[entry.vertex >> 5] = 0;
      atomicOr(space.frontier_bits + (entry.vertex >> 5), 1u << (entry.vertex & 31));
    }
    append(entry.vertex, entry.degree, true, space, control);
    atomicAdd(space.active_vertices + partition_of(entry.vertex), 1u);
    atomicAdd(space.active_edges + partition_of(entry.vertex), (uint64)entry.degree);
  }

  // The entries that nobody has looked at become the list, with bits and counts, as plan wants to find them.
  __device__ __forceinline__ void leave() {
    for (unsigned i = team.rank(); i < size - staged; i += team.size()) put_back(entries(level)[i]);
    if (!CLUSTERED) return;
    const unsigned own = (unsigned)entries_of(told(level)[blockIdx.x]) & MOST_TOLD;
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) put_back(stage(level)->entry[i]);
  }

  // Levels as long as few vertices are active.
  __device__ __forceinline__ void run() {
    __shared__ Level shared;
    __shared__ Record record;
    Level own;
    Level& now = CLUSTERED ? own : shared;
    const Control::Head& head = control->head;
    const int64 begin = head.iteration;
    if (CLUSTERED || threadIdx.x == 0) {
      now.most = (unsigned)min(head.limit - begin, head.row_limit - head.rows);
      now.visited = head.visited;
      now.way = head.way;
    }
    if (recorder()) record.begin(control, (double)graph.n, (double)graph.m, (double)graph.k);
    enter();
    end_level(now);
    while (now.stays) {
      if (recorder() && record.level(level, now.found, !HAS_TREE || now.way == AUTO)) leave_next();
      ADVANCE(state, begin + level);
      walk();
      unload();
      level += 1;
      end_level(now);
    }
    leave();
    if (recorder()) record.end(level, now.found, now.visited, now.way);
  }
};

struct Levels : LevelsOf<false> {
  using LevelsOf<false>::LevelsOf;
};

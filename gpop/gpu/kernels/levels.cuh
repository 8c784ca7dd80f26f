// Strategy levels: iterations with few active vertices, one barrier of the grid each.
//
// Where a level has little to do, its barriers and the plan of the next one take the time. Here whoever activates a
// vertex appends it to the next frontier at once: two lists and two arrays of bits are used in turns, `list` and
// `frontier_bits` for the first level. An entry has where the edges of its vertex begin, so that a level waits for its
// entry, the neighbours, their cells and no more. Blocks collect what they find, and tell each other how much that is
// (muster.cuh). Nobody plans: all of them know the totals of the next level behind the barrier and decide alike; one
// warp, which has no edges, writes the trace of the level before and asks the model meanwhile. A tree is
// asked by all of them. A level waits for its slowest warp, so a block's warps share its long lists (long_lists.cuh); a
// vertex that is too much for a block, LEVEL_DEGREE, is left to another strategy with its level. While a level is that of
// a few vertices block 0 goes on by itself, and the others wait for what comes of it (SOLO). A run that the host begins
// with one vertex begins here, and one in which nothing is active any more ends here: nobody loads, and nobody plans.
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
#include "muster.cuh"

// To L2, for whoever reads it later; nobody waits.
__device__ __forceinline__ void prefetch(const void* at) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

struct Stage {  // what a block has found for the next level
  unsigned count, edges, flags, pad;
  Entry entry[1];
};

// Flags of a stage: the level is to be left to others; more of it, or that it is, stands in Control.
enum : unsigned { LEAVES = 1, BESIDE = 2 };
const int FLAGS_SHIFT = 62;  // of what a block of a cluster tells the others: flags, vertices, edges in 32 bits
const unsigned MOST_TOLD = (1u << (FLAGS_SHIFT - FOUND_SHIFT)) - 1;

struct Level {  // what every thread knows of one
  uint64 found;
  int64 visited;  // vertices of all earlier frontiers (HAS_TREE)
  unsigned most;
  int way;
  bool stays;
};

template <bool CLUSTERED>
struct LevelsOf {
  static constexpr unsigned STAGE_BYTES = SHARED_BYTES / 32 * 16;
  static constexpr unsigned MOST_STAGED = STAGE_BYTES / sizeof(Entry) - 1;

  Team& team;
  State& state;
  const Graph& graph;
  const Space& space;
  Control* control;
  unsigned level, size;  // since the first of this run of levels; its entries
  unsigned staged;       // of those, that are not beside
  int before;            // in a cluster: those of the blocks before the one that has the number of this lane
  bool own;              // the entries are in the stage of this block, as far as it has to know

  __device__ __forceinline__ LevelsOf(Team& team, State& state, const Graph& graph, const Space& space, Control* control)
      : team(team), state(state), graph(graph), space(space), control(control), level(0), size(0), staged(0), before(0), own(false) {}

  // Lists of two levels, and what lies beside them.
  __device__ __forceinline__ Entry* list(unsigned of) const {
    return (Entry*)space.entries + (of & 1) * min((int64)LEVEL_EDGES, graph.n);
  }
  __device__ __forceinline__ Entry* beside(unsigned of) const { return list(of) + 2 * min((int64)LEVEL_EDGES, graph.n); }
  __device__ __forceinline__ unsigned* bits(unsigned of) const { return of & 1 ? space.active_bits : space.frontier_bits; }
  __device__ __forceinline__ Stage* stage(unsigned of) const { return (Stage*)(shared_memory + (of & 1) * STAGE_BYTES); }
  static __device__ __forceinline__ uint64* told(unsigned of) {  // in a cluster
    __shared__ uint64 by[2][CLUSTERED ? 32 : 1];
    return by[of & 1];
  }
  __device__ __forceinline__ uint64* sum(unsigned of) const { return (uint64*)control->level_found + of % 3; }
  __device__ __forceinline__ bool recorder() const { return blockIdx.x == 0 && threadIdx.x == blockDim.x - 32; }

  // The next level is for others.
  __device__ __forceinline__ void leave_next() const { atomicOr(&stage(level + 1)->flags, LEAVES); }

  // The list becomes the entries of level 0; plan has set its totals, and the next two to nothing.
  __device__ __forceinline__ void enter() {
    for (int64 i = team.rank(); i < control->head.list_size; i += team.size()) {
      const unsigned v = space.list[i];
      beside(0)[i] = Entry{v, (unsigned)degree_of(graph, v), graph.indptr[v]};
    }
    open(BESIDE);
  }

  // The vertex with which the host has the run begin is level 0, to every block an entry of its own.
  __device__ __forceinline__ void set_out(Level& now) {
    const unsigned v = *(const unsigned*)control->head.sources;
    const int64 first = graph.indptr[v], edges = graph.indptr[v + 1] - first;
    if (TRACK && team.leader()) set_bit(space.touched_bits, v);
    if (threadIdx.x == 0) stage(0)->entry[0] = Entry{v, (unsigned)edges, first};
    open(0);
    if (CLUSTERED) meet_other_blocks();  // before anybody tells them anything
    now.found = (1ULL << FOUND_SHIFT) + edges;
    now.stays = own = true;
    size = staged = 1;
  }

  // Stages are empty; `flags` of level 0.
  __device__ __forceinline__ void open(unsigned flags) {
    if (threadIdx.x == 0) {
      empty(stage(0));
      empty(stage(1));
      stage(0)->flags = flags;
    }
    if (CLUSTERED) {
      if (threadIdx.x < 32) {
        told(0)[threadIdx.x] = threadIdx.x < team.blocks ? (uint64)flags << FLAGS_SHIFT : 0;
        told(1)[threadIdx.x] = 0;
      }
    }
    __syncthreads();
  }

  __device__ __forceinline__ void empty(Stage* stage) const { stage->count = stage->edges = stage->flags = 0; }

  // Behind the barrier: whether the level that begins is for this strategy. `most`: so many are.
  __device__ __forceinline__ bool stays(Level& now, bool leaves) const {
    const int64 size = entries_of(now.found), edges = edges_of(now.found);
    if (size == 0 || level >= now.most || leaves) return false;
    if (CLUSTERED) return edges <= CLUSTER_EDGES && size <= CLUSTER_EDGES;
    if (HAS_TREE) {
      __shared__ int way;
      __syncthreads();
      if (threadIdx.x == 0) way = way_of(space, size, now.visited, edges, now.way);
      __syncthreads();
      if (!by_model(way) && way != MODE_SC) return false;
      now.way = way;
    }
    if (!SOLO && team.alone) return is_little(now);
    return edges <= LEVEL_EDGES && (SOLO || edges > ALONE_EDGES / 4 || size > ALONE_VERTICES / 4);
  }

  // Not worth a barrier of the grid.
  __device__ __forceinline__ bool is_little(const Level& now) const {
    return edges_of(now.found) <= ALONE_EDGES && entries_of(now.found) <= ALONE_VERTICES;
  }

  // What is known of the level that begins, but for what lies beside.
  __device__ __forceinline__ void take_up(Level& now, uint64 found, unsigned flags) {
    staged = (unsigned)entries_of(found);
    now.found = found;
    if (flags & BESIDE) now.found += *(volatile uint64*)sum(level);
    if (HAS_TREE && level) now.visited += size;
    now.stays = level == 0 || stays(now, flags & LEAVES);
    size = (unsigned)entries_of(now.found);
  }

  // Everybody waits, then knows what there is to do. `rejoins`: block 0 has been some levels ahead of the others.
  __device__ __forceinline__ void end_level(Level& now, bool rejoins = false) {
    if (CLUSTERED) return end_level_of_cluster(now);
    if (team.by_itself()) return end_level_of_block(now);
    __shared__ Mustered known;
    __shared__ unsigned reached;
    const Stage* found = stage(level);
    __syncthreads();
    const unsigned count = min(found->count, MOST_STAGED);
    if (threadIdx.x == 0) {
      const unsigned edges = min(found->edges, most_told(team));
      if (edges < found->edges) atomicAdd(sum(level), (uint64)(found->edges - edges));
      if (found->flags & LEAVES) control->level_leave[level % 3] = 1;
      if (rejoins && blockIdx.x == 0) control->level_reached = level;
      known = arrive(team, count, edges, found->flags != 0 || edges < found->edges);
    }
    if (count) {
      __syncthreads();
      Entry* room = list(level) + known.vertices();
      for (unsigned i = threadIdx.x; i < count; i += blockDim.x) hand_in(found->entry[i], room + i);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      empty(stage(0));
      empty(stage(1));
      known = wait_for_all(team);
      if (rejoins) reached = (unsigned)*(volatile int64*)&control->level_reached;
    }
    __syncthreads();
    if (rejoins) level = reached;
    own = false;
    take_up(now, known.found(), known.flagged() ? BESIDE | (*(volatile unsigned*)&control->level_leave[level % 3] ? LEAVES : 0) : 0);
  }

  // The same of one block, which keeps what it has found where it is.
  __device__ __forceinline__ void end_level_of_block(Level& now) {
    if (threadIdx.x == 0) empty(stage(level + 1));  // nobody looks at more than entries there
    __syncthreads();
    const Stage* found = stage(level);
    own = true;
    take_up(now, (uint64)min(found->count, MOST_STAGED) << FOUND_SHIFT | found->edges, found->flags);
  }

  // The same in a cluster. The threads of each block have met.
  __device__ __forceinline__ void end_level_of_cluster(Level& now) {
    meet_other_blocks();
    const uint64 word = told(level)[lane_id()];
    const unsigned count = (unsigned)entries_of(word) & MOST_TOLD, upto = warp_inclusive_sum(count);
    before = (int)(upto - count);
    const uint64 vertices = __shfl_sync(ALL_LANES, upto, 31);
    unsigned flags = 0;
    if (__any_sync(ALL_LANES, (word >> FLAGS_SHIFT) != 0)) flags = __reduce_or_sync(ALL_LANES, (unsigned)(word >> FLAGS_SHIFT));
    own = false;
    take_up(now, (vertices << FOUND_SHIFT) + __reduce_add_sync(ALL_LANES, (unsigned)word), flags);
  }

  __device__ __forceinline__ void add(unsigned v, int64 first, int64 degree) {
    Stage* found = stage(level + 1);
    unsigned counted = (unsigned)degree;
    if (degree > LEVEL_DEGREE) {  // too much for a block: pieces of it are for another strategy
      atomicAdd(sum(level + 1), (uint64)degree);
      atomicOr(&found->flags, LEAVES | BESIDE);
      counted = 0;
    }
    const Entry entry = {v, (unsigned)degree, first};
    const unsigned at = atomicAdd(&found->count, 1u);
    if (at < MOST_STAGED) {
      found->entry[at] = entry;
      atomicAdd(&found->edges, counted);
    } else {
      atomicOr(&found->flags, BESIDE);
      beside(level + 1)[entries_of(atomicAdd(sum(level + 1), (1ULL << FOUND_SHIFT) + counted))] = entry;
    }
  }

  __device__ __forceinline__ void relax(int64 edge, unsigned source) {
    const unsigned v = graph.indices[edge];
    int64 first, end;
    const auto ahead = [&] {  // on their way while the cell is swapped
      first = graph.indptr[v];
      end = graph.indptr[v + 1];
    };
#if WEIGHTED
    const Gathered x = weighted(state, scatterFunc(state, source), graph.weights[edge]);
#else
    const Gathered x = scatterFunc(state, source);
#endif
    bool ends = false;
    if (!swap_gather(state, x, v, graph, space, control, &ends, ahead)) return;
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
    const unsigned earlier = CLUSTERED ? (unsigned)__shfl_sync(ALL_LANES, before, block) : 0;
    if (!wanted) return Entry{};
    if (i >= staged) return beside(level)[i - staged];
    if (own) return stage(level)->entry[i];
    if (CLUSTERED) return on_block(stage(level)->entry, block)[i - earlier];
    return take_out(list(level) + i);
  }

  __device__ __forceinline__ void walk() {
    const unsigned walkers = max(1u, team.warps() - 1);  // the last one is the recorder's, of block 0
    const unsigned tile = min(32u, (size + walkers - 1) / walkers);
    const unsigned warp = team.alone ? threadIdx.x >> 5 : (threadIdx.x >> 5) * team.blocks + team.blocks - 1 - blockIdx.x;
    unsigned i = warp < walkers ? warp * tile : size;
    walk_together(
        graph.longest > LONG_LIST,
        [&](unsigned& v, int64& first, int& degree) {
          if (i >= size) return false;
          const unsigned mine = i + lane_id();
          const bool wanted = lane_id() < tile && mine < size;
          const Entry found = entry(mine, wanted, CLUSTERED ? owner_of((int)mine, before) : 0);
          if (wanted) bits(level)[found.vertex >> 5] = 0;  // all of a word are in this list
          v = found.vertex, first = found.first, degree = (int)found.degree;
          i += walkers * tile;
          return true;
        },
        [&](int64 edge, unsigned source) { relax(edge, source); });
  }

  // What the block has found, to the others of a cluster, which look into its stage.
  __device__ __forceinline__ void tell_cluster() {
    const Stage* found = stage(level);
    __syncthreads();
    if (threadIdx.x < team.blocks)
      on_block(told(level), threadIdx.x)[blockIdx.x] =
          (uint64)found->flags << FLAGS_SHIFT | (uint64)min(found->count, MOST_STAGED) << FOUND_SHIFT | found->edges;
    if (threadIdx.x == 0) empty(stage(level + 1));
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
    for (unsigned i = team.rank(); i < size - staged; i += team.size()) put_back(beside(level)[i]);
    if (!CLUSTERED && !own) {
      for (unsigned i = team.rank(); i < staged; i += team.size()) put_back(take_out(list(level) + i));
      return;
    }
    const unsigned count = own ? staged : (unsigned)entries_of(told(level)[blockIdx.x]) & MOST_TOLD;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) put_back(stage(level)->entry[i]);
  }

  // Levels as long as few vertices are active: of the list, or of the vertex with which a run `begins`. Whether the run
  // is over, which Control says then.
  __device__ __forceinline__ bool run(bool begins) {
    __shared__ Record record;
    Level now;
    const Control::Head& head = control->head;
    const int64 begin = head.iteration;
    now.most = (unsigned)min(head.limit - begin, head.row_limit - head.rows);
    now.visited = head.visited;
    now.way = head.way;
    if (begins) {
      set_out(now);
      if (recorder()) record.begin(control, (double)graph.n, (double)graph.m, (double)graph.k, now.found);
    } else {
      if (recorder()) record.begin(control, (double)graph.n, (double)graph.m, (double)graph.k, 0);
      enter();
      end_level(now);
    }
    while (now.stays) {
      const bool solo = SOLO && !CLUSTERED && !team.by_itself() && is_little(now);
      if (!solo || blockIdx.x == 0) {
        team.alone |= solo;
        do {
          if (recorder() && record.level(level, now.found, !HAS_TREE || now.way == AUTO)) leave_next();
          ADVANCE(state, begin + level);
          walk();
          level += 1;
          if (CLUSTERED) tell_cluster();
          end_level(now);
        } while (solo && now.stays && is_little(now));
        if (solo) team.alone = false;
      }
      if (solo) end_level(now, true);
    }
    if (!PRIORITISED && size == 0) {
      if (recorder()) record.close(level, now.visited, now.way);
      return true;
    }
    leave();
    if (recorder()) record.end(level, now.found, now.visited, now.way);
    return false;
  }
};

struct Levels : LevelsOf<false> {
  using LevelsOf<false>::LevelsOf;
};

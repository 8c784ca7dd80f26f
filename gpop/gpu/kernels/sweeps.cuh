// Strategy sweeps: the levels of a small graph, of which most look at all edges; one barrier of the grid each.
//
// Where a device has a thread for every few edges, to look whether their sources are active takes less time than to find
// the edges of those that are: all warps have as much to do, and nobody waits for a list or makes one. Who is active is a
// bit. Where few edges of many are (prefers_sweep) the words of these bits are walked, and the edges of the vertices in
// them; and while a level is that of a few vertices, block 0 does so by itself, until it has more (the others wait). A run
// that begins with one vertex begins here, with its edges, and one in which nothing is active any more ends here.
//
// Three arrays of bits are used in turns, `frontier_bits` for the first level: those that are read, those that are set, and
// those that a sweep has read, which are cleared while the next level is at work, when nobody looks at them.
// For runs as those of levels.cuh. Bytes: sweeps_bytes. Compare: bfs_edge and sssp_edge in perf/gpu_baselines.cu.
#include "level_edges.cuh"
#include "level_record.cuh"
#include "long_lists.cuh"
#include "muster.cuh"

const int EDGES_OF_LANE = 4;  // in a row: 16 bytes

struct Sweeps {
  struct Level {  // what every thread knows of one
    uint64 found;
    unsigned most;
    bool leaves, stays;
  };
  struct Found {  // by a block
    uint64 all;
    unsigned leaves;
  };

  Team& team;
  State& state;
  const Graph& graph;
  const Space& space;
  Control* control;
  unsigned level = 0, turn = 0;  // since the first of this run of levels; of a block's own barriers
  uint64 found = 0;              // by this thread
  bool swept = false;            // the level before was, and its bits are still there

  __device__ __forceinline__ unsigned* bits(unsigned of) const {
    of %= 3;
    return of == 0 ? space.frontier_bits : of == 1 ? space.active_bits : space.level_bits;
  }
  __device__ __forceinline__ int64 words() const { return (graph.n + 31) / 32; }
  static __device__ __forceinline__ Found& of_block(unsigned turn) {
    __shared__ Found turns[3];
    return turns[turn % 3];
  }

  __device__ __forceinline__ void reach(unsigned v, Gathered x, uint64 seen) {
    int64 first = 0, end = 0;
    const auto ahead = [&] {
      first = graph.indptr[v];
      end = graph.indptr[v + 1];
    };
    if (reaches(seen, x, v, bits(level + 1), state, graph, space, control, ahead)) found += (1ULL << FOUND_SHIFT) + (end - first);
  }

  __device__ __forceinline__ void relax(int64 edge, unsigned source) {
    const unsigned v = graph.indices[edge];
    const Message value = scatterFunc(state, source);
    reach(v, CARRIED(state, value, edge), seen_by(state, v));
  }

  // The edges of the vertex with which a run begins.
  __device__ __forceinline__ void set_out(int64 first, int64 end) {
    for (int64 e = first + 32LL * walker(team) + lane_id(); walker(team) < walkers_of(team) && e < end; e += 32LL * walkers_of(team))
      relax(e, *(const unsigned*)control->head.sources);
  }

  static __device__ __forceinline__ void load(const unsigned* from, int64 e, int64 m, unsigned (&to)[EDGES_OF_LANE]) {
    if (e + EDGES_OF_LANE <= m) {
      const uint4 four = *(const uint4*)(from + e);
      to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
      for (int j = 0; j < EDGES_OF_LANE; ++j) to[j] = e + j < m ? from[e + j] : 0;
    }
  }

  // All edges. What one leads to is asked for before any waits for a swap.
  __device__ __forceinline__ void sweep() {
    const unsigned* active = bits(level);
    const int64 step = 32LL * EDGES_OF_LANE * walkers_of(team);
    for (int64 e = EDGES_OF_LANE * (32LL * walker(team) + lane_id()); walker(team) < walkers_of(team) && e < graph.m; e += step) {
      unsigned source[EDGES_OF_LANE], v[EDGES_OF_LANE];
      bool sends[EDGES_OF_LANE], some = false;
      Message value[EDGES_OF_LANE];
      Gathered x[EDGES_OF_LANE];
      uint64 seen[EDGES_OF_LANE];
      load(graph.edge_source, e, graph.m, source);
#pragma unroll
      for (int j = 0; j < EDGES_OF_LANE; ++j) some |= sends[j] = e + j < graph.m && bit_of(active, source[j]);
      if (!some) continue;
      load(graph.indices, e, graph.m, v);
#pragma unroll
      for (int j = 0; j < EDGES_OF_LANE; ++j)
        if (sends[j]) value[j] = scatterFunc(state, source[j]);
#pragma unroll
      for (int j = 0; j < EDGES_OF_LANE; ++j)
        if (sends[j]) seen[j] = seen_by(state, v[j]);
#pragma unroll
      for (int j = 0; j < EDGES_OF_LANE; ++j)
        if (sends[j]) x[j] = CARRIED(state, value[j], e + j);
#pragma unroll
      for (int j = 0; j < EDGES_OF_LANE; ++j)
        if (sends[j]) reach(v[j], x[j], seen[j]);
    }
  }

  // The edges of the vertices that have a bit: a word for a warp, or for each of its lanes where there are many words.
  __device__ __forceinline__ void walk() {
    unsigned* active = bits(level);
    const bool by_lane = words() > 4LL * walkers_of(team);
    int64 word = by_lane ? 32LL * walker(team) + lane_id() : walker(team);
    const int64 step = by_lane ? 32LL * walkers_of(team) : walkers_of(team);
    unsigned left = 0;
    bool more = walker(team) < walkers_of(team);
    walk_together(
        graph.longest > LONG_LIST,
        [&](unsigned& v, int64& first, int& degree) {
          while (more && !__any_sync(ALL_LANES, left != 0)) {
            more = word - (by_lane ? lane_id() : 0) < words();
            left = more && word < words() ? active[word] : 0;
            __syncwarp();
            if (left && (by_lane || lane_id() == 0)) active[word] = 0;
            if (!by_lane) left = left >> lane_id() & 1;
            word += step;
          }
          if (!more) return false;
          const int64 base = 32 * (word - step) + (by_lane ? __ffs(left) - 1 : (int)lane_id());
          if (left) {
            v = (unsigned)base;
            first = graph.indptr[v];
            degree = (int)(graph.indptr[v + 1] - first);
          }
          left &= left - 1;
          return true;
        },
        [&](int64 edge, unsigned source) { relax(edge, source); });
  }

  __device__ __forceinline__ void clear_swept() const {
    if (swept)
      for (int64 w = team.rank(); w < words(); w += team.size()) bits(level + 2)[w] = 0;
  }

  // What the block has found for the level that begins.
  __device__ __forceinline__ void add_up(Level& now) {
    const unsigned mine = turn++;
    if (__any_sync(ALL_LANES, found != 0)) {
      const uint64 all = warp_sum(found);
      if (lane_id() == 0) atomicAdd(&of_block(mine).all, all);
    }
    found = 0;
    if (threadIdx.x == 0) of_block(mine + 1) = Found{0, 0};  // which all have read two barriers ago
    __syncthreads();
    now.found = of_block(mine).all;
    now.leaves = of_block(mine).leaves;
  }

  // All tell each other, and know the same. `here`: whether this block has something to tell.
  __device__ __forceinline__ void meet_all(Level& now, bool here, bool rejoins) {
    __shared__ Level known;
    __shared__ unsigned reached;
    if (rejoins) __syncthreads();  // what was known before is read
    if (threadIdx.x == 0) {
      const uint64 own = here ? now.found : 0;
      const unsigned edges = (unsigned)min((uint64)edges_of(own), (uint64)most_told(team));
      const bool beside = (uint64)edges_of(own) > edges, leaves = here && now.leaves;
      if (beside) atomicAdd((uint64*)control->level_found + level % 3, (uint64)edges_of(own) - edges);
      if (leaves) control->level_leave[level % 3] = 1;
      if (rejoins && blockIdx.x == 0) control->level_reached = level;
      arrive(team, (unsigned)entries_of(own), edges, beside || leaves);
      const Mustered all = wait_for_all(team);
      reached = rejoins ? (unsigned)*(volatile int64*)&control->level_reached : level;
      known.found = all.found();
      known.leaves = false;
      if (all.flagged()) {
        known.found += *(volatile uint64*)(control->level_found + reached % 3);
        known.leaves = *(volatile unsigned*)(control->level_leave + reached % 3) != 0;
      }
    }
    __syncthreads();
    level = reached;
    now.found = known.found;
    now.leaves = known.leaves;
  }

  __device__ __forceinline__ bool stays(const Level& now) const {
    return entries_of(now.found) != 0 && level < now.most && !now.leaves;
  }

  // The bits of the level that is left to others, where these look for them, with counts and no list.
  __device__ __forceinline__ void leave() const {
    for (int64 w = team.rank(); w < words(); w += team.size()) {
      const unsigned own = bits(level)[w];
      bits(level)[w] = bits(level + 1)[w] = bits(level + 2)[w] = 0;
      space.frontier_bits[w] = own;
      for (unsigned left = own; left; left &= left - 1) {
        const unsigned v = (unsigned)(32 * w) + __ffs(left) - 1;
        atomicAdd(space.active_vertices + partition_of(v), 1u);
        atomicAdd(space.active_edges + partition_of(v), (uint64)degree_of(graph, v));
      }
    }
  }

  // Levels until nothing is active, or the host is due: of the bits, or of the vertex with which a run `begins`. Whether the
  // run is over, which Control says then.
  __device__ __forceinline__ bool run(bool begins) {
    __shared__ Record record;
    const Control::Head& head = control->head;
    const int64 begin = head.iteration;
    Level now = {((uint64)head.frontier << FOUND_SHIFT) + (uint64)head.edges, 0, false, true};
    now.most = (unsigned)min(head.limit - begin, head.row_limit - head.rows);
    int64 first = 0, end = 0;
    if (begins) {
      const unsigned source = *(const unsigned*)head.sources;
      first = graph.indptr[source];
      end = graph.indptr[source + 1];
      now.found = (1ULL << FOUND_SHIFT) + (uint64)(end - first);
      if (TRACK && team.leader()) set_bit(space.touched_bits, source);
    }
    if (threadIdx.x == 0) of_block(0) = Found{0, 0};
    __syncthreads();
    if (is_recorder()) record.begin(control, (double)graph.n, (double)graph.m, (double)graph.k, begins ? now.found : 0);
    while (now.stays) {
      const bool solo = !team.by_itself() && is_little(now.found);
      if (!solo || blockIdx.x == 0) {
        team.alone |= solo;
        do {
          if (is_recorder() && record.level(level, now.found, false, false)) of_block(turn).leaves = 1;
          ADVANCE(state, begin + level);
          clear_swept();
          swept = (level || !begins) && !is_little(now.found) && model::prefers_sweep((double)edges_of(now.found), (double)graph.m);
          if (begins && level == 0)
            set_out(first, end);
          else if (swept)
            sweep();
          else
            walk();
          level += 1;
          add_up(now);
          if (!team.by_itself()) meet_all(now, true, false);
          now.stays = stays(now);
        } while (solo && now.stays && is_little(now.found));
        if (solo) team.alone = false;
      }
      if (!solo) continue;
      swept = false;
      meet_all(now, blockIdx.x == 0, true);
      now.stays = stays(now);
    }
    if (entries_of(now.found) == 0) {
      clear_swept();
      if (is_recorder()) record.close(level, head.visited, head.way);
      return true;
    }
    leave();
    if (is_recorder()) {
      record.end(level, now.found, head.visited, head.way);
      control->head.list_valid = 0;
    }
    return false;
  }
};

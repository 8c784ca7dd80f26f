// The trace of levels (levels.cuh), written by one warp that has no edges, while the others are at work.
//
// It asks the model meanwhile whether the next level is better left to vertices that ask. Its functions are calls, since
// what it knows is of no concern to the others' registers.

// Of vertices above and edges below, in a word (FOUND_SHIFT).
__device__ __forceinline__ int64 entries_of(uint64 found) { return (int64)(found >> FOUND_SHIFT); }
__device__ __forceinline__ int64 edges_of(uint64 found) { return (int64)(found & ((1ULL << FOUND_SHIFT) - 1)); }

enum Way : int { WALKED, SWEPT_ALL, ASKED };  // by the edges of its entries, all edges, or vertices that want messages

struct Level {  // what every thread knows of one
  uint64 found;
  int64 visited;  // vertices of all earlier frontiers (HAS_TREE)
  unsigned most;
  int way;
  bool stays, flagged;  // whether it is for this strategy; more of it stands in Control
};

// Not worth a barrier of the grid.
__device__ __forceinline__ bool is_little(uint64 found) {
  return edges_of(found) <= ALONE_EDGES && entries_of(found) <= ALONE_VERTICES;
}

// The last warp of block 0 has no edges: neighbouring numbers on different multiprocessors, and this one the highest.
__device__ __forceinline__ bool is_recorder() { return blockIdx.x == 0 && threadIdx.x == blockDim.x - 32; }
__device__ __forceinline__ unsigned walkers_of(const Team& team) { return max(1u, team.warps() - 1); }
__device__ __forceinline__ unsigned walker(const Team& team) {
  const unsigned own = threadIdx.x >> 5;
  return team.alone ? own : own * team.blocks + team.blocks - 1 - blockIdx.x;
}

struct Record {  // in shared memory
  Control* control;
  double* row;  // of the level that has begun last
  int64 needy, needy_edges, begun, deadline;
  double n, m, k, ratio;

  // `first`: the level with which the run begins, of which nobody has heard.
  __device__ __noinline__ void begin(Control* of, double vertices, double edges, double partitions, uint64 first) {
    control = of;
    Control::Head& head = control->head;
    if (first) head.started = head.begin_ns = now_ns();
    row = control->trace[head.rows];
    needy = head.needy - entries_of(first);
    needy_edges = head.needy_edges - edges_of(first);
    begun = head.begin_ns;
    deadline = head.started + head.slice_ns;
    n = vertices;
    m = edges;
    k = partitions;
    ratio = head.ratio;
  }

  // Before the level of this number.
  __device__ void end_row(int64 now, unsigned number) {
    row[GATHER_AT] = 1e-9 * (double)(now - begun);
    begun = now;
#if LEVELS_ASK
    if (row[MODES_AT + MODE_PULL] > 0) {
      volatile unsigned& heard = control->level_heard[number % 4];
      row[MESSAGES_AT] = (double)heard;
      heard = 0;
    }
#endif
  }

  // The trace of this level, but for its end; whether the next one is to be left to others.
  __device__ __noinline__ bool level(unsigned number, uint64 found, bool asks, Way way) {
    const int64 now = now_ns(), size = entries_of(found), edges = edges_of(found);
    if (number) {
      end_row(now, number);
      row += TRACE_COLUMNS;
      needy = max((int64)0, needy - size);
      needy_edges = max((int64)0, needy_edges - edges);
    }
    control->level_found[(number + 2) % 3] = 0;
    control->level_leave[(number + 2) % 3] = 0;
    const model::Part whole = {(double)size, (double)edges, n, m, 0, 0, (double)needy, (double)needy_edges};
    const double pushed = way == SWEPT_ALL ? model::edge_list_bytes(whole, LIVE_SIZES) : model::levels_bytes(whole, LIVE_SIZES);
    for (int column = 0; column < TRACE_COLUMNS; ++column) row[column] = 0;
    row[FRONTIER_AT] = (double)size;
    row[EDGES_AT] = (double)edges;
    row[MODES_AT + MODE_SC] = min((double)size, k);  // not divided: they lie in so many at most
    row[MESSAGES_AT] = (double)edges;
    row[BYTES_AT] = pushed;
    double asked;
    return now > deadline || (asks && prefers_asking(whole, pushed, ratio, asked));
  }

#if LEVELS_ASK
  // What of that is otherwise where vertices ask. A call of its own: the more registers one takes, the fewer are for those
  // who walk edges.
  __device__ __noinline__ void asks() {
    const model::Part whole = {row[FRONTIER_AT], row[EDGES_AT], n, m, 0, 0, (double)needy, (double)needy_edges};
    row[BYTES_AT] = model::bottom_up_bytes(whole, LIVE_SIZES);
    row[MODES_AT + MODE_SC] = 0;
    row[MODES_AT + MODE_PULL] = k;
  }
#endif

  // So many levels are over, `found` is left to others.
  __device__ __noinline__ void end(unsigned levels, uint64 found, int64 visited, int way) {
    Control::Head& head = end_rows(levels, visited, way);
    head.next_frontier = entries_of(found);
    head.next_edges = edges_of(found);
    head.needy = needy;
    head.needy_edges = needy_edges;
    head.fresh = 1;
  }

  // The same where nothing is active any more, and the run is over.
  __device__ __noinline__ void close(unsigned levels, int64 visited, int way) {
    Control::Head& head = end_rows(levels, visited, way);
    head.frontier = head.edges = head.list_size = 0;
    head.fresh = head.alone = 0;
    head.finished = head.stop = 1;
  }

  __device__ Control::Head& end_rows(unsigned levels, int64 visited, int way) {
    Control::Head& head = control->head;
    end_row(now_ns(), levels);
    head.visited = visited;
    head.way = way;
    head.iteration += levels;
    head.rows += levels;
    head.loads = 0;
    head.few = head.list_valid = 1;
    return head;
  }
};

// The trace of levels (levels.cuh), written by one warp that has no edges, while the others are at work.
//
// It asks the model meanwhile whether the next level is better left to vertices that ask. Its functions are calls, since
// what it knows is of no concern to the others' registers.

// Of vertices above and edges below, in a word (FOUND_SHIFT).
__device__ __forceinline__ int64 entries_of(uint64 found) { return (int64)(found >> FOUND_SHIFT); }
__device__ __forceinline__ int64 edges_of(uint64 found) { return (int64)(found & ((1ULL << FOUND_SHIFT) - 1)); }

struct Record {  // in shared memory
  Control* control;
  double* row;  // of the level that has begun last
  int64 needy, needy_edges, begun, deadline;
  double n, m, k, ratio;

  __device__ __noinline__ void begin(Control* of, double vertices, double edges, double partitions) {
    control = of;
    const Control::Head& head = control->head;
    row = control->trace[head.rows];
    needy = head.needy;
    needy_edges = head.needy_edges;
    begun = head.begin_ns;
    deadline = head.started + head.slice_ns;
    n = vertices;
    m = edges;
    k = partitions;
    ratio = head.ratio;
  }

  __device__ void end_row(int64 now) {
    row[GATHER_AT] = 1e-9 * (double)(now - begun);
    begun = now;
  }

  // The trace of this level, but for its end; whether the next one is to be left to others.
  __device__ __noinline__ bool level(unsigned number, uint64 found, bool asks) {
    const int64 now = now_ns(), size = entries_of(found), edges = edges_of(found);
    if (number) {
      end_row(now);
      row += TRACE_COLUMNS;
      needy = max((int64)0, needy - size);
      needy_edges = max((int64)0, needy_edges - edges);
    }
    control->level_found[(number + 2) % 3] = 0;
    control->level_leave[(number + 2) % 3] = 0;
    const model::Part whole = {(double)size, (double)edges, n, m, 0, 0, (double)needy, (double)needy_edges};
    const double pushed = model::levels_bytes(whole, LIVE_SIZES);
    for (int column = 0; column < TRACE_COLUMNS; ++column) row[column] = 0;
    row[FRONTIER_AT] = (double)size;
    row[EDGES_AT] = (double)edges;
    row[MODES_AT + MODE_SC] = min((double)size, k);  // not divided: they lie in so many at most
    row[MESSAGES_AT] = (double)edges;
    row[BYTES_AT] = pushed;
    double asked;
    return now > deadline || (asks && prefers_asking(whole, pushed, ratio, asked));
  }

  // So many levels are over, `found` is left to others.
  __device__ __noinline__ void end(unsigned levels, uint64 found, int64 visited, int way) {
    Control::Head& head = control->head;
    head.visited = visited;
    head.way = way;
    head.iteration += levels;
    head.rows += levels;
    end_row(now_ns());
    head.next_frontier = entries_of(found);
    head.next_edges = edges_of(found);
    head.needy = needy;
    head.needy_edges = needy_edges;
    head.fresh = head.list_valid = 1;
  }
};

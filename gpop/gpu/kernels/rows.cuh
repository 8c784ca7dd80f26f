// Strategy rows: vertices combine what their in-neighbours send, and an iteration is one phase with one barrier.
//
// For programs whose every vertex is active, which declare `combine`, and in which all messages are wanted. A row is
// the in-edges of a vertex; who walks it does all that the vertex has to do: initFunc, which could wait, since
// combined messages touch no field, gatherFunc, filterFunc, and what it sends in the next iteration, which goes to the
// other half of `vertex_value`. So values are scattered in a phase of their own in the first iteration of a launch only.
//
// Where every warp gets many rows, a thread has ROWS of them at once and fetches EDGES in-edges of each before it waits
// for any: what limits short rows is how many loads are on their way. Fewer rows have a lane each, or MANY_LANES if they
// are longer, so that all warps have some. Rows of more than LONG_ROW edges are dealt out to warps one by one, hubs to
// blocks: nobody waits for the longest row of 32. Which lane has which edge follows from the graph, so that sums are the
// same every time. Bytes per vertex: 8 (offset), its fields, 2 * sizeof(Message); per edge: 4 (source) [+ weight] and an
// access to the value, which grids find in the caches.
//
// An iteration of PageRank on an H200, us, with rows of one lane, two and four: .9 million edges 12.3, 12.3, 14; .4
// million 9.0, 8.3, 9.6; a road of .7 million 7.2, -, 13.

const int ROWS = 4, EDGES = 4;
const int MANY_LANES = 2;
const int SHORT = 4;  // edges that are one lane's, in the mean

struct Rows {
  static const bool LISTED = false;

  State& state;
  const Graph& graph;
  const Message* values;  // of this iteration
  Message* following;
  State next;  // the state as scatterFunc of the next iteration sees it
  bool unsettled;  // whether filterFunc wants it to go on, for any vertex
  Changes changes;

  __device__ __forceinline__ Rows(State& state, const Graph& graph, const Space& space, int64 iteration)
      : state(state), graph(graph), values(sent_in(iteration, graph, space)), following(sent_in(iteration + 1, graph, space)),
        next(state), unsettled(false) {
    ADVANCE(next, iteration + 1);
  }

  static __device__ __forceinline__ Message* sent_in(int64 iteration, const Graph& graph, const Space& space) {
    return space.vertex_value + (iteration & 1) * graph.n;
  }

  __device__ __forceinline__ Total heard(int64 edge, Message value) const {
#if WEIGHTED
    return (Total)weighted(state, value, graph.in_weights[edge]);
#else
    return (Total)value;
#endif
  }

  // What WIDTH lanes of the warp combine of a row's edges from `first` to before `end`: this one has the first of them
  // and each that is `step` further.
  template <int WIDTH>
  __device__ __forceinline__ Total share_of(int64 first, int64 end, int step) const {
    Total sum = identity<Total>();
    for (int64 e = first; e < end; e += EDGES * step) {
      unsigned source[EDGES];
#pragma unroll
      for (int i = 0; i < EDGES; ++i) source[i] = e + i * step < end ? graph.in_indices[e + i * step] : 0;
#pragma unroll
      for (int i = 0; i < EDGES; ++i)
        if (e + i * step < end) sum = merge(sum, heard(e + i * step, values[source[i]]));
    }
    for (int lanes = WIDTH / 2; lanes; lanes >>= 1) sum = merge(sum, __shfl_xor_sync(ALL_LANES, sum, lanes));
    return sum;
  }

  // All that is left to do for v, whose messages are combined.
  __device__ __forceinline__ void finish(unsigned v, Total sum, bool arrived) {
    initFunc(state, v);
    if (arrived) gatherFunc(state, (Gathered)sum, v);
    unsettled |= filterFunc(state, v);
    changes.add(state, v);
    following[v] = scatterFunc(next, v);
  }

  // By the whole block.
  __device__ void walk_hub(unsigned v) {
    __shared__ Total share[32];
    const Total own = share_of<32>(graph.in_indptr[v] + threadIdx.x, graph.in_indptr[v + 1], blockDim.x);
    __syncthreads();
    if (lane_id() == 0) share[threadIdx.x >> 5] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    Total sum = share[0];
    for (unsigned warp = 1; warp < blockDim.x >> 5; ++warp) sum = merge(sum, share[warp]);
    finish(v, sum, true);
  }

  // By the warp: long rows from the i-th on, each `step` further. A lane looks up one of 32 and finishes it, all at once;
  // in between are the loads of edges and values alone.
  __device__ __forceinline__ void walk_long(int64 i, int64 step) {
    for (; i < graph.longs; i += 32 * step) {
      const int64 own = i + lane_id() * step;
      const bool mine = own < graph.longs;
      const unsigned v = mine ? graph.long_vertex[own] : 0;
      const int64 first = mine ? graph.in_indptr[v] : 0, end = mine ? graph.in_indptr[v + 1] : 0;
      const int rows = __popc(__ballot_sync(ALL_LANES, mine));
      Total found = identity<Total>();
      for (int row = 0; row < rows; ++row) {
        const Total sum = share_of<32>(__shfl_sync(ALL_LANES, first, row) + lane_id(), __shfl_sync(ALL_LANES, end, row), 32);
        if (lane_id() == row) found = sum;
      }
      if (mine) finish(v, found, true);
    }
  }

  // By so many lanes each: rows from `first` on, those of a warp.
  template <int LANES>
  __device__ __forceinline__ void walk_few(int64 first) {
    const int64 v = first + lane_id() / LANES;
    const int64 begin = v < graph.n ? graph.in_indptr[v] : 0, end = v < graph.n ? graph.in_indptr[v + 1] : 0;
    const bool mine = v < graph.n && end - begin <= LONG_ROW;
    const Total sum = share_of<LANES>(begin + lane_id() % LANES, mine ? end : 0, LANES);
    if (mine && lane_id() % LANES == 0) finish((unsigned)v, sum, begin < end);
  }

  template <int LANES>
  __device__ __forceinline__ void walk_all_few(const Team& team) {
    const int64 together = 32 / LANES;
    for (int64 some = team.warps() - 1 - team.warp(); together * some < graph.n; some += team.warps())
      walk_few<LANES>(together * some);
  }

  // By a thread each: row `first + 32 * j + lane` is the j-th of a lane.
  __device__ __forceinline__ void walk_rows(int64 first) {
    const unsigned lane = lane_id();
    int64 begin[ROWS];
    int degree[ROWS], most = 0;
    Total sum[ROWS];
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
      const int64 v = first + 32 * j + lane;
      begin[j] = v < graph.n ? graph.in_indptr[v] : 0;
      degree[j] = v < graph.n ? (int)min(graph.in_indptr[v + 1] - begin[j], (int64)LONG_ROW + 1) : LONG_ROW + 1;
      sum[j] = identity<Total>();
      if (degree[j] <= LONG_ROW) most = max(most, degree[j]);
    }
    for (int done = 0; __any_sync(ALL_LANES, done < most); done += EDGES) {
      unsigned source[ROWS][EDGES];
      Message value[ROWS][EDGES];
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          source[j][i] = done + i < degree[j] && degree[j] <= LONG_ROW ? graph.in_indices[begin[j] + done + i] : 0;
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          value[j][i] = done + i < degree[j] && degree[j] <= LONG_ROW ? values[source[j][i]] : Message(0);
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          if (done + i < degree[j] && degree[j] <= LONG_ROW) sum[j] = merge(sum[j], heard(begin[j] + done + i, value[j][i]));
    }
#pragma unroll
    for (int j = 0; j < ROWS; ++j)
      if (degree[j] <= LONG_ROW) finish((unsigned)(first + 32 * j + lane), sum[j], degree[j] > 0);
  }

  // All rows of an iteration; whether filterFunc wants it to go on, for any vertex of this thread. Neighbouring rows on
  // one multiprocessor, where there are many: they share neighbours. Else warps with a long row have few others.
  static __device__ __forceinline__ bool walk(Team& team, State& state, const Graph& graph, const Space& space, int64 iteration) {
    Rows rows(state, graph, space, iteration);
    for (unsigned hub = blockIdx.x; hub < graph.hubs; hub += team.blocks) rows.walk_hub(graph.long_vertex[hub]);
    rows.walk_long(graph.hubs + team.warp(), team.warps());
    if (graph.n >= 32 * ROWS * (int64)team.warps()) {
      for (int64 tile = team.rank() >> 5; 32 * ROWS * tile < graph.n; tile += team.warps()) rows.walk_rows(32 * ROWS * tile);
    } else if (graph.m <= SHORT * graph.n) {
      rows.walk_all_few<1>(team);
    } else {
      rows.walk_all_few<MANY_LANES>(team);
    }
    rows.changes.tell(iteration, space);
    return rows.unsettled;
  }

  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    Message* values = sent_in(control->head.iteration, graph, space);
    for (int64 v = team.rank(); v < graph.n; v += team.size()) values[v] = scatterFunc(state, (unsigned)v);
  }

  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    const bool unsettled = walk(team, state, graph, space, control->head.iteration);
    if (__any_sync(ALL_LANES, unsettled) && lane_id() == 0) atomicAdd((uint64*)&control->head.next_frontier, 1ULL);
  }
};

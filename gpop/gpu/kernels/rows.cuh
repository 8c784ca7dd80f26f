// Strategy rows: vertices combine what their in-neighbours send, and an iteration is one phase with one barrier.
//
// For programs whose every vertex is active, which declare `combine`, and in which all messages are wanted. A row is
// the in-edges of a vertex; who walks it does all that the vertex has to do: initFunc, which could wait, since
// combined messages touch no field, gatherFunc, filterFunc, and what it sends in the next iteration, which goes to the
// other half of `vertex_value`. So values are scattered in a phase of their own in the first iteration of a launch only.
//
// A thread has ROWS rows at once and fetches EDGES in-edges of each before it waits for any: what limits short rows is
// how many loads are on their way. Rows of more than LONG edges are walked by the warp, hubs by a block. Which lane has
// which edge follows from the graph, so that sums are the same every time. Bytes per vertex: 8 (offset), its fields,
// 2 * sizeof(Message); per edge: 4 (source) [+ weight] and an access to the value, which grids find in the caches.

const int ROWS = 4, EDGES = 4;
const int LONG = 32;

struct Rows {
  static const bool LISTED = false;

  State& state;
  const Graph& graph;
  const Message* values;  // of this iteration
  Message* following;
  State next;  // the state as scatterFunc of the next iteration sees it
  int64 unsettled;
  Changes changes;

  __device__ __forceinline__ Rows(State& state, const Graph& graph, const Space& space, int64 iteration)
      : state(state), graph(graph), values(sent_in(iteration, graph, space)), following(sent_in(iteration + 1, graph, space)),
        next(state), unsettled(0) {
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

  // What `lanes` lanes combine, of which this is one, of a row's edges from `first` to before `end`.
  __device__ __forceinline__ Total share_of(int64 first, int64 end, int lane, int lanes) const {
    Total sum = identity<Total>();
    for (int64 e = first + lane; e < end; e += EDGES * lanes) {
      unsigned source[EDGES];
#pragma unroll
      for (int i = 0; i < EDGES; ++i) source[i] = e + i * lanes < end ? graph.in_indices[e + i * lanes] : 0;
#pragma unroll
      for (int i = 0; i < EDGES; ++i)
        if (e + i * lanes < end) sum = merge(sum, heard(e + i * lanes, values[source[i]]));
    }
    for (int step = 16; step; step >>= 1) sum = merge(sum, __shfl_xor_sync(ALL_LANES, sum, step));
    return sum;
  }

  // All that is left to do for v, whose messages are combined.
  __device__ __forceinline__ void finish(unsigned v, Total sum, bool arrived) {
    initFunc(state, v);
    if (arrived) gatherFunc(state, (Gathered)sum, v);
    unsettled += filterFunc(state, v);
    changes.add(state, v);
    following[v] = scatterFunc(next, v);
  }

  // By the whole block.
  __device__ void walk_hub(unsigned v) {
    __shared__ Total share[32];
    const Total own = share_of(graph.in_indptr[v], graph.in_indptr[v + 1], threadIdx.x, blockDim.x);
    __syncthreads();
    if (lane_id() == 0) share[threadIdx.x >> 5] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    Total sum = share[0];
    for (unsigned warp = 1; warp < blockDim.x >> 5; ++warp) sum = merge(sum, share[warp]);
    finish(v, sum, true);
  }

  // By the warp: row `first + 32 * j + lane` is the j-th of a lane.
  __device__ __forceinline__ void walk_rows(int64 first) {
    const unsigned lane = lane_id();
    int64 begin[ROWS];
    int degree[ROWS], most = 0;
    Total sum[ROWS];
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
      const int64 v = first + 32 * j + lane;
      begin[j] = v < graph.n ? graph.in_indptr[v] : 0;
      degree[j] = v < graph.n ? (int)min(graph.in_indptr[v + 1] - begin[j], (int64)HUB + 1) : 0;
      sum[j] = identity<Total>();
      if (degree[j] <= LONG) most = max(most, degree[j]);
    }
    for (int done = 0; __any_sync(ALL_LANES, done < most); done += EDGES) {
      unsigned source[ROWS][EDGES];
      Message value[ROWS][EDGES];
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          source[j][i] = done + i < degree[j] && degree[j] <= LONG ? graph.in_indices[begin[j] + done + i] : 0;
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          value[j][i] = done + i < degree[j] && degree[j] <= LONG ? values[source[j][i]] : Message(0);
#pragma unroll
      for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < EDGES; ++i)
          if (done + i < degree[j] && degree[j] <= LONG) sum[j] = merge(sum[j], heard(begin[j] + done + i, value[j][i]));
    }
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
      unsigned wide = __ballot_sync(ALL_LANES, degree[j] > LONG && degree[j] <= HUB);
      for (; wide; wide &= wide - 1) {
        const int from = __ffs(wide) - 1;
        const int64 at = __shfl_sync(ALL_LANES, begin[j], from);
        const Total whole = share_of(at, at + __shfl_sync(ALL_LANES, degree[j], from), lane, 32);
        if (lane == from) sum[j] = whole;
      }
    }
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
      const int64 v = first + 32 * j + lane;
      if (v < graph.n && degree[j] <= HUB) finish((unsigned)v, sum[j], degree[j] > 0);
    }
  }

  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    Message* values = sent_in(control->head.iteration, graph, space);
    for (int64 v = team.rank(); v < graph.n; v += team.size()) values[v] = scatterFunc(state, (unsigned)v);
  }

  // Neighbouring rows on one multiprocessor: they share neighbours.
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    Rows rows(state, graph, space, control->head.iteration);
    for (unsigned hub = blockIdx.x; hub < graph.hubs; hub += team.blocks) rows.walk_hub(graph.hub_vertex[hub]);
    for (int64 tile = team.rank() >> 5; 32 * ROWS * tile < graph.n; tile += team.warps()) rows.walk_rows(32 * ROWS * tile);
    rows.changes.tell(space);
    const int64 unsettled = warp_sum(rows.unsettled);
    if (lane_id() == 0 && unsettled) atomicAdd((uint64*)&control->head.next_frontier, (uint64)unsettled);
  }
};

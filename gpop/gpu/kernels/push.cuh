// Source-centric gather: the edges of active vertices, delivered straight to their destinations.
//
// A warp takes up to 32 vertices of the list, or a piece of HEAVY edges of one vertex, and walks the edges
// together (coalesced). Bytes per edge: 4 (destination) [+ weight] and one random access to the vertex.
// Values are those of the beginning of the iteration (vertex_value), so it is bulk-synchronous; see sent_by.
// PUSH says how a message reaches its vertex: SWAP by compare-and-swap of the written field, FOLD into
// space.folded; OWNER does not push: see owner.cuh.

// With many active edges candidates of a block wait in shared memory, which sparse iterations do not need
// otherwise: one counter for all blocks would serve them one after the other.
const int CROWDED_EDGES = 32768;

struct Waiting {
  unsigned count, pad[3];
  unsigned vertex[(SHARED_BYTES - 16) / 4];
};
const unsigned MOST_WAITING = (SHARED_BYTES - 16) / 4;

extern __shared__ __align__(16) unsigned char shared_memory[];

__device__ __forceinline__ void add_candidate(unsigned v, const Space& space, Control* control) {
  if (control->head.edges <= CROWDED_EDGES) {
    space.candidates[reserve(&control->head.candidates, true)] = v;
    return;
  }
  Waiting* waiting = (Waiting*)shared_memory;
  const unsigned at = atomicAdd(&waiting->count, 1u);
  if (at < MOST_WAITING)
    waiting->vertex[at] = v;
  else
    space.candidates[atomicAdd((uint64*)&control->head.candidates, 1ULL)] = v;
}

__device__ __forceinline__ void open_candidates() {
  if (threadIdx.x == 0) ((Waiting*)shared_memory)->count = 0;
  __syncthreads();
}

__device__ void close_candidates(const Space& space, Control* control) {
  Waiting* waiting = (Waiting*)shared_memory;
  __shared__ int64 first;
  __syncthreads();
  const unsigned count = min(waiting->count, MOST_WAITING);
  if (threadIdx.x == 0) first = (int64)atomicAdd((uint64*)&control->head.candidates, (uint64)count);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) space.candidates[first + i] = waiting->vertex[i];
}

// v becomes active: it will be a candidate for the next frontier.
__device__ __forceinline__ void activate(unsigned v, const Space& space, Control* control) {
  if (!set_bit(space.active_bits, v) || control->head.dense) return;  // dense: all vertices are candidates
  if (PUSH != FOLD || set_bit(space.listed_bits, v)) add_candidate(v, space, control);
}

__device__ __forceinline__ void deliver(State& state, Gathered x, unsigned v, const Graph& graph, const Space& space,
                                        Control* control) {
#if FOLDS_PUSHED  // PUSH == FOLD
  const Total before = fold(space.folded + v, (Total)x);
  if (ALL_ACTIVE) return;
  const bool fresh = COUNTS_ARRIVALS ? set_bit(space.arrived, v) : before == identity<Total>() && (Total)x != identity<Total>();
  if (fresh && !control->head.dense && set_bit(space.listed_bits, v)) add_candidate(v, space, control);
#else
  if (swap_gather(state, x, v, graph, space, control) && !ALL_ACTIVE) activate(v, space, control);
#endif
}

__device__ __forceinline__ void push_edge(int64 e, Message value, State& state, const Graph& graph, const Space& space,
                                          Control* control) {
#if WEIGHTED
  deliver(state, weighted(state, value, graph.weights[e]), graph.indices[e], graph, space, control);
#else
  deliver(state, value, graph.indices[e], graph, space, control);
#endif
}

// What an active vertex sends. LIVE: as it is now, one phase and a barrier less per iteration. Allowed when
// scatterFunc reads no field that is written meanwhile, or in interleaved runs, whose fixpoint does not mind.
__device__ __forceinline__ Message sent_by(unsigned v, State& state, const Space& space, bool live) {
  return live ? scatterFunc(state, v) : space.vertex_value[v];
}

__device__ __forceinline__ bool pushes(unsigned v, const Space& space, const Control* control) {
  return !control->head.dense || space.mode[partition_of(v)] == MODE_SC;
}

__device__ void push_light(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const int64 size = ALL_ACTIVE ? graph.n : control->head.list_size;
  const bool live = LIVE && !control->head.dense;
  const int tile = (int)min((int64)32, (size + team.warps() - 1) / team.warps());  // vertices per warp
  for (int64 i = (int64)team.warp() * tile; i < size; i += (int64)team.warps() * tile) {
    unsigned v = 0;
    int64 start = 0;
    int degree = 0;
    if (lane < tile && i + lane < size) {
      v = ALL_ACTIVE ? (unsigned)(i + lane) : space.list[i + lane];
      start = graph.indptr[v];
      const int64 edges = graph.indptr[v + 1] - start;
      if (edges <= HEAVY && pushes(v, space, control)) degree = (int)edges;
    }
    const int upto = warp_inclusive_sum(degree), before = upto - degree;
    const int total = __shfl_sync(ALL_LANES, upto, 31);
    for (int first = 0; first < total; first += 32) {
      const int e = first + lane;
      int owner = 0;  // the last lane whose edges begin at or before e
#pragma unroll
      for (int step = 16; step; step >>= 1) {
        const int begin = __shfl_sync(ALL_LANES, before, owner + step);
        if (begin <= e) owner += step;
      }
      const int64 edge = __shfl_sync(ALL_LANES, start - before, owner) + e;
      const unsigned source = __shfl_sync(ALL_LANES, v, owner);
      if (e < total) push_edge(edge, sent_by(source, state, space, live), state, graph, space, control);
      __syncwarp();
    }
  }
}

__device__ void push_heavy(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  for (int64 i = team.warp(); i < control->head.heavy_size; i += team.warps()) {
    const unsigned v = space.heavy[i].x;
    if (!pushes(v, space, control)) continue;
    const Message value = sent_by(v, state, space, LIVE && !control->head.dense);
    const int64 first = graph.indptr[v] + (int64)space.heavy[i].y * HEAVY;
    const int64 last = min(first + HEAVY, graph.indptr[v + 1]);
    for (int64 e = first + lane_id(); e < last; e += 32) push_edge(e, value, state, graph, space, control);
    __syncwarp();
  }
}

// How a message reaches its vertex, and how a vertex becomes a candidate for the next frontier: what strategies
// call that bring messages one by one.
//
// PUSH says how: SWAP by compare-and-swap of the written field (swap.cuh), FOLD into space.folded. An OWNER
// delivers nothing, it gathers (owner.cuh).

// Whether an iteration may leave bits instead of candidates, as one that asks does: see engine.cuh.
const bool MAY_LEAVE_BITS = PUSH == SWAP && HAS_SPARSE && !HAS_DENSE && !ALL_ACTIVE && !MASKED && !PRIORITISED && !RANKED;

// With many active edges candidates of a block wait in shared memory, which sparse iterations do not need
// otherwise: one counter for all blocks would serve them one after the other.
const int CROWDED_EDGES = 32768;

struct Waiting {
  unsigned count, pad[3];
  unsigned vertex[(SHARED_BYTES - 16) / 4];
};
const unsigned MOST_WAITING = (SHARED_BYTES - 16) / 4;

extern __shared__ __align__(16) unsigned char shared_memory[];

__device__ __forceinline__ bool is_crowded(const Control* control) {
  return AGGREGATE == BLOCK || (AGGREGATE == BY_CASE && control->head.edges > CROWDED_EDGES);
}

__device__ __forceinline__ void add_candidate(unsigned v, const Space& space, Control* control) {
  if (!is_crowded(control)) {
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

// Whether messages are computed when they are delivered in an iteration that pushes.
__device__ __forceinline__ bool is_live(const Control* control) { return LIVE && (MAY_LEAVE_BITS || !control->head.dense); }

// What an active vertex sends. LIVE: as it is now, one phase and a barrier less per iteration. Allowed when
// scatterFunc reads no field that is written meanwhile, or in interleaved runs, whose fixpoint does not mind.
__device__ __forceinline__ Message sent_by(unsigned v, State& state, const Space& space, bool live) {
  return live ? scatterFunc(state, v) : space.vertex_value[v];
}

// Whether an active vertex sends alone, and not with its partition.
__device__ __forceinline__ bool pushes(unsigned v, const Space& space, const Control* control) {
  return !control->head.dense || control->head.pulled || space.mode[partition_of(v)] == SPARSE_MODE;
}

// Priorities: the vertices of the lowest bucket go on, the others wait (gpop/cpu/priority.py says it of the CPU).
//
// The frontier takes who is activated with a priority up to `bucket`; of the others a bit is set. When nothing is
// active these bits are read twice: for the lowest priority that waits, which is the next bucket, and to divide them
// in those that join the frontier and those that stay. Nothing is appended for who waits, so that it costs one atomic
// access, and a bit that is there already costs none. Bytes of a new bucket: n / 4 for the bits, 2 random accesses
// per vertex that waits, two barriers. Block 0, which iterates alone while little is active, has everybody look.
// Papers: Meyer, Sanders, "Delta-stepping" (2003); Davidson, Baxter, Garland, Owens, "Work-efficient parallel GPU
// methods for single-source shortest paths" (2014), whose far pile these bits are.

enum : int64 { NOBODY = 0x7fffffffffffffffLL };  // in place of the lowest priority where nobody waits

#if PRIORITISED

__device__ __forceinline__ void count_partition(unsigned p, int64 vertices, int64 edges, const Space& space);

// The last two priorities are one.
template <class Self>
__device__ __forceinline__ int64 priority_of(Self& state, unsigned v) {
  return min((int64)priorityFunc(state, v), NOBODY - 1);
}

// The words of the bits, 32 by a warp, a lane each: `each(first word, own word)`.
template <class Each>
__device__ __forceinline__ void waiting_words(Team& team, const Graph& graph, const Space& space, Each each) {
  const int64 words = (graph.n + 31) / 32;
  for (int64 first = 32LL * team.warp(); first < words; first += 32LL * team.warps()) {
    const unsigned own = first + lane_id() < words ? space.waiting_bits[first + lane_id()] : 0;
    if (__any_sync(ALL_LANES, own != 0)) each(first, own);
  }
}

const int WORDS_AHEAD = 4;  // whose priorities are on their way at once

// Priorities of these words' vertices, NOBODY of those that do not wait: `each(lane that has the word, priority)`.
template <class Each>
__device__ __forceinline__ void waiting_priorities(State& state, int64 first, unsigned own, Each each) {
  const unsigned some = __ballot_sync(ALL_LANES, own != 0);
  for (int word = 0; word < 32; word += WORDS_AHEAD) {
    const unsigned there = some >> word & ((1u << WORDS_AHEAD) - 1);
    if (!there) continue;
    const int filled = word + __ffs(there) - 1;
    const unsigned stand_in = (unsigned)(32 * (first + filled)) + __ffs(__shfl_sync(ALL_LANES, own, filled)) - 1;
    bool waits[WORDS_AHEAD];
    unsigned v[WORDS_AHEAD];
    int64 priority[WORDS_AHEAD];
#pragma unroll
    for (int j = 0; j < WORDS_AHEAD; ++j) {
      waits[j] = __shfl_sync(ALL_LANES, own, word + j) >> lane_id() & 1;
      v[j] = waits[j] ? (unsigned)(32 * (first + word + j)) + lane_id() : stand_in;
    }
#pragma unroll
    for (int j = 0; j < WORDS_AHEAD; ++j) priority[j] = priority_of(state, v[j]);
#pragma unroll
    for (int j = 0; j < WORDS_AHEAD; ++j) each(word + j, waits[j] ? priority[j] : NOBODY);
  }
}

// Vertices of these words join the frontier, which is empty: bits, counts, and the list if it is wanted; one atomic
// access for all of a warp.
__device__ void join_words(int64 first, unsigned own, unsigned joining, bool listed, int64& vertices, int64& edges,
                           const Graph& graph, const Space& space, Control* control) {
  int64 found = 0;
  if (joining) {
    space.frontier_bits[first + lane_id()] = joining;
    space.waiting_bits[first + lane_id()] = own & ~joining;
  }
  walk_words(first, joining, listed, graph, space, control, [&](unsigned v, int64 degree) {
    found += degree;
    if (BITS < 10) {  // the words may lie in several partitions
      atomicAdd(space.active_vertices + partition_of(v), 1u);
      atomicAdd(space.active_edges + partition_of(v), (uint64)degree);
    }
  });
  __syncwarp();
  if (BITS >= 10) count_partition((unsigned)(32 * first >> BITS), __popc(joining), found, space);
  vertices += __popc(joining);
  edges += found;
}

// The lowest priority that waits, of what a warp has seen, and how many it has.
__device__ int64 least_waiting(Team& team, State& state, const Graph& graph, const Space& space, int64& waiting) {
  int64 least = NOBODY;
  waiting = 0;
  waiting_words(team, graph, space, [&](int64 first, unsigned own) {
    waiting_priorities(state, first, own, [&](int, int64 priority) { least = min(least, priority); });
    waiting += __popc(own);
  });
  for (int step = 16; step; step >>= 1) least = min(least, __shfl_xor_sync(ALL_LANES, least, step));
  waiting = warp_sum(waiting);
  return least;
}

// Who waits with a priority up to `bucket` joins the frontier, which is empty.
__device__ void join_bucket(Team& team, State& state, const Graph& graph, const Space& space, Control* control,
                            int64 bucket, bool listed) {
  int64 vertices = 0, edges = 0;
  waiting_words(team, graph, space, [&](int64 first, unsigned own) {
    unsigned joining = 0;
    waiting_priorities(state, first, own, [&](int from, int64 priority) {
      const unsigned now = __ballot_sync(ALL_LANES, priority <= bucket);
      if (lane_id() == from) joining = now;
    });
    if (__any_sync(ALL_LANES, joining != 0)) join_words(first, own, joining, listed, vertices, edges, graph, space, control);
  });
  vertices = warp_sum(vertices);
  edges = warp_sum(edges);
  if (lane_id() == 0 && vertices) {
    atomicAdd((uint64*)&control->head.next_frontier, (uint64)vertices);
    atomicAdd((uint64*)&control->head.next_edges, (uint64)edges);
  }
}

// The whole frontier waits.
__device__ void let_wait(Team& team, const Graph& graph, const Space& space) {
  for (int64 w = team.rank(); 32 * w < graph.n; w += team.size()) {
    space.waiting_bits[w] = space.frontier_bits[w];
    space.frontier_bits[w] = 0;
  }
  for (int64 p = team.rank(); p < graph.k; p += team.size()) {
    space.active_vertices[p] = 0;
    space.active_edges[p] = 0;
  }
}
#endif

// Whether v joins the next frontier, or waits.
template <class Self>
__device__ __forceinline__ bool joins(unsigned v, Self& state, const Space& space, Control* control) {
#if PRIORITISED
  if (priority_of(state, v) > control->head.bucket) {
    set_bit(space.waiting_bits, v);
    return false;
  }
  if (*(volatile unsigned*)(space.waiting_bits + (v >> 5)) >> (v & 31) & 1) clear_bit(space.waiting_bits, v);
#endif
  return true;
}

// Block 0 alone, when its iteration is over: whether nothing is active and it has fewer threads than there are words.
__device__ bool bucket_is_for_all(Team& team, const Graph& graph, Control* control) {
#if PRIORITISED && !RANKED
  if (graph.n <= 32LL * blockDim.x) return false;
  team.sync();
  return control->head.next_frontier == 0;
#else
  return false;
#endif
}

// Everybody, when an iteration is over: if nothing is active, the next bucket becomes the frontier; its list, where
// few wait. Of several ranks all agree on the bucket first (exchange.cuh).
__device__ void next_bucket(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
#if PRIORITISED && !RANKED
  team.sync();
  if (control->head.next_frontier) return;
  int64 waiting;
  const int64 least = least_waiting(team, state, graph, space, waiting);
  if (lane_id() == 0 && waiting) {
    atomicMin(&control->head.least, least);
    atomicAdd((uint64*)&control->head.waiting, (uint64)waiting);
  }
  team.sync();
  const int64 bucket = control->head.least;
  const bool listed = control->head.waiting <= MOST_LISTED;
  if (bucket == NOBODY) return;
  join_bucket(team, state, graph, space, control, bucket, listed);
  team.sync([&] {
    if (threadIdx.x != 0) return;
    control->head.bucket = bucket;
    control->head.least = NOBODY;
    control->head.waiting = 0;
    control->head.dense = !listed;  // whether the frontier is bits alone, whatever was before
    control->head.list_valid = listed;
  });
#endif
}

// Everybody, before a run: the whole frontier waits; then its lowest bucket is the frontier.
__device__ void begin_buckets(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
#if PRIORITISED && !RANKED
  if (!control->head.fresh || control->head.iteration) return;
  team.sync();  // it is loaded
  let_wait(team, graph, space);
  team.sync([&] {
    if (threadIdx.x != 0) return;
    control->head.next_frontier = control->head.next_edges = control->head.next_list = control->head.next_heavy = 0;
  });
  next_bucket(team, state, graph, space, control);
#endif
}

// Priorities: the vertices of the lowest bucket go on, the others wait in one pile (gpop/cpu/priority.py has lists).
//
// The frontier takes who is activated with a priority up to `bucket`; others join the pile, `later`. When nothing is
// active the pile is read twice: for the lowest priority that waits, which is the next bucket, and to divide it in
// those that join the frontier and those that stay, in the other half of `later`. A vertex is in the pile once
// (`later_bits`); one that joins the frontier in between waits no more (`pending_bits`) and is dropped when the pile is
// read next. Bytes of a new bucket: 2 * (4 + a random access) per vertex in the pile, two barriers.
// Papers: Meyer, Sanders, "Delta-stepping" (2003); Davidson, Baxter, Garland, Owens, "Work-efficient parallel GPU
// methods for single-source shortest paths" (2014), whose far pile this is.

#if PRIORITISED
const int64 NOBODY = 0x7fffffffffffffffLL;  // in place of the lowest priority where nobody waits

__device__ __forceinline__ void append(unsigned v, int64 edges, bool wanted, const Space& space, Control* control);

// The last two priorities are one.
template <class Self>
__device__ __forceinline__ int64 priority_of(Self& state, unsigned v) {
  return min((int64)priorityFunc(state, v), NOBODY - 1);
}

__device__ __forceinline__ unsigned* pile(const Graph& graph, const Space& space, int turn) { return space.later + turn * graph.n; }

__device__ __forceinline__ void wait_for_bucket(unsigned v, const Graph& graph, const Space& space, Control* control) {
  set_bit(space.pending_bits, v);
  if (set_bit(space.later_bits, v)) pile(graph, space, control->head.turn)[reserve(&control->head.pile_size, true)] = v;
}

__device__ __forceinline__ void wait_no_more(unsigned v, const Space& space) {
  if (*(volatile unsigned*)(space.pending_bits + (v >> 5)) >> (v & 31) & 1) clear_bit(space.pending_bits, v);
}
#endif

// Whether v joins the next frontier, or waits.
template <class Self>
__device__ __forceinline__ bool joins(unsigned v, Self& state, const Graph& graph, const Space& space, Control* control) {
#if PRIORITISED
  if (priority_of(state, v) > control->head.bucket) {
    wait_for_bucket(v, graph, space, control);
    return false;
  }
  wait_no_more(v, space);
#endif
  return true;
}

// Everybody, when an iteration is over: if nothing is active, the next bucket becomes the frontier, and its list.
__device__ void next_bucket(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
#if PRIORITISED
  team.sync();
  const int64 size = control->head.pile_size;
  if (control->head.next_frontier || size == 0) return;
  const unsigned* old = pile(graph, space, control->head.turn);
  unsigned* kept = pile(graph, space, 1 - control->head.turn);
  int64 least = NOBODY;
  for (int64 i = team.rank(); i < size; i += team.size())
    if (bit_of(space.pending_bits, old[i])) least = min(least, priority_of(state, old[i]));
  for (int step = 16; step; step >>= 1) least = min(least, __shfl_xor_sync(ALL_LANES, least, step));
  if (lane_id() == 0 && least < NOBODY) atomicMin(&control->head.least, least);
  team.sync();
  const int64 bucket = control->head.least;
  int64 vertices = 0, edges = 0;
  for (int64 i = team.rank(); i < size; i += team.size()) {
    const unsigned v = old[i];
    if (bit_of(space.pending_bits, v)) {
      if (priority_of(state, v) > bucket) {
        kept[reserve(&control->head.kept_size, true)] = v;
        continue;
      }
      const int64 degree = degree_of(graph, v);
      clear_bit(space.pending_bits, v);
      atomicOr(space.frontier_bits + (v >> 5), 1u << (v & 31));
      append(v, degree, true, space, control);
      atomicAdd(space.active_vertices + partition_of(v), 1u);
      atomicAdd(space.active_edges + partition_of(v), (uint64)degree);
      vertices += 1;
      edges += degree;
    }
    clear_bit(space.later_bits, v);
  }
  vertices = warp_sum(vertices);
  edges = warp_sum(edges);
  if (lane_id() == 0 && vertices) {
    atomicAdd((uint64*)&control->head.next_frontier, (uint64)vertices);
    atomicAdd((uint64*)&control->head.next_edges, (uint64)edges);
  }
  team.sync([&] {
    if (threadIdx.x != 0) return;
    control->head.bucket = bucket;
    control->head.least = NOBODY;
    control->head.pile_size = control->head.kept_size;
    control->head.kept_size = 0;
    control->head.turn = 1 - control->head.turn;
    control->head.dense = 0;  // the frontier is a list, whatever was before
  });
#endif
}

// Everybody, before a run: the whole frontier waits; then its lowest bucket is the frontier.
__device__ void begin_buckets(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
#if PRIORITISED
  if (!control->head.fresh || control->head.iteration) return;
  for (int64 w = team.rank(); 32 * w < graph.n; w += team.size()) {
    const unsigned bits = space.frontier_bits[w];
    if (!bits) continue;
    space.frontier_bits[w] = 0;
    space.pending_bits[w] = space.later_bits[w] = bits;
    unsigned* at = pile(graph, space, 0) + (int64)atomicAdd((uint64*)&control->head.pile_size, (uint64)__popc(bits));
    for (unsigned left = bits; left; left &= left - 1) *at++ = (unsigned)(32 * w) + __ffs(left) - 1;
  }
  for (int64 p = team.rank(); p < graph.k; p += team.size()) space.active_vertices[p] = 0, space.active_edges[p] = 0;
  team.sync([&] {
    if (threadIdx.x != 0) return;
    control->head.next_frontier = control->head.next_edges = control->head.next_list = control->head.next_heavy = 0;
    control->head.list_valid = 1;
  });
  next_bucket(team, state, graph, space, control);
#endif
}

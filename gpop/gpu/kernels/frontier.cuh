// From messages to the next frontier: gatherFunc of combined messages, filterFunc, lists and counts.
//
// Sparse iterations walk the list of candidates and append to the list; dense ones walk all vertices, a
// warp per word of the bit arrays, and leave bits only, from which a list is made when one is needed.
#include "own_words.cuh"

__device__ __forceinline__ void add_next(uint64 vertices, uint64 edges, Control* control) {
  if (vertices == 0) return;
  atomicAdd((uint64*)&control->head.next_frontier, vertices);
  atomicAdd((uint64*)&control->head.next_edges, edges);
}

// Edges of an own vertex of the next frontier as they are counted: on a rank that is told who is active elsewhere
// (peers.cuh) those to all ranks, since nobody looks at which of them end where.
__device__ __forceinline__ int64 counted_edges(const State& state, const Graph& graph, unsigned v) {
#if TOLD
  return state.gpop_degrees[v];
#else
  return degree_of(graph, v);
#endif
}

// A vertex of the next frontier; where each is counted, now.
__device__ __forceinline__ void add_kept(int64 degree, Control* control) {
  if (AGGREGATE == EACH) add_next(1, (uint64)degree, control);
}

// All that this thread has found, once everybody is through: alone, with its warp or with its block.
__device__ __forceinline__ void add_found(int64 vertices, int64 edges, Control* control) {
  if (AGGREGATE == EACH) return;
  if (AGGREGATE == BULK) return add_next((uint64)vertices, (uint64)edges, control);
  vertices = warp_sum(vertices);
  edges = warp_sum(edges);
  if (AGGREGATE != BLOCK) {
    if (lane_id() == 0) add_next((uint64)vertices, (uint64)edges, control);
    return;
  }
  __shared__ uint64 found[2];
  __syncthreads();
  if (threadIdx.x == 0) found[0] = found[1] = 0;
  __syncthreads();
  if (lane_id() == 0 && vertices) {
    atomicAdd(found, (uint64)vertices);
    atomicAdd(found + 1, (uint64)edges);
  }
  __syncthreads();
  if (threadIdx.x == 0) add_next(found[0], found[1], control);
}

// The combined message of v, if one arrived: gatherFunc once. Leaves the cell empty.
__device__ __forceinline__ bool gather_folded(unsigned v, State& state, const Graph& graph, const Space& space) {
#if COMBINE
  if (PUSH == OWNER) return false;  // its messages are gathered already
  const Total x = space.folded[v];
  const bool arrived = COUNTS_ARRIVALS ? bit_of(space.arrived, v) : x != identity<Total>();
  if (x != identity<Total>()) space.folded[v] = identity<Total>();
  return arrived && gatherFunc(state, (Gathered)x, v);
#else
  return false;
#endif
}

// Active vertices and edges per partition, summed up in shared memory: a frontier often lies in few
// partitions, and atomics on one address are served one after the other.
struct Tally {
  uint64* edges;
  unsigned* vertices;
  bool shared;

  __device__ Tally(const Graph& graph, const Space& space, const Control* control) {
    shared = control->head.edges > CROWDED_EDGES &&
             (uint64)graph.k * (sizeof(uint64) + sizeof(unsigned)) <= SHARED_BYTES;
    edges = shared ? (uint64*)shared_memory : space.active_edges;
    vertices = shared ? (unsigned*)(edges + graph.k) : space.active_vertices;
    if (!shared) return;
    __syncthreads();
    for (int p = threadIdx.x; p < graph.k; p += blockDim.x) edges[p] = vertices[p] = 0;
    __syncthreads();
  }

  __device__ void add(unsigned v, int64 degree) {
    atomicAdd(vertices + partition_of(v), 1u);
    atomicAdd(edges + partition_of(v), (uint64)degree);
  }

  __device__ void flush(const Graph& graph, const Space& space) {
    if (!shared) return;
    __syncthreads();
    for (int p = threadIdx.x; p < graph.k; p += blockDim.x) {
      if (vertices[p]) atomicAdd(space.active_vertices + p, vertices[p]);
      if (edges[p]) atomicAdd(space.active_edges + p, edges[p]);
    }
  }
};

__device__ void filter_list(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  Tally tally(graph, space, control);
  int64 vertices = 0, edges = 0;
  const int64 size = control->head.candidates, rounds = (size + team.size() - 1) / team.size();
  for (int64 round = 0; round < rounds; ++round) {
    const int64 i = round * team.size() + team.rank();
    bool kept = false;
    unsigned v = 0;
    int64 degree = 0, counted = 0;
    if (i < size) {
      v = space.candidates[i];
      bool active = PUSH != FOLD || bit_of(space.active_bits, v);  // others are listed when activated
      if (active) clear_bit(space.active_bits, v);
      if (PUSH == FOLD) {
        active |= gather_folded(v, state, graph, space);
        clear_bit(space.listed_bits, v);
        if (COUNTS_ARRIVALS) clear_bit(space.arrived, v);
      }
      if (TRACK && active) set_bit(space.touched_bits, v);
      kept = active && filterFunc(state, v) && joins(v, state, space, control);
      if (kept) {
        degree = degree_of(graph, v);
        counted = counted_edges(state, graph, v);
        atomicOr(space.frontier_bits + (v >> 5), 1u << (v & 31));
        tally.add(v, counted);
        add_kept(counted, control);
      }
    }
    append_together(v, degree, kept, space, control);
    vertices += kept;
    edges += counted;
  }
  tally.flush(graph, space);
  add_found(vertices, edges, control);
}

// Add what a warp found in one partition to the partition's counts.
__device__ __forceinline__ void count_partition(unsigned p, int64 vertices, int64 edges, const Space& space) {
  vertices = warp_sum(vertices);
  edges = warp_sum(edges);
  if (lane_id() == 0 && vertices) {
    atomicAdd(space.active_vertices + p, (unsigned)vertices);
    atomicAdd(space.active_edges + p, (uint64)edges);
  }
}

// A vertex of a program without a frontier, from its messages to what it sends next: put-off initFunc, combined messages,
// filterFunc. Fields that gatherFunc writes are in registers meanwhile. Several of a thread are fetched, then filtered,
// then put back: on an H100 they took .63 of the time that it takes where a field waits for the one written before.
struct Filtered {
  static const bool FOLDS = COMBINE && PUSH != OWNER;
  Owned own;
  Total sum;
  const unsigned v;
  const bool arrived;

  __device__ __forceinline__ Filtered(int64 v, const State& state, const Graph& graph, const Space& space)
      : own(state, (unsigned)v), sum(FOLDS ? space.folded[v] : Total(0)), v((unsigned)v),
        arrived(FOLDS && bit_of(graph.has_in, (unsigned)v)) {}

  // Whether filterFunc wants it to go on.
  __device__ __forceinline__ bool filter(bool init) {
    if (init) initFunc(own, v);
    if (arrived) gatherFunc(own, (Gathered)sum, v);
    return filterFunc(own, v);
  }

  __device__ __forceinline__ void end(const State& state, const Space& space, Changes& changes) const {
#if RANKED
    if (!state.gpop_owns(v)) return;  // fields of a mirror are not here, and its messages go elsewhere
#endif
    put_back(own, state, v);
    if (FOLDS && sum != identity<Total>()) space.folded[v] = identity<Total>();
    changes.add(state, v);
  }
};

__device__ void filter_everything(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const bool init = COMBINE && control->head.dense;  // combined messages touch no field, so it could wait
  int64 unsettled = 0, v = team.rank();
  const int64 step = team.size();
  Changes changes;
  for (; v + 3 * step < graph.n; v += 4 * step) {
    Filtered some[4] = {{v, state, graph, space}, {v + step, state, graph, space}, {v + 2 * step, state, graph, space},
                        {v + 3 * step, state, graph, space}};
#pragma unroll
    for (int j = 0; j < 4; ++j) unsettled += some[j].filter(init);
#pragma unroll
    for (int j = 0; j < 4; ++j) some[j].end(state, space, changes);
  }
  for (; v < graph.n; v += step) {
    Filtered one(v, state, graph, space);
    unsettled += one.filter(init);
    one.end(state, space, changes);
  }
  changes.tell(control->head.iteration, space);
  unsettled = warp_sum(unsettled);
  if (lane_id() == 0 && unsettled) atomicAdd((uint64*)&control->head.next_frontier, (uint64)unsettled);
}

const int WORDS = 8;         // consecutive words of 32 vertices that a warp takes at once
const int WORDS_TOGETHER = 4;  // whose vertices are looked at before the first one's edges are counted

// Where only a bit says that a vertex was activated, words without any are through at once.
__device__ void filter_all(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const bool gathered = (HAS_PULLING && control->head.pulled) || (MASKED && PUSH != FOLD) || MAY_LEAVE_BITS;
  int64 vertices = 0, edges = 0;
  const Words own(state, graph);
  for (int64 first = own.first + (int64)team.warp() * WORDS; first < own.last; first += (int64)team.warps() * WORDS) {
    const int64 w = first + lane_id();  // of this lane
    const bool mine = lane_id() < WORDS && w < own.last;
    const unsigned activated = mine ? space.active_bits[w] : 0;
    unsigned bits = 0, touched = 0;
    int64 found = 0, found_edges = 0;  // in one partition, where those are not smaller than this
    for (int j = 0; j < WORDS && (!gathered || __any_sync(ALL_LANES, activated != 0)); j += WORDS_TOGETHER) {
      bool active[WORDS_TOGETHER], kept[WORDS_TOGETHER];
      int64 degree[WORDS_TOGETHER];
#pragma unroll
      for (int u = 0; u < WORDS_TOGETHER; ++u) {
        const int64 node = 32 * (first + j + u) + lane_id();
        const unsigned v = (unsigned)node, word = __shfl_sync(ALL_LANES, activated, j + u);
        active[u] = kept[u] = false;
        if (first + j + u >= own.last || node >= graph.n) continue;
        active[u] = word >> lane_id() & 1;
        if (!gathered) active[u] |= gather_folded(v, state, graph, space);
        kept[u] = active[u] && filterFunc(state, v) && joins(v, state, space, control);
      }
#pragma unroll
      for (int u = 0; u < WORDS_TOGETHER; ++u)
        degree[u] = kept[u] ? counted_edges(state, graph, (unsigned)(32 * (first + j + u)) + lane_id()) : 0;
#pragma unroll
      for (int u = 0; u < WORDS_TOGETHER; ++u) {
        const unsigned v = (unsigned)(32 * (first + j + u)) + lane_id();
        const unsigned keeps = __ballot_sync(ALL_LANES, kept[u]), touches = TRACK ? __ballot_sync(ALL_LANES, active[u]) : 0;
        if (lane_id() == j + u) bits = keeps;
        if (lane_id() == j + u) touched = touches;
        if (kept[u]) add_kept(degree[u], control);
        vertices += kept[u];
        edges += degree[u];
        if (BITS < 8) {  // the words may lie in several partitions
          if (kept[u]) {
            atomicAdd(space.active_vertices + partition_of(v), 1u);
            atomicAdd(space.active_edges + partition_of(v), (uint64)degree[u]);
          }
        } else {
          found += kept[u];
          found_edges += degree[u];
        }
      }
    }
    if (mine) {
      space.frontier_bits[w] = bits;
      if (activated) space.active_bits[w] = 0;
      if (COUNTS_ARRIVALS) space.arrived[w] = 0;
      if (touched) space.touched_bits[w] |= touched;
    }
    __syncwarp();
    if (BITS >= 8 && __any_sync(ALL_LANES, found != 0)) count_partition((unsigned)(32 * first >> BITS), found, found_edges, space);
  }
  add_found(vertices, edges, control);
}

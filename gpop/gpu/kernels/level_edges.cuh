// What an edge does in a level: its message is delivered at once, and whom it activates is active at the next one.
#include "level_active.cuh"

// To L2, for whoever reads it later; nobody waits.
__device__ __forceinline__ void prefetch(const void* at) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

// Whether the message to v makes it active at the next level, as `next` knows then, and no other message has. Where who
// comes between two messages to a vertex makes it active, too (NOBODY_WAITS), nobody has to wait for his swap: of all who find
// that it becomes active the first one says so. `seen`: of its field (swap.cuh), since the level began; `ahead` is called
// before anybody waits.
template <class Active, class Ahead>
__device__ __forceinline__ bool reaches(uint64 seen, Gathered x, unsigned v, const Active& next, State& state,
                                        const Graph& graph, const Space& space, Control* control, Ahead ahead) {
  bool ends = false;
#if NOBODY_WAITS
  Copy copy(state, cell_of(seen));
  if (!gatherFunc(copy, x, v)) return false;
  swap_cell(&written_cell(state, v), seen, cell_bits(copy.cell));
  ahead();
#else
  if (!swap_seen(seen, state, x, v, graph, space, control, &ends, ahead)) return false;
#endif
#if PRIORITISED
#if SWAPPABLE
  Copy now(state, cell_of(load_cell(&written_cell(state, v))));  // past L1, which has not heard of the swap
#else
  State& now = state;
#endif
  if (!joins(v, now, space, control)) return false;
#endif
  if (ends) next.set(v);  // nobody waits for it: a search saves the round trip of half a microsecond
  else if (!next.is_first(v)) return false;
  if (TRACK) set_bit(space.touched_bits, v);
  filterFunc(state, v);
  return true;
}

#if WEIGHTED
#define CARRIED(state, value, edge) weighted(state, value, graph.weights[edge])
#else
#define CARRIED(state, value, edge) (value)
#endif

// The same of N messages of a thread at once, those that it `sends`: each step of all of them is on its way before any
// waits for the next. `each(i, first, end)` for those that make their vertex active, with where its edges lie.
template <int N, class Active, class Each>
__device__ __forceinline__ void reach_together(const bool (&sends)[N], const unsigned (&v)[N], const Gathered (&x)[N],
                                               const Active& next, State& state, const Graph& graph, const Space& space,
                                               Control* control, Each each) {
#if SWAPPABLE && !PRIORITISED
  uint64 seen[N], before[N];
  bool active[N], ends[N];
  unsigned first[N], end[N];
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (sends[i]) seen[i] = seen_by(state, v[i]);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    active[i] = ends[i] = false;
    if (!sends[i]) continue;
    Copy copy(state, cell_of(seen[i]));
    active[i] = gatherFunc(copy, x[i], v[i]);
    const uint64 desired = cell_bits(copy.cell);
    before[i] = seen[i];
    if (desired == seen[i]) continue;
    if (ENDS_EARLY) ends[i] = active[i] && !needsFunc(copy, v[i]);
    const uint64 was = swap_cell(&written_cell(state, v[i]), seen[i], desired);
    if (!NOBODY_WAITS) before[i] = was;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (sends[i] && before[i] != seen[i]) {  // somebody came between
      ends[i] = false;
      active[i] = swap_seen(before[i], state, x[i], v[i], graph, space, control, &ends[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (!active[i]) continue;
    first[i] = (unsigned)graph.indptr[v[i]];
    end[i] = (unsigned)graph.indptr[v[i] + 1];
    if (ends[i]) next.set(v[i]);
    else active[i] = next.is_first(v[i]);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (!active[i]) continue;
    if (TRACK) set_bit(space.touched_bits, v[i]);
    filterFunc(state, v[i]);
    each(i, (int64)first[i], (int64)end[i]);
  }
#else
  for (int i = 0; i < N; ++i) {
    if (!sends[i]) continue;
    if (reaches(seen_by(state, v[i]), x[i], v[i], next, state, graph, space, control, [] {}))
      each(i, graph.indptr[v[i]], graph.indptr[v[i] + 1]);
  }
#endif
}

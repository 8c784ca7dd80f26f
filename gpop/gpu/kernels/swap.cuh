// gatherFunc for many threads at once, of any program that writes one field of at most 8 bytes.
//
// swap_gather runs it on a copy, which is put back by compare-and-swap until no other thread came between.
// A swap takes a round trip to L2 (about a microsecond), and of many threads that want the same word one
// gets on at a time: a vertex of a million in-edges would take seconds. So messages that change a hub (a
// vertex with more than HUB in-edges) wait in the hub's queue, which has room for one per in-edge, and
// later one warp applies them one after the other in registers (owner.cuh). Messages that change nothing
// are done when they have looked. Bytes: 4 (hub_of) per message, 2 * sizeof(Gathered) per message that waits.
// Programs with `combine` swap minima and maxima only, which most messages do not change: no queues.

struct Nothing {  // in place of what there is to do meanwhile
  __device__ __forceinline__ void operator()() const {}
};

#if SWAPPABLE
typedef decltype(Copy::cell) Cell;

__device__ __forceinline__ uint64 cell_bits(Cell x) {
  uint64 bits = 0;
  memcpy(&bits, &x, sizeof(Cell));
  return bits;
}
__device__ __forceinline__ Cell cell_of(uint64 bits) {
  Cell x;
  memcpy(&x, &bits, sizeof(Cell));
  return x;
}

// Load past L1, which other blocks' writes do not reach.
__device__ __forceinline__ uint64 load_cell(const Cell* at) {
  if (sizeof(Cell) == 8) return *(const volatile uint64*)at;
  if (sizeof(Cell) == 4) return *(const volatile unsigned*)at;
  if (sizeof(Cell) == 2) return *(const volatile unsigned short*)at;
  return *(const volatile unsigned char*)at;
}

// What lay there before; `expected` if `desired` lies there now.
#if EXTREME
// gatherFunc keeps the smaller (the larger) of what it has and what it hears, which is `desired`: there is an instruction
// that does so whoever comes between. On an H100 paths on six graphs took .86 to .94 of the time.
__device__ __forceinline__ uint64 swap_cell(Cell* at, uint64 expected, uint64 desired) {
  const Cell own = cell_of(desired), before = EXTREME == MINIMUM ? atomicMin(at, own) : atomicMax(at, own);
  return (EXTREME == MINIMUM ? own < before : own > before) ? expected : cell_bits(before);
}
#else
__device__ __forceinline__ uint64 swap_cell(Cell* at, uint64 expected, uint64 desired) {
  if (sizeof(Cell) == 8) return atomicCAS((uint64*)at, expected, desired);
  if (sizeof(Cell) == 4) return atomicCAS((unsigned*)at, (unsigned)expected, (unsigned)desired);
  // Smaller cells: swap the aligned word around them, as long as only the rest of it changes.
  unsigned* word = (unsigned*)((uint64)at & ~3ULL);
  const unsigned shift = 8 * ((uint64)at & 3), mask = (sizeof(Cell) == 2 ? 0xffffu : 0xffu) << shift;
  unsigned seen = *(volatile unsigned*)word;
  while ((seen & mask) >> shift == (unsigned)expected) {
    const unsigned before = atomicCAS(word, seen, (seen & ~mask) | (unsigned)desired << shift);
    if (before == seen) return expected;
    seen = before;
  }
  return (seen & mask) >> shift;
}
#endif

// Whether the message was left in the queue of a hub. One atomic per hub and warp.
__device__ __forceinline__ bool wait_at_hub(Gathered value, unsigned v, const Graph& graph, const Space& space,
                                            Control* control) {
  if (!QUEUES || graph.queues == 0) return false;
  const unsigned hub = graph.hub_of[v];
  if (hub >= graph.queues) return false;
  const unsigned peers = __match_any_sync(__activemask(), hub);
  const int first = __ffs(peers) - 1;
  unsigned at = 0;
  if (lane_id() == first) {
    at = atomicAdd(space.waiting_count + hub, (unsigned)__popc(peers));
    if (at == 0) space.called[atomicAdd(&control->head.hubs_called, 1u)] = hub;
  }
  at = __shfl_sync(peers, at, first) + __popc(peers & ((1u << lane_id()) - 1));
  space.waiting[graph.hub_first[hub] + at] = value;
  return true;
}

// What swap_seen begins with. Past L1: with what that holds more swaps fail; on an H200 paths on a web graph took 1.1 of the
// time.
__device__ __forceinline__ uint64 seen_by(State& state, unsigned v) { return load_cell(&written_cell(state, v)); }

// True if the message activates its vertex now; one that waits does so later. `old`: what has been seen of the vertex.
// `ends`, where the caller asks: it does, and needsFunc has no use for another one, so that no other message activates the
// vertex. `ahead` is called when it may activate it, before anybody waits for a swap.
template <class Ahead = Nothing>
__device__ __forceinline__ bool swap_seen(uint64 old, State& state, Gathered value, unsigned v, const Graph& graph,
                                          const Space& space, Control* control, bool* ends = nullptr, Ahead ahead = Ahead()) {
  Cell* at = &written_cell(state, v);
  bool asked = false;
  for (bool first = true;; first = false) {
    Copy copy(state, cell_of(old));
    const bool activated = gatherFunc(copy, value, v);
    const uint64 desired = cell_bits(copy.cell);
    if (activated && !asked) ahead();
    asked |= activated;
    if (desired == old) return activated;
    if (first && wait_at_hub(value, v, graph, space, control)) return false;
    const uint64 seen = swap_cell(at, old, desired);
    if (seen == old) {
      if (ENDS_EARLY && ends) *ends = activated && !needsFunc(copy, v);
      return activated;
    }
    old = seen;
  }
}
#else
__device__ __forceinline__ uint64 seen_by(State&, unsigned) { return 0; }
template <class Ahead = Nothing>
__device__ __forceinline__ bool swap_seen(uint64, State& state, Gathered value, unsigned v, const Graph&, const Space&,
                                          Control*, bool* = nullptr, Ahead ahead = Ahead()) {
  ahead();
  return gatherFunc(state, value, v);  // writes nothing (several fields: PUSH == OWNER, not called)
}
#endif

__device__ __forceinline__ bool swap_gather(State& state, Gathered value, unsigned v, const Graph& graph, const Space& space,
                                            Control* control) {
  return swap_seen(seen_by(state, v), state, value, v, graph, space, control);
}

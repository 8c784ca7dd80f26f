// What an edge does in a level: its message is delivered at once, and whom it activates has a bit for the next one.

// Whether the message to v makes it active at the next level, of whose `bits` it has one then, and no other message has.
// `seen`: of its field (swap.cuh); `ahead` is called before anybody waits.
template <class Ahead>
__device__ __forceinline__ bool reaches(uint64 seen, Gathered x, unsigned v, unsigned* bits, State& state, const Graph& graph,
                                        const Space& space, Control* control, Ahead ahead) {
  bool ends = false;
  if (!swap_seen(seen, state, x, v, graph, space, control, &ends, ahead)) return false;
#if PRIORITISED
#if SWAPPABLE
  Copy now(state, cell_of(load_cell(&written_cell(state, v))));  // past L1, which has not heard of the swap
#else
  State& now = state;
#endif
  if (!joins(v, now, space, control)) return false;
#endif
  unsigned *word = bits + (v >> 5), bit = 1u << (v & 31);
  if (ends) atomicOr(word, bit);  // nobody waits for it: a search saves the round trip of half a microsecond
  else if (atomicOr(word, bit) & bit) return false;
  if (TRACK) set_bit(space.touched_bits, v);
  filterFunc(state, v);
  return true;
}

#if WEIGHTED
#define CARRIED(state, value, edge) weighted(state, value, graph.weights[edge])
#else
#define CARRIED(state, value, edge) (value)
#endif

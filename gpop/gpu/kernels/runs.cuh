// Messages combined at their source: what bins-combined and bins-folded share.
//
// The bins of the reversed graph, walked backwards. Bin (d, p) of those lists, per destination vertex in d, its
// in-edges from p as one run of local ids, flagged at its start. Scatter of p stages what p sends in shared memory,
// reads its ids as one stream and hands on one combined value per run (Runs says where to). So atomics are needed
// per run, not per edge, and runs of one bin never meet. On a graph that equals its reverse these are the graph's
// own bins.
// On an H200, PageRank on RMAT 22, .22 ms here and .14 in gather, these changed less than 2 %: the next segment's ids
// asked for ahead, segments taken by turns, twice as many loads of a partition at once, four swaps of a sum at once,
// and 4, 8 or 16 messages of a lane fetched before any is stored.
// A run that combines to the identity says nothing to gather. It may have had messages all the same, where
// sums count arrivals (COUNTS_ARRIVALS): then scatter marks its vertex itself, so no flag per run moves; and
// asks for that only in partitions whose messages can cancel.

// Inactive vertices send nothing: the identity where that can be staged as it is, else marked by a bit.
const bool STAGED_IDENTITY = MASK != MASK_NONE && !WEIGHTED && !COUNTS_ARRIVALS && sizeof(Message) == sizeof(Folded);
const bool STAGED_BITS = MASK != MASK_NONE && !STAGED_IDENTITY;

const bool WHOLE = Message(0.5) == Message(0);  // sums of whole numbers wrap around

// What partition p sends, and which of its vertices are active, to shared memory. Returns whether sums of
// it can be 0: not if floats of one sign are sent, as in a walk of probabilities.
__device__ bool stage(int p, State& state, const Graph& graph, const Space& space, Message* staged, unsigned* staged_bits) {
  const unsigned base = (unsigned)p << BITS;
  const unsigned size = (unsigned)min((int64)1 << BITS, graph.n - base);
  bool below = false, above = false, none = false;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    const bool sends = !STAGED_IDENTITY || is_active(space, base + i);
    const Message x = sends ? scatterFunc(state, base + i) : (Message)identity<Folded>();
    staged[cell_of_local(i)] = x;
    if (COUNTS_ARRIVALS && !WHOLE) {  // what float cannot tell from 0 counts as such
      below |= (float)x < 0;
      above |= (float)x > 0;
      none |= (float)x == 0 && is_active(space, base + i);
    }
  }
  if (STAGED_BITS)
    for (unsigned i = threadIdx.x; i < (size + 31) / 32; i += blockDim.x)
      staged_bits[i] = BITS >= 5 ? space.frontier_bits[(base >> 5) + i] : space.frontier_bits[base >> 5] >> (base & 31);
  __syncthreads();
  if (!COUNTS_ARRIVALS) return false;
  const bool both = __syncthreads_or(below) && __syncthreads_or(above);
  return __syncthreads_or(none) || both || WHOLE || WEIGHTED;
}

// The messages of a run, or of a part of it; `sent`: there were some, which only CANCELS asks.
struct Run {
  Folded value;
  bool sent;
};
__device__ __forceinline__ Run join(const Run& a, const Run& b) { return {merge(a.value, b.value), a.sent || b.sent}; }
template <bool CANCELS>
__device__ __forceinline__ Run from_below(const Run& run, int lanes) {
  return {__shfl_up_sync(ALL_LANES, run.value, lanes), CANCELS && __shfl_up_sync(ALL_LANES, run.sent, lanes)};
}

// The run of this number (from 1) is whole: its vertex has heard something, even if that adds up to nothing.
__device__ __forceinline__ void mark_cancelled(const Run& run, int number, const Segment& segment, const Graph& graph,
                                               const Space& space) {
  if (run.sent && run.value == identity<Folded>())
    set_bit(space.arrived, ((unsigned)segment.source << BITS) + graph.sources[segment.slot + number]);
}

// One segment of a column, by a warp: a segmented sum over a window of ids at a time. Runs that end are
// collected in the warp's buffer, so that whole sectors are written.
template <class Runs, bool CANCELS>
__device__ void combine_segment(const Segment& segment, State& state, const Graph& graph, const Space& space,
                                const Message* staged, const unsigned* staged_bits, Folded* buffer) {
  const Run nothing = {identity<Folded>(), false};
  const unsigned lane = lane_id();
  const int64 start = segment.first & ~(int64)(LANE_IDS - 1);
  const int skip = (int)(segment.first - start), end = skip + segment.count;
  const Runs out(segment, graph, space);
  int runs = 0;         // begun before this window
  Run carry = nothing;  // of the run that is open
  Raw raw = load_raw(graph.ids, start, LANE_IDS * lane, end);
  for (int window = 0; window < end; window += WINDOW) {
    const int at = window + LANE_IDS * lane;
    const Strip strip = make_strip(raw, at, skip, end);
    raw = load_raw(graph.ids, start, at + WINDOW, end);  // asked for a window ahead
    Pack<BinWeight, LANE_IDS> weight;
    if (WEIGHTED && at < end) weight = *(const Pack<BinWeight, LANE_IDS>*)address(graph.id_weights, start + at);
    const int count = __popc(strip.flags), upto = warp_inclusive_sum(count);
    const int first = upto - count;  // runs that end in this window before this lane
    Run run = nothing;
    bool head_sent = false;  // messages of the run that was open when this lane began
    int ended = first;
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j) {
      const unsigned local = strip.local(j);
      bool sent = strip.belongs(j);
      if (STAGED_BITS) sent = sent && bit_of(staged_bits, local);
      const Run message = sent ? Run{(Folded)weighted(state, staged[strip.cell(j)], weight.at[j]), true} : nothing;
      if (strip.begins(j)) {
        if (CANCELS) {
          if (ended == first)
            head_sent = run.sent;
          else
            mark_cancelled(run, runs + ended, segment, graph, space);
        }
        buffer[ended++] = run.value;
      }
      run = strip.begins(j) ? message : join(run, message);
    }
    // `open`: the run that is open after this lane, as far as it lies in this window (and the carry).
    const unsigned heads = __ballot_sync(ALL_LANES, strip.flags != 0) & (ALL_LANES >> (31 - lane));
    const int reach = lane - (heads ? 31 - __clz(heads) : 0);  // lanes back to where it began
    Run open = lane == 0 && !strip.flags ? join(carry, run) : run;
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
      const Run before = from_below<CANCELS>(open, step);
      if (step <= reach) open = join(before, open);
    }
    Run before = from_below<CANCELS>(open, 1);
    if (lane == 0) before = carry;
    if (count) {  // the run that was open when this lane began
      const Run head = join(before, {buffer[first], head_sent});
      buffer[first] = head.value;
      if (CANCELS) mark_cancelled(head, runs + first, segment, graph, space);
    }
    const int all = __shfl_sync(ALL_LANES, upto, 31);
    carry = {__shfl_sync(ALL_LANES, open.value, 31), CANCELS && __shfl_sync(ALL_LANES, open.sent, 31)};
    __syncwarp();
    for (int i = lane; i < all; i += 32)
      if (runs + i > 0) out.put(runs + i - 1, buffer[i]);
    __syncwarp();
    runs += all;
  }
  if (lane == 0 && runs) {
    out.put(runs - 1, carry.value);
    if (CANCELS) mark_cancelled(carry, runs, segment, graph, space);
  }
}

// Scatter: columns of partitions in this mode are combined, the others send nothing.
template <class Runs>
__device__ void combine_columns(State& state, const Graph& graph, const Space& space, Control* control, void* shared) {
  Message* staged = (Message*)shared;
  unsigned* staged_bits = (unsigned*)((unsigned char*)shared + STAGED_BITS_AT);
  Folded* buffer = (Folded*)((unsigned char*)shared + BUFFERS_AT) + WINDOW * (threadIdx.x >> 5);
  for (unsigned c = claim(&control->head.scatter_claim); c < graph.column_pieces; c = claim(&control->head.scatter_claim)) {
    const Piece piece = graph.column_piece[c];
    const bool sends = space.mode[piece.partition] == MODE_PC;
    const bool cancels = sends && stage(piece.partition, state, graph, space, staged, staged_bits);
    for (int64 s = piece.first + (threadIdx.x >> 5); s < piece.last; s += blockDim.x >> 5) {
      const Segment segment = graph.segment[s];
      if (COUNTS_ARRIVALS && cancels)
        combine_segment<Runs, true>(segment, state, graph, space, staged, staged_bits, buffer);
      else if (sends)
        combine_segment<Runs, false>(segment, state, graph, space, staged, staged_bits, buffer);
      else
        for (int i = lane_id(); i < segment.runs; i += 32) Runs(segment, graph, space).put_none(i);
    }
  }
}

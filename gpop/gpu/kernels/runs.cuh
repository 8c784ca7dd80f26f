// Messages combined at their source: what bins-combined and bins-folded share.
//
// The bins of the reversed graph, walked backwards. Bin (d, p) of those lists, per destination vertex in d, its
// in-edges from p as one run of local ids, flagged at its start. Scatter of p stages what p sends in shared memory,
// reads its ids as one stream and hands on one combined value per run (Runs says where to). So atomics are needed
// per run, not per edge, and runs of one bin never meet. On a graph that equals its reverse these are the graph's
// own bins.
// What limits this is shared memory, in whose banks the ids of a warp meet (perf gpu-tuning). Less than 2 % of PageRank on
// RMAT 22 was changed by the next segment's ids asked for ahead, by segments taken by turns, and by what is done here all
// the same: a window's loads ahead of its stores, and a quarter fewer instructions.
// A run that combines to the identity says nothing to gather. It may have had messages all the same, where
// sums count arrivals (COUNTS_ARRIVALS): then scatter marks its vertex itself, so no flag per run moves; and
// asks for that only in partitions whose messages can cancel.

// Inactive vertices send nothing: the identity where that can be staged as it is, else marked by a bit.
const bool STAGED_IDENTITY = MASK != MASK_NONE && !WEIGHTED && !COUNTS_ARRIVALS && sizeof(Message) == sizeof(Folded);
const bool STAGED_BITS = MASK != MASK_NONE && !STAGED_IDENTITY;

// Values that a thread asks for before it stores one: on an H100 PageRank on RMAT 22 took .95 of the time with that.
const int STAGED = 8;

const bool WHOLE = Message(0.5) == Message(0);  // sums of whole numbers wrap around

// What partition p sends, and which of its vertices are active, to shared memory. Returns whether sums of
// it can be 0: not if floats of one sign are sent, as in a walk of probabilities.
__device__ bool stage(int p, State& state, const Graph& graph, const Space& space, Message* staged, unsigned* staged_bits) {
  const unsigned base = (unsigned)p << BITS;
  const unsigned size = (unsigned)min((int64)1 << BITS, graph.n - base);
  bool below = false, above = false, none = false;
  for (unsigned first = threadIdx.x; first < size; first += STAGED * blockDim.x) {
    Message value[STAGED];
#pragma unroll
    for (int j = 0; j < STAGED; ++j) {
      const unsigned i = first + j * blockDim.x;
      const bool sends = i < size && (!STAGED_IDENTITY || is_active(space, base + i));
      value[j] = sends ? scatterFunc(state, base + i) : (Message)identity<Folded>();
    }
#pragma unroll
    for (int j = 0; j < STAGED; ++j) {
      const unsigned i = first + j * blockDim.x;
      if (i >= size) break;
      const Message x = value[j];
      staged[cell_of_local(i)] = x;
      if (COUNTS_ARRIVALS && !WHOLE) {  // what float cannot tell from 0 counts as such
        below |= (float)x < 0;
        above |= (float)x > 0;
        none |= (float)x == 0 && is_active(space, base + i);
      }
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
__device__ __forceinline__ Run from_lane(const Run& run, int lane) {
  return {__shfl_sync(ALL_LANES, run.value, lane), CANCELS && __shfl_sync(ALL_LANES, run.sent, lane)};
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
  Run carry = nothing;  // of the run that is open: of lane 0
  Raw raw = load_raw(graph.ids, start, LANE_IDS * lane, end);
  for (int window = 0; window < end; window += WINDOW) {
    const int at = window + LANE_IDS * lane;
    const Strip strip = make_strip(raw, at, skip, end);
    raw = load_raw(graph.ids, start, at + WINDOW, end);  // asked for a window ahead
    // All that was staged is read before any run is stored: both lie in shared memory, and for all that the compiler
    // knows one of them where the other does. Ids that do not belong here have cells, too.
    Message value[LANE_IDS];
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j) value[j] = staged[strip.cell(j)];
    Pack<BinWeight, LANE_IDS> weight;
    if (WEIGHTED && at < end) weight = *(const Pack<BinWeight, LANE_IDS>*)address(graph.id_weights, start + at);
    const int count = __popc(strip.flags), upto = warp_inclusive_sum(count);
    const int first = upto - count;  // runs that end in this window before this lane
    unsigned sent = strip.valid;
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j)
      if (STAGED_BITS && !bit_of(staged_bits, strip.local(j))) sent &= ~Strip::bit_for(j);
    Run run = nothing;
    bool head_sent = false;  // messages of the run that was open when this lane began
    Folded* ended = buffer + first;
    Folded said[LANE_IDS];
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j)
      said[j] = !WEIGHTED || (sent & Strip::bit_for(j)) ? (Folded)weighted(state, value[j], weight.at[j]) : nothing.value;
    if (!WEIGHTED && sent != Strip::EVERY) {
#pragma unroll
      for (int j = 0; j < LANE_IDS; ++j)
        if (!(sent & Strip::bit_for(j))) said[j] = nothing.value;
    }
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j) {
      const Run message = {said[j], (sent & Strip::bit_for(j)) != 0};
      if (strip.begins(j)) {
        if (CANCELS) {
          if (ended == buffer + first)
            head_sent = run.sent;
          else
            mark_cancelled(run, runs + (int)(ended - buffer), segment, graph, space);
        }
        *ended++ = run.value;
      }
      run = strip.begins(j) ? message : join(run, message);
    }
    // `open`: the run that is open after this lane, as far as it lies in this window (and the carry). A lane in which none
    // begins is tied to the one below it; in most windows few are, and rounds end when no chain is as long.
    Run open = lane == 0 && !strip.flags ? join(carry, run) : run;
    unsigned tied = ~(__ballot_sync(ALL_LANES, strip.flags != 0) | 1);
    for (int step = 1; tied; step <<= 1) {
      const Run before = from_lane<CANCELS>(open, lane - step);
      if (tied >> lane & 1) open = join(before, open);
      tied &= tied << step;
    }
    const Run below = from_lane<CANCELS>(open, lane - 1);  // of lane 0: from the last lane, what it carries on
    if (count) {  // the run that was open when this lane began
      const Run head = join(lane == 0 ? carry : below, {buffer[first], head_sent});
      buffer[first] = head.value;
      if (CANCELS) mark_cancelled(head, runs + first, segment, graph, space);
    }
    carry = below;
    const int all = __shfl_sync(ALL_LANES, upto, 31);
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

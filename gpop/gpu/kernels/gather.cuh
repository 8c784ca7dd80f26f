// Partition-centric gather for programs without `combine`: blocks stream the columns of bins.
//
// A warp takes a segment of a bin, 8 ids per lane; the slot of a message is the running number of flags
// (one prefix sum per 256 ids). Every message is gathered by compare-and-swap (swap.cuh).
// Bytes per edge: 2 (id) [+ weight] and an access to the vertex; sizeof(Message) [+ 1 mark] per message.

__device__ void gather_segment(const Segment& segment, unsigned base, State& state, const Graph& graph,
                               const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const int64 start = segment.first & ~(int64)(LANE_IDS - 1);
  const Id* ids = graph.ids + start;
  const BinWeight* weights = graph.id_weights + start;
  const int skip = (int)(segment.first - start), end = skip + segment.count;
  const Message* values = space.values + segment.slot;
  const unsigned char* sent = space.sent + segment.slot;
  int slot = 0;  // messages begun before this window; values[slot] is the current one
  for (int window = 0; window < end; window += WINDOW) {
    const int at = window + LANE_IDS * lane;
    const Strip strip = make_strip(load_raw(ids, at, end), at, skip, end);
    const int count = __popc(strip.flags), upto = warp_inclusive_sum(count);
    int mine = slot + upto - count;
    slot += __shfl_sync(ALL_LANES, upto, 31);
    Pack<BinWeight, LANE_IDS> weight;
    if (WEIGHTED && at < end) weight = *(const Pack<BinWeight, LANE_IDS>*)(weights + at);
#pragma unroll
    for (int j = 0; j < LANE_IDS; ++j) {
      mine += strip.begins(j);
      if (!strip.belongs(j)) continue;
      const Message value = values[mine];
      if (MASK == MASK_VALUE && value == (Message)INACTIVE) continue;
      if (MASK == MASK_SENT && !sent[mine]) continue;
      const unsigned v = base + strip.local(j);
      const Gathered x = weighted(state, value, weight.at[j]);
      if (swap_gather(state, x, v, graph, space, control) && !ALL_ACTIVE) activate(v, space, control);
    }
  }
}

__device__ void gather_columns(State& state, const Graph& graph, const Space& space, Control* control) {
  for (unsigned c = claim(&control->head.gather_claim); c < graph.column_pieces; c = claim(&control->head.gather_claim)) {
    const Piece piece = graph.column_piece[c];
    const unsigned base = (unsigned)piece.partition << BITS;
    for (int64 s = piece.first + (threadIdx.x >> 5); s < piece.last; s += blockDim.x >> 5) {
      const Segment segment = graph.segment[s];
      if (space.mode[segment.source] == MODE_PC) gather_segment(segment, base, state, graph, space, control);
    }
  }
}

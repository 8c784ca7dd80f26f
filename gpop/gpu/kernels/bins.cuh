// Strategy bins: partition-centric scatter and gather for programs without `combine`.
//
// Scatter: a block stages scatterFunc of a whole partition in shared memory and writes one value per PNG
// entry, in order. Bytes per message: 2 (source id) + sizeof(Message) [+ 1 mark].
// Gather: blocks stream the columns of bins. A warp takes a segment of a bin, LANE_IDS ids per lane; the slot of
// a message is the running number of flags (one prefix sum per window). Every message is gathered by
// compare-and-swap (swap.cuh). Bytes per edge: 2 (id) [+ weight] and an access to the vertex;
// sizeof(Message) [+ 1 mark] per message.

const int STRIP = 4;  // sources that one thread takes at once: 8 bytes in, 16 bytes out

__device__ void scatter_piece(const Piece& piece, State& state, const Graph& graph, const Space& space, Message* staged,
                              unsigned* staged_bits) {
  const unsigned base = (unsigned)piece.partition << BITS;
  const unsigned size = (unsigned)min((int64)1 << BITS, graph.n - base);
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    Message value = scatterFunc(state, base + i);
    if (MASK == MASK_VALUE && !is_active(space, base + i)) value = INACTIVE;
    staged[i] = value;
  }
  if (MASK == MASK_SENT)
    for (unsigned i = threadIdx.x; i < (size + 31) / 32; i += blockDim.x)
      staged_bits[i] = BITS >= 5 ? space.frontier_bits[(base >> 5) + i] : space.frontier_bits[base >> 5] >> (base & 31);
  __syncthreads();
  for (int64 at = (piece.first & ~(int64)(STRIP - 1)) + STRIP * threadIdx.x; at < piece.last; at += STRIP * blockDim.x) {
    const ushort4 four = *(const ushort4*)address(graph.sources, at);
    const unsigned short source[STRIP] = {four.x, four.y, four.z, four.w};
    Pack<Message, STRIP> out;
    const bool whole = at >= piece.first && at + STRIP <= piece.last;
#pragma unroll
    for (int j = 0; j < STRIP; ++j) {
      const bool mine = whole || (at + j >= piece.first && at + j < piece.last);
      out.at[j] = mine ? staged[source[j]] : Message(0);
      if (MASK == MASK_SENT && mine) space.sent[at + j] = staged_bits[source[j] >> 5] >> (source[j] & 31) & 1;
      if (!whole && mine) space.values[at + j] = out.at[j];
    }
    if (whole) *(Pack<Message, STRIP>*)(space.values + at) = out;
  }
}

// Partition-centric scatter of all partitions in that mode.
__device__ void scatter_rows(State& state, const Graph& graph, const Space& space, Control* control, void* shared) {
  Message* staged = (Message*)shared;
  unsigned* staged_bits = (unsigned*)((unsigned char*)shared + STAGED_BITS_AT);
  for (unsigned c = claim(&control->head.scatter_claim); c < graph.row_pieces; c = claim(&control->head.scatter_claim)) {
    const Piece piece = graph.row_piece[c];
    if (space.mode[piece.partition] == MODE_PC) scatter_piece(piece, state, graph, space, staged, staged_bits);
  }
}

__device__ void gather_segment(const Segment& segment, unsigned base, State& state, const Graph& graph,
                               const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const int64 start = segment.first & ~(int64)(LANE_IDS - 1);
  const int skip = (int)(segment.first - start), end = skip + segment.count;
  const Message* values = space.values + segment.slot;
  const unsigned char* sent = space.sent + segment.slot;
  int slot = 0;  // messages begun before this window; values[slot] is the current one
  for (int window = 0; window < end; window += WINDOW) {
    const int at = window + LANE_IDS * lane;
    const Strip strip = make_strip(load_raw(graph.ids, start, at, end), at, skip, end);
    const int count = __popc(strip.flags), upto = warp_inclusive_sum(count);
    int mine = slot + upto - count;
    slot += __shfl_sync(ALL_LANES, upto, 31);
    Pack<BinWeight, LANE_IDS> weight;
    if (WEIGHTED && at < end) weight = *(const Pack<BinWeight, LANE_IDS>*)address(graph.id_weights, start + at);
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

struct Bins {
  static __device__ __forceinline__ void scatter(State& state, const Graph& graph, const Space& space, Control* control) {
    scatter_rows(state, graph, space, control, shared_memory);
  }
  static __device__ __forceinline__ void gather(State& state, const Graph& graph, const Space& space, Control* control) {
    gather_columns(state, graph, space, control);
  }
};

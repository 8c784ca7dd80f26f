// Scatter: what leaves a source vertex.
//
// Partition-centric: a block stages scatterFunc of a whole partition in shared memory and writes one
// value per PNG entry, in order. Bytes per message: 2 (source id) + sizeof(Message) [+ 1 mark].
// Source-centric: scatterFunc of each active vertex goes to vertex_value; the edges are pushed in push.cuh.

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
    const ushort4 four = *(const ushort4*)(graph.sources + at);
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

// Source-centric scatter: values of the active vertices; initFunc follows at once, on the same thread.
__device__ void scatter_list(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const int64 size = ALL_ACTIVE ? graph.n : control->head.list_size;
  for (int64 i = team.rank(); i < size; i += team.size()) {
    const unsigned v = ALL_ACTIVE ? (unsigned)i : space.list[i];
    if (control->head.dense && space.mode[partition_of(v)] != MODE_SC) continue;
    space.vertex_value[v] = scatterFunc(state, v);
    if (HAS_INIT && initFunc(state, v) && !ALL_ACTIVE) activate(v, space, control);
  }
}

// initFunc for the active vertices of partitions that scattered partition-centric.
__device__ void init_rows(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  for (int64 v = team.rank(); v < graph.n; v += team.size()) {
    if (space.mode[partition_of(v)] != MODE_PC || !is_active(space, v)) continue;
    if (initFunc(state, v) && !ALL_ACTIVE) activate(v, space, control);
  }
}

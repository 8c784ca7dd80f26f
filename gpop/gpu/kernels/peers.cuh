// The exchange of exchange.cuh between GPUs that reach each other's memory: no library and no host in between.
//
// Every rank has a block of memory that all others write to (gpop/ranks/peers.py):
//
//   int64 rows[2][ranks][ranks + 2]   counts of every rank, of this round or the one before, in turns
//   int64 told[ranks], sent[ranks]    the last round of which a rank's row, or its messages, are all here
//   bytes[2]                          messages of each rank, in a form that both know from the rows; in turns
//
// A round: a rank counts what it has for the others (`count`), tells them and writes it where they look for it
// (`send`), waits for their rows (`meet`), from which all know whether the run is over, takes what they have sent
// (`take`), and iterates. What is written for a round may overwrite what was for the last but one: who has the rows of
// the one in between knows that the others are through with it. What is written before a flag is visible to who has seen
// the flag: fences of the system on both sides.
//
// TOLD: what a vertex says is the same on every rank, and local ids are global ones. Then a rank's bits of the
// frontier are all that it sends, as they are: an eighth of a byte per own vertex. Nobody looks at mirrors, or at
// degrees of vertices of others, so that every rank counts the edges of its own active vertices, to whatever rank, and
// tells them; of all those it takes its share of the edges for its own.
#include "exchange.cuh"

struct Wire {
  const uint64* blocks;       // of each rank, as this device reaches it
  const int64* places;        // where in those this rank's messages begin
  const int64* rooms;         // and how far those of the other turn lie from there
  const unsigned* sends;      // mirrored vertices, by rank; where each rank's begin; their bits
  const int64* send_first;
  unsigned* bits;
  const int64* word_first;
  const unsigned* mirrors;    // by the rank that sends
  const int64* mirror_first;
  const int64* in_first;      // where in the own block a rank's messages begin
  int64* cursors;
  Message* message;
  int64* counted;             // [2][ranks + 2]: what `count` has found, in turns
  int64* log;                 // of every round the rows, [rank][ranks + 2], and nanoseconds of its exchange
  const int64* range;         // TOLD: with which word of the frontier's bits each rank's vertices begin
  int64 ranks, rank;
  int64 m;                    // TOLD: edges of all ranks

  __device__ int64 row() const { return ranks + 2; }
  __device__ int64* rows(int64 of, int64 round) const { return (int64*)blocks[of] + (round & 1) * ranks * row(); }
  __device__ volatile int64* told(int64 of) const { return (int64*)blocks[of] + 2 * ranks * row(); }
  __device__ volatile int64* sent(int64 of) const { return told(of) + ranks; }
  __device__ int64* own_row(int64 round) const { return counted + (round & 1) * row(); }
  __device__ int64* logged(int64 slot) const { return log + slot * (ranks * row() + 1); }
  __device__ int64* spent(int64 slot) const { return logged(slot) + ranks * row(); }
  __device__ char* there(int64 of, int64 round) const {
    return (char*)blocks[of] + places[of] + (round & 1) * rooms[of];
  }
  __device__ const char* here(int64 from, int64 round) const {
    return (const char*)blocks[rank] + in_first[from] + (round & 1) * rooms[rank];
  }
};

struct Form {  // gpop/gpu/exchange_form.py
  int64 form, index_bytes, entries;

  __device__ Form(int64 count, int64 mirrors) {
    const int64 bits = whole((mirrors + 31) / 32 * 4), numbers = whole(4 * count);
    const bool in_bits = bits + mirrors * (int64)sizeof(Message) < numbers + count * (int64)sizeof(Message);
    form = count == 0 ? FORM_NOTHING : count == mirrors ? FORM_ALL : in_bits ? FORM_BITS : FORM_PAIRS;
    index_bytes = form == FORM_BITS ? bits : form == FORM_PAIRS ? numbers : 0;
    entries = form == FORM_PAIRS ? count : mirrors;
  }
  __device__ static int64 whole(int64 bytes) { return (bytes + 7) / 8 * 8; }
};

// What the host does between iterations otherwise (`HostRounds._reopen`); false: the run is over.
__device__ bool open_round(const Wire& wire, const Graph& graph, Control* control, int64 slot) {
  const int64* counts = wire.logged(slot);
  int64 active = 0, incoming = 0;
  for (int64 r = 0; r < wire.ranks; ++r) {
    active += counts[r * wire.row() + wire.ranks];
    incoming += counts[r * wire.row() + wire.rank];
  }
  Control::Head& head = control->head;
  if (active == 0) return false;
  const bool loaded = head.fresh;
  if (!loaded) {
    head.needy += head.frontier;
    head.needy_edges += head.edges;
    head.next_frontier = head.frontier;
    head.next_edges = head.edges;
    head.next_list = head.list_size;
    head.next_heavy = head.heavy_size;
    head.fresh = 1;
  }
#if TOLD
  int64 edges = 0;
  for (int64 r = 0; r < wire.ranks; ++r) edges += counts[r * wire.row() + wire.ranks + 1];
  edges = (int64)((double)edges * (double)graph.m / (double)max((int64)1, wire.m));
  head.needy += active - head.next_frontier;  // those of others are taken off again, but have never been among them
  head.needy_edges += edges - head.next_edges;
  head.own_vertices = 32 * (wire.range[wire.rank + 1] - wire.range[wire.rank]);
  if (loaded) head.needy -= graph.n - head.own_vertices;
  head.next_frontier = active;
  head.next_edges = edges;
#endif
  if (incoming > MOST_LISTED) head.list_valid = head.next_list = head.next_heavy = 0;
  if (!ALL_ACTIVE && counts[wire.rank * wire.row() + wire.ranks] + incoming == 0) {  // others have something to do
    for (int column = 0; column < TRACE_COLUMNS; ++column) control->trace[head.rows][column] = 0;
    head.iteration += 1;
    head.rows += 1;
    head.row_limit = head.rows;
  } else {
    head.row_limit = head.rows + 1;
  }
  return true;
}

// What this rank has for the others, by all blocks: their number for each rank, and behind them what is active here.
// `edges`: of the vertices that were loaded, TOLD.
__device__ __forceinline__ void count(Team& team, const Wire& wire, const Space& space, Control* control, int64 round,
                                      int64 edges) {
  int64* row = wire.own_row(round);
#if TOLD
  if (!team.leader()) return;
  const Control::Head& head = control->head;
  const int64 active = head.fresh ? head.next_frontier : head.frontier;
  for (int64 r = 0; r < wire.ranks; ++r) row[r] = r == wire.rank ? 0 : active;
  row[wire.ranks] = active;
  row[wire.ranks + 1] = edges >= 0 ? edges : head.edges;
#else
  int64* next = wire.own_row(round + 1);
  choose(team, space, control, wire.sends, wire.send_first, wire.ranks, wire.bits, row, next, wire.cursors);
  team.sync();
#endif
}

// The own row to all, by block 0; a thread for each rank.
__device__ __forceinline__ void tell(const Wire& wire, int64 round) {
  __syncthreads();
  const int64* row = wire.own_row(round);
  for (int64 r = threadIdx.x; r < wire.ranks; r += blockDim.x) {
    int64* there = wire.rows(r, round) + wire.rank * wire.row();
    for (int64 i = 0; i < wire.row(); ++i) there[i] = row[i];
    __threadfence_system();
    wire.told(r)[wire.rank] = round;
  }
}

// Messages into the blocks of who mirrors this rank's vertices, or its bits into those of all; by all blocks.
__device__ __forceinline__ void send(Team& team, State& state, const Wire& wire, const Space& space, int64 round) {
#if TOLD
  const int64 first = wire.range[wire.rank], size = wire.range[wire.rank + 1] - first;
  const int64 step = team.size();
  for (int64 i = team.rank(); i < size; i += AT_ONCE * step) {
    unsigned word[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; ++u) word[u] = i + u * step < size ? space.frontier_bits[first + i + u * step] : 0;
    for (int64 r = 0; r < wire.ranks; ++r) {
      if (r == wire.rank) continue;
      unsigned* there = (unsigned*)wire.there(r, round);
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u)
        if (i + u * step < size) there[i + u * step] = word[u];
    }
  }
#else
  const int64* counts = wire.own_row(round);
  for (int64 r = 0; r < wire.ranks; ++r) {
    const int64 first = wire.send_first[r], size = wire.send_first[r + 1] - first;
    const Form form(counts[r], size);
    char* there = wire.there(r, round);
    if (form.form)
      pack(team, state, wire.sends + first, size, form.form, wire.bits + wire.word_first[r], (unsigned*)there,
           (Message*)(there + form.index_bytes), wire.cursors + r);
  }
#endif
  __threadfence_system();
}

// By block 0, when all blocks have sent: the rows of all ranks into the log. True: the round is open, all may take.
// `opens`: there is to be one, and messages were sent.
__device__ __forceinline__ bool meet(const Wire& wire, const Graph& graph, Control* control, int64 slot, int64 round,
                                     bool opens) {
  const int64 size = wire.row();
  int64* rows = wire.logged(slot);
  if (opens && threadIdx.x == 0) {
    __threadfence_system();
    for (int64 r = 0; r < wire.ranks; ++r) wire.sent(r)[wire.rank] = round;
  }
  for (int64 r = threadIdx.x; r < wire.ranks; r += blockDim.x) {
    while (wire.told(wire.rank)[r] < round) {}
    __threadfence_system();
    const volatile int64* here = wire.rows(wire.rank, round);
    for (int64 i = r * size; i < (r + 1) * size; ++i) rows[i] = here[i];
  }
  __syncthreads();
  return threadIdx.x == 0 && opens && open_round(wire, graph, control, slot);
}

// Waits until all that a rank has sent in this round is here.
__device__ __forceinline__ void wait_for(const Wire& wire, int64 rank, int64 round) {
  if (threadIdx.x == 0) {
    while (wire.sent(wire.rank)[rank] < round) {}
    __threadfence_system();
  }
  __syncthreads();
}

// TOLD: the bits of another rank's vertices, which join the frontier; listed where there are few.
__device__ void take_bits(Team& team, const Graph& graph, const Space& space, Control* control, int64 begin, int64 end,
                          const unsigned* bits) {
  const bool listed = control->head.list_valid;
  for (int64 first = begin + 32LL * team.warp(); first < end; first += 32LL * team.warps()) {
    const int64 w = first + lane_id();
    const unsigned own = w < end ? bits[w - begin] : 0;
    if (w < end) space.frontier_bits[w] = own;
    if (!__any_sync(ALL_LANES, own != 0)) continue;
    if (BITS >= 10) {  // they lie in one partition
      count_partition((unsigned)(32 * first >> BITS), __popc(own), 0, space);
    } else {
      if (own) atomicAdd(space.active_vertices + partition_of((unsigned)(32 * w)), (unsigned)__popc(own));
      __syncwarp();
    }
    if (listed) walk_words(first, own, true, graph, space, control, [](unsigned, int64) {});
  }
}

// Messages of the others, when they are all here; by all blocks.
__device__ __forceinline__ void take(Team& team, const Wire& wire, const Graph& graph, const Space& space,
                                     Control* control, int64 slot, int64 round) {
#if TOLD
  for (int64 r = 0; r < wire.ranks; ++r) {
    if (r == wire.rank) continue;
    wait_for(wire, r, round);
    take_bits(team, graph, space, control, wire.range[r], wire.range[r + 1], (const unsigned*)wire.here(r, round));
  }
#else
  for (int64 r = 0; r < wire.ranks; ++r) {
    const int64 first = wire.mirror_first[r], size = wire.mirror_first[r + 1] - first;
    const Form form(wire.logged(slot)[r * wire.row() + wire.rank], size);
    if (!form.form) continue;
    wait_for(wire, r, round);
    const char* here = wire.here(r, round);
    unpack(team, graph, space, control, wire.mirrors + first, form.entries, form.form, (const unsigned*)here,
           (const Message*)(here + form.index_bytes), wire.message);
  }
#endif
}

// Strategy hyb: generalised SpMV over HYB (gpop/layout/hyb.py), a thread per row of ELL and a segmented fold of COO.
//
// Row v is destination v, its entries are v's in-edges; the row's thread alone writes v, nothing is atomic (HPGraph).
// Where the program declares `combine` two kernels' work is done in turn, with a barrier between: warps take chunks of
// COO, LANE_ENTRIES consecutive ones a lane, so that most are folded in registers and a lane's sources are all on their
// way at once, and leave the combined messages of every row, of a row that several chunks share one per chunk; then a
// thread per row combines its entries in ELL with those, and gatherFunc hears of them once. Otherwise, and where a
// vertex may stop early, messages are taken one by one in the order of their sources: in ELL by the row's thread, behind
// it by a warp (pull_hub) that reads the row's entries in COO as if they were all in-edges.
//
// Bytes: 4 per slot of ELL, empty ones included, 128 of neighbouring lanes together; per entry of COO 4 (column) and,
// where it is folded, 4 (row), as streams; per entry a word of the frontier's bits, and of an active source its value
// [+ weight]. The layout is read once and let go of first, so that what the sources have sent stays in the caches.
#include "in_edges.cuh"
#include "messages_combined.cuh"

const unsigned NO_ENTRY = 0xffffffffu;

// Where the messages of a row lie that end in a chunk: at the row, or at the chunk if it had some in the one before.
__device__ __forceinline__ void leave(const Combined& row, int64 at, const Space& space) {
  space.partials[at] = (Folded)row.value;
  if (!ALL_ACTIVE) space.sent[at] = row.some;
}
__device__ __forceinline__ void add_left(Combined& row, int64 at, const Space& space) {
  row.add((Total)space.partials[at], ALL_ACTIVE || space.sent[at]);
}

const int LANE_ENTRIES = 4;  // of COO, that a lane takes at once: 16 bytes of rows, and of sources
const int WINDOW_ENTRIES = 32 * LANE_ENTRIES;

struct Entries {
  unsigned rows[LANE_ENTRIES], source[LANE_ENTRIES];
};

// Those from `e` on; what lies at `end` or behind it has no row. Arrays are longer by a vector than their entries.
__device__ __forceinline__ Entries entries_at(int64 e, int64 end, const Graph& graph) {
  uint4 row = {NO_ENTRY, NO_ENTRY, NO_ENTRY, NO_ENTRY}, source = {0, 0, 0, 0};
  if (e < end) {
    row = __ldcs((const uint4*)(graph.coo_row + e));
    source = __ldcs((const uint4*)(graph.coo_source + e));
  }
  Entries found = {{row.x, row.y, row.z, row.w}, {source.x, source.y, source.z, source.w}};
#pragma unroll
  for (int j = 1; j < LANE_ENTRIES; ++j)
    if (e + j >= end) found.rows[j] = NO_ENTRY;
  return found;
}

__device__ __forceinline__ Combined from_below(const Combined& own, unsigned lanes) {
  return {__shfl_up_sync(ALL_LANES, own.value, lanes), ALL_ACTIVE || __shfl_up_sync(ALL_LANES, (int)own.some, lanes)};
}

// Chunks of COO, a window after the other, asked for one ahead; the row that a window ends in is carried on. A lane
// folds what it has of the row that it ends in, the warp folds those of lanes that have no other row, and then each
// lane knows what the row that it begins with has heard before.
__device__ __forceinline__ void combine_entries(Team& team, State& state, const Graph& graph, const Space& space) {
  const unsigned lane = lane_id();
  const int64 chunks = (graph.coo_entries + COO_CHUNK - 1) / COO_CHUNK;
  Graph coo = graph;
  coo.in_weights = graph.coo_weight;
  for (int64 chunk = team.warp(); chunk < chunks; chunk += team.warps()) {
    const int64 first = chunk * COO_CHUNK, end = min(first + COO_CHUNK, graph.coo_entries);
    const unsigned begun = first ? __ldg(graph.coo_row + first - 1) : NO_ENTRY;
    unsigned carried_row = NO_ENTRY;
    Combined carried = {Total(0), ALL_ACTIVE};
    Entries ahead = entries_at(first + LANE_ENTRIES * lane, end, graph);
    for (int64 window = first; window < end; window += WINDOW_ENTRIES) {
      const int64 e = window + LANE_ENTRIES * lane;
      const Entries here = ahead;
      ahead = entries_at(e + WINDOW_ENTRIES, end, graph);
      Combined heard[LANE_ENTRIES];
#pragma unroll
      for (int j = 0; j < LANE_ENTRIES; ++j) {
        const bool entry = here.rows[j] != NO_ENTRY, sent = entry && is_active(space, here.source[j]);
        heard[j] = {sent ? (Total)pulled(e + j, here.source[j], state, coo, space) : Total(0), ALL_ACTIVE || sent};
      }
      const unsigned last_below = __shfl_up_sync(ALL_LANES, here.rows[LANE_ENTRIES - 1], 1);
      const unsigned row_above = __shfl_sync(ALL_LANES, lane ? here.rows[0] : ahead.rows[0], (lane + 1) & 31);
      const bool continues = here.rows[0] == (lane ? last_below : carried_row);
      if (lane == 0 && continues) heard[0].add(carried.value, carried.some);
      bool whole = continues && lane;  // all of it is of the row that the lane below ends in
      Combined ending = heard[0];
#pragma unroll
      for (int j = 1; j < LANE_ENTRIES; ++j) {
        const bool same = here.rows[j] == here.rows[j - 1];
        whole &= same;
        if (!same) ending = {Total(0), false};
        ending.add(heard[j].value, heard[j].some);
      }
      const unsigned heads = __ballot_sync(ALL_LANES, !whole);
      const unsigned reach = lane - (31 - __clz(heads & (ALL_LANES >> (31 - lane))));  // lanes back to its head
#pragma unroll
      for (unsigned step = 1; step < 32; step <<= 1) {
        const Combined other = from_below(ending, step);
        if (step <= reach) ending.add(other.value, other.some);
      }
      Combined row = from_below(ending, 1);
      if (!lane || !continues) row = {Total(0), false};
#pragma unroll
      for (int j = 0; j < LANE_ENTRIES; ++j) {
        row.add(heard[j].value, heard[j].some);
        const unsigned own = here.rows[j];
        const unsigned following = j + 1 < LANE_ENTRIES ? here.rows[j + 1] : row_above;
        if (own == following) continue;
        if (own != NO_ENTRY) leave(row, own == begun ? graph.n + chunk : (int64)own, space);
        row = {Total(0), false};
      }
      carried_row = __shfl_sync(ALL_LANES, here.rows[LANE_ENTRIES - 1], 31);
      carried = {__shfl_sync(ALL_LANES, ending.value, 31), ALL_ACTIVE || __shfl_sync(ALL_LANES, (int)ending.some, 31)};
    }
  }
}

// ELL_AHEAD entries of a row from column k on.
__device__ __forceinline__ void fetch_row(unsigned (&source)[ELL_AHEAD], int64 v, int64 k, const Graph& graph) {
#pragma unroll
  for (int j = 0; j < ELL_AHEAD; ++j)
    source[j] = v < graph.n && k + j < graph.ell_width ? __ldcs(graph.ell_source + (k + j) * graph.ell_pitch + v) : NO_ENTRY;
}

// A thread per row: its entries in ELL, the first ones fetched a row ahead, and what combine_entries has left.
__device__ __forceinline__ void gather_rows(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  Graph ell = graph;
  ell.in_weights = graph.ell_weight;
  unsigned source[ELL_AHEAD], ahead[ELL_AHEAD];
  fetch_row(ahead, team.rank(), 0, graph);
  for (int64 v = team.rank(); v < graph.n; v += team.size()) {
#pragma unroll
    for (int j = 0; j < ELL_AHEAD; ++j) source[j] = ahead[j];
    fetch_row(ahead, v + team.size(), 0, graph);
    Owned own(state, (unsigned)v);
    if (!needsFunc(own, (unsigned)v)) continue;
    Combined row = {Total(0), false};
    unsigned last = 0;  // what lies in the last column of ELL
    for (int64 k = 0; k < graph.ell_width; k += ELL_AHEAD) {
      if (k) fetch_row(source, v, k, graph);
#pragma unroll
      for (int j = 0; j < ELL_AHEAD; ++j) {
        if (k + j < graph.ell_width) last = source[j];
        if (source[j] != NO_ENTRY && is_active(space, source[j]))
          row.add((Total)pulled((k + j) * graph.ell_pitch + v, source[j], state, ell, space), true);
      }
    }
    const bool longer = last != NO_ENTRY;
    const int64 begin = longer ? __ldg(graph.coo_first + v) : 0, end = longer ? __ldg(graph.coo_first + v + 1) : 0;
    if (begin < end) {
      add_left(row, v, space);
#pragma unroll 8
      for (int64 chunk = begin / COO_CHUNK + 1; chunk <= (end - 1) / COO_CHUNK; ++chunk) add_left(row, graph.n + chunk, space);
    }
    if (!row.some) continue;
    const bool activated = gatherFunc(own, (Gathered)row.value, (unsigned)v);
    put_back(own, state, (unsigned)v);
    if (activated && !ALL_ACTIVE) activate((unsigned)v, space, control);
  }
}

// A warp's 32 rows, message by message until needsFunc says no.
__device__ __forceinline__ void take_rows(int64 first, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned v = (unsigned)min(first + lane_id(), graph.n - 1);
  Graph ell = graph, coo = graph;
  ell.in_weights = graph.ell_weight;
  coo.in_indptr = graph.coo_first, coo.in_indices = graph.coo_source, coo.in_weights = graph.coo_weight;
  Owned own(state, v);
  bool wants = first + lane_id() < graph.n && needsFunc(own, v);
  Inbox inbox;
  for (int64 k = 0; wants && k < graph.ell_width; ++k) {
    const int64 at = k * graph.ell_pitch + v;
    const unsigned source = __ldg(graph.ell_source + at);
    if (source == NO_ENTRY || !is_active(space, source)) continue;
    inbox.take(own, pulled(at, source, state, ell, space), v);
    if (ENDS_EARLY) wants = needsFunc(own, v);
  }
  const bool activated = inbox.close(own, v);
  if (inbox.heard) put_back(own, state, v);
  if (activated && !ALL_ACTIVE) activate(v, space, control);
  __syncwarp();
  Asked asked = {0, 0, 0};
  unsigned longer = __ballot_sync(ALL_LANES, wants && graph.coo_first[v] < graph.coo_first[v + 1]);
  for (; longer; longer &= longer - 1) pull_hub(__shfl_sync(ALL_LANES, v, __ffs(longer) - 1), state, coo, space, control, asked);
}

struct Hyb {
  static const bool LISTED = false;

  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    scatter_list(team, state, graph, space, control);
  }

  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    if (!FOLDS_ROWS) {
      for (int64 first = 32 * (int64)team.warp(); first < graph.n; first += team.size())
        take_rows(first, state, graph, space, control);
      return;
    }
    if (graph.coo_entries) {
      combine_entries(team, state, graph, space);
      team.sync();
    }
    gather_rows(team, state, graph, space, control);
  }
};

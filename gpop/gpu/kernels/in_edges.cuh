// Vertices that ask: they walk their in-edges and take the messages of active sources, correct for any gatherFunc.
//
// gatherFunc runs on a copy of the written fields in registers (Owned), which is put back at the end. In-edges are
// taken in ascending order of their sources, as on the CPU, until needsFunc says no. A warp takes 32 vertices, each
// lane the owner of one, and walks their in-edges together. Where they may stop early each lane first looks at the
// first few of several vertices by itself, all fetched at once; most need no more. A hub has a warp of its own, whose
// lanes all do the same.
// Warps claim their work, hubs first. Bytes: what needsFunc reads; of a vertex that wants messages its offset, and
// 4 [+ weight] per in-edge that is looked at, a bit of the frontier, and the source's value.
#include "owner_of.cuh"

const int FIRST_EDGES = 4;  // in-edges of a vertex that its lane looks at by itself, if it may stop early
const int TILES = 4;        // vertices of which it does so at once

struct Asked {  // what a thread has found out by asking
  int64 messages, left, left_edges;  // messages taken; vertices that want some still, and their in-edges
};

__device__ __forceinline__ Gathered pulled(int64 e, unsigned source, State& state, const Graph& graph, const Space& space) {
#if WEIGHTED
  return weighted(state, sent_by(source, state, space, LIVE), graph.in_weights[e]);
#else
  return sent_by(source, state, space, LIVE);
#endif
}

__device__ void pull_hub(unsigned v, State& state, const Graph& graph, const Space& space, Control* control, Asked& asked) {
  Owned own(state, v);
  bool wants = needsFunc(own, v);
  if (!wants) return;
  Inbox inbox;
  const int64 begin = graph.in_indptr[v], end = graph.in_indptr[v + 1];
  for (int64 e = begin + lane_id(); wants && e - lane_id() < end; e += 32 * AHEAD) {
    unsigned source[AHEAD], senders[AHEAD];
    Gathered value[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) source[j] = e + 32 * j < end ? graph.in_indices[e + 32 * j] : 0;
#pragma unroll
    for (int j = 0; j < AHEAD; ++j) {
      const bool sent = e + 32 * j < end && is_active(space, source[j]);
      value[j] = sent ? pulled(e + 32 * j, source[j], state, graph, space) : Gathered(0);
      senders[j] = __ballot_sync(ALL_LANES, sent);
    }
    take_fetched(own, v, value, senders, wants, inbox);
  }
  if (lane_id() == 0) {
    asked.messages += inbox.heard;
    asked.left += wants;
    asked.left_edges += wants ? end - begin : 0;
  }
  end_hub(own, v, inbox, state, space, control);
}

// The in-edges from `at` on of 32 vertices, one of each lane. Those that are wanted now are numbered through; a window
// of 32 is fetched at once. Where vertices may stop early, rounds begin with few edges of each and grow. True where a
// vertex wants some still.
__device__ __forceinline__ bool walk_tile(unsigned v, int64 at, int64 end, bool wants, Owned& own, Inbox& inbox, State& state,
                                          const Graph& graph, const Space& space) {
  bool unmet = wants;  // until needsFunc says no
  wants = wants && at < end;
  for (int most = ENDS_EARLY ? 4 * FIRST_EDGES : HUB; __any_sync(ALL_LANES, wants); most = min(4 * most, HUB)) {
    const int edges = wants ? (int)min(end - at, (int64)most) : 0;
    const int upto = warp_inclusive_sum(edges), before = upto - edges;
    const int all = __shfl_sync(ALL_LANES, upto, 31);
    for (int window = 0; window < all; window += 32) {
      const int number = window + lane_id();
      const int owner = owner_of(number, before);
      const int64 e = __shfl_sync(ALL_LANES, at - before, owner) + number;
      const unsigned source = number < all ? graph.in_indices[e] : 0;
      const bool sent = number < all && is_active(space, source);
      const Gathered value = sent ? pulled(e, source, state, graph, space) : Gathered(0);
      unsigned mine = __ballot_sync(ALL_LANES, sent);
      mine &= wants ? lanes_between(before - window, upto - window) : 0;
      while (__any_sync(ALL_LANES, mine)) {
        const Gathered x = __shfl_sync(ALL_LANES, value, mine ? __ffs(mine) - 1 : 0);
        if (!mine) continue;
        mine &= mine - 1;
        inbox.take(own, x, v);
        if (ENDS_EARLY && !needsFunc(own, v)) wants = unmet = mine = 0;
      }
    }
    at += edges;
    wants = wants && at < end;
  }
  return unmet;
}

// After the last message that a vertex has wanted; `unmet`: it wants more, of so many in-edges. True if it is active.
__device__ __forceinline__ bool end_vertex(Owned& own, unsigned v, Inbox& inbox, bool unmet, int64 edges, State& state, Asked& asked) {
  const bool activated = inbox.close(own, v);
  if (inbox.heard) put_back(own, state, v);
  asked.messages += inbox.heard;
  asked.left += unmet;
  asked.left_edges += unmet ? edges : 0;
  return activated;
}

// Of 32 vertices from `first` on, these are active. LISTS: candidates in the list, else bits.
template <bool LISTS>
__device__ __forceinline__ void activate_tile(int64 first, bool activated, const Space& space, Control* control) {
  if (LISTS) {
    if (activated && !ALL_ACTIVE) activate((unsigned)(first + lane_id()), space, control);
  } else {
    const unsigned bits = __ballot_sync(ALL_LANES, activated);
    if (lane_id() == 0 && bits) atomicOr(space.active_bits + (first >> 5), bits);  // hubs have other warps
  }
}

// 32 vertices from `first` on, by the warp together.
template <bool LISTS>
__device__ __forceinline__ void pull_tile(int64 first, State& state, const Graph& graph, const Space& space, Control* control,
                                          Asked& asked) {
  const unsigned v = (unsigned)min(first + lane_id(), graph.n - 1);
  Owned own(state, v);
  bool wants = first + lane_id() < graph.n && needsFunc(own, v);
  if (!__any_sync(ALL_LANES, wants)) return;
  const int64 begin = wants ? graph.in_indptr[v] : 0, end = wants ? graph.in_indptr[v + 1] : 0;
  wants = wants && begin < end && end - begin <= HUB;
  Inbox inbox;
  const bool unmet = walk_tile(v, begin, end, wants, own, inbox, state, graph, space);
  activate_tile<LISTS>(first, end_vertex(own, v, inbox, unmet, end - begin, state, asked), space, control);
}

// Vertices that may stop early and have not at their first in-edges: they wait until a warp has 32 of them. In shared
// memory, which iterations that ask have no other use for.
struct Later {
  static const int MOST = 32 * TILES + 31;
  static_assert(BLOCK_THREADS / 32 * MOST * 5 <= SHARED_BYTES, "all that wait have room");
  unsigned* vertex;
  unsigned char* looked_at;  // in-edges that have sent nothing
  int count;

  __device__ __forceinline__ Later()
      : vertex((unsigned*)shared_memory + (threadIdx.x >> 5) * MOST), looked_at((unsigned char*)((unsigned*)shared_memory +
        (blockDim.x >> 5) * MOST) + (threadIdx.x >> 5) * MOST), count(0) {}

  __device__ __forceinline__ void add(unsigned v, bool waits, int before) {
    const unsigned who = __ballot_sync(ALL_LANES, waits);
    const int at = count + __popc(who & ((1u << lane_id()) - 1));
    if (waits) vertex[at] = v, looked_at[at] = (unsigned char)before;
    count += __popc(who);
    __syncwarp();
  }

  // The last of those that wait, at most 32.
  __device__ __forceinline__ void pull(State& state, const Graph& graph, const Space& space, Control* control, Asked& asked) {
    const int some = min(32, count), at = count - some + (int)lane_id();
    const bool wants = (int)lane_id() < some;
    const unsigned v = wants ? vertex[at] : 0;
    Owned own(state, v);
    const int64 begin = wants ? graph.in_indptr[v] : 0, end = wants ? graph.in_indptr[v + 1] : 0;
    Inbox inbox;
    const bool unmet = walk_tile(v, begin + (wants ? looked_at[at] : 0), end, wants, own, inbox, state, graph, space);
    if (end_vertex(own, v, inbox, unmet, end - begin, state, asked) && !ALL_ACTIVE) activate(v, space, control);
    __syncwarp();
    count -= some;
  }
};

// TILES times 32 vertices, of which each lane has one of every 32 and looks at its first in-edges by itself, all fetched
// at once: what limits is how many loads are on their way. Who wants more has heard nothing, or is asked anew.
__device__ __forceinline__ void look_first(int64 first, State& state, const Graph& graph, const Space& space, Control* control,
                                           Asked& asked, Later& later) {
  unsigned source[TILES][FIRST_EDGES];
  int64 begin[TILES];
  int edges[TILES];  // 0: it has no use for messages, or has a warp of its own
#pragma unroll
  for (int j = 0; j < TILES; ++j) {
    const int64 v = first + 32 * j + lane_id();
    bool wants = false;
    if (v < graph.n) {
      Owned own(state, (unsigned)v);
      wants = needsFunc(own, (unsigned)v);
    }
    begin[j] = wants ? graph.in_indptr[v] : 0;
    const int64 all = wants ? graph.in_indptr[v + 1] - begin[j] : 0;
    edges[j] = all <= HUB ? (int)all : 0;
  }
#pragma unroll
  for (int j = 0; j < TILES; ++j)
#pragma unroll
    for (int i = 0; i < FIRST_EDGES; ++i) source[j][i] = i < edges[j] ? graph.in_indices[begin[j] + i] : 0;
  unsigned sent = 0;  // a bit for each of those
#pragma unroll
  for (int j = 0; j < TILES; ++j)
#pragma unroll
    for (int i = 0; i < FIRST_EDGES; ++i)
      sent |= (unsigned)(i < edges[j] && is_active(space, source[j][i])) << (FIRST_EDGES * j + i);
#pragma unroll
  for (int j = 0; j < TILES; ++j) {
    if (!__any_sync(ALL_LANES, edges[j] != 0)) continue;
    const unsigned v = (unsigned)min(first + 32 * j + lane_id(), graph.n - 1);
    Owned own(state, v);
    Inbox inbox;
    bool wants = edges[j] != 0;
#pragma unroll
    for (int i = 0; i < FIRST_EDGES; ++i) {
      if (!wants || !(sent >> (FIRST_EDGES * j + i) & 1)) continue;
      inbox.take(own, pulled(begin[j] + i, source[j][i], state, graph, space), v);
      wants = needsFunc(own, v);
    }
    const bool waits = wants && edges[j] > FIRST_EDGES;
    later.add(v, waits, inbox.heard ? 0 : FIRST_EDGES);
    const bool activated = !waits && end_vertex(own, v, inbox, wants, edges[j], state, asked);
    activate_tile<false>(first + 32 * j, activated, space, control);
  }
  while (later.count >= 32) later.pull(state, graph, space, control, asked);
}

// All vertices. Where most want nothing any more, a warp takes 32 hubs at once, each of another size.
template <bool LISTS>
__device__ __forceinline__ Asked ask_all(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned tiles = (unsigned)((graph.n + 31) / 32);
  const bool looks = ENDS_EARLY && !LISTS;  // candidates wait in shared memory themselves
  const unsigned step = looks ? TILES : 1;
  const unsigned share = max(1u, min(8u, tiles / (8 * team.warps())) / step) * step;  // tiles that a warp claims at once
  const unsigned hubs = ENDS_EARLY ? (graph.hubs + 31) / 32 : graph.hubs;
  const unsigned all = hubs + (tiles + share - 1) / share;
  Asked asked = {0, 0, 0};
  Later later;
  while (true) {
    unsigned item = 0;
    if (lane_id() == 0) item = atomicAdd(&control->head.gather_claim, 1u);
    item = __shfl_sync(ALL_LANES, item, 0);
    if (item >= all) break;
    if (item >= hubs) {
      const unsigned tile = (item - hubs) * share;
      for (unsigned t = tile; t < min(tile + share, tiles); t += step) {
        if (looks)
          look_first(32 * (int64)t, state, graph, space, control, asked, later);
        else
          pull_tile<LISTS>(32 * (int64)t, state, graph, space, control, asked);
      }
    } else if (!ENDS_EARLY) {
      pull_hub(graph.hub_vertex[item], state, graph, space, control, asked);
    } else {
      const unsigned mine = item + hubs * lane_id();
      const unsigned v = graph.hub_vertex[min(mine, graph.hubs - 1)];
      Owned own(state, v);
      unsigned wanting = __ballot_sync(ALL_LANES, mine < graph.hubs && needsFunc(own, v));
      for (; wanting; wanting &= wanting - 1)
        pull_hub(__shfl_sync(ALL_LANES, v, __ffs(wanting) - 1), state, graph, space, control, asked);
    }
  }
  while (later.count) later.pull(state, graph, space, control, asked);
  return asked;
}

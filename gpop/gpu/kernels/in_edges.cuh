// Vertices that ask: they walk their in-edges and take the messages of active sources, correct for any gatherFunc.
//
// Who has no in-edges has a bit that says so where vertices may stop early: half of an RMAT graph, which would want
// messages for ever, and have a lane each.
// gatherFunc runs on a copy of the written fields in registers (Owned), which is put back at the end. In-edges are
// taken in ascending order of their sources, as on the CPU, until needsFunc says no. A warp looks at some 256 vertices
// and takes those that want messages, packed, 32 at a time, each lane the owner of one: where they may stop early each
// lane looks at its first few in-edges by itself, all fetched at once; then the warp walks what is left together. A hub
// has a warp of its own, whose lanes all do the same. Warps claim their work, hubs first. On an H200 searches of RMAT 22
// and 24 and of random graphs as large took .94 to .98 of the time of warps that take 32 vertices as they lie; that of
// RMAT 22 took 1.17 with 64 vertices to look at, and 1.12 with 1,024 that lie far apart.
// Bytes: what needsFunc reads; of a vertex that wants messages its offset, and 4 [+ weight] per in-edge that is looked
// at, a bit of the frontier, and the source's value.
#include "own_words.cuh"
#include "owner_of.cuh"
#include "place_of.cuh"

enum { MOST_WORDS = 8 };  // of 32 vertices each, that a warp looks at together
const int FIRST_EDGES = 4;  // in-edges of a vertex that its lane looks at by itself, if it may stop early

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

// A hub, by a warp; true, to all of it, if the hub becomes active.
__device__ __forceinline__ bool ask_for_hub(unsigned v, State& state, const Graph& graph, const Space& space, Asked& asked) {
  Owned own(state, v);
  bool wants = needsFunc(own, v);
  if (!wants) return false;
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
  const bool activated = inbox.close(own, v);
  if (lane_id() == 0) put_back(own, state, v);
  return activated;
}

__device__ void pull_hub(unsigned v, State& state, const Graph& graph, const Space& space, Control* control, Asked& asked) {
  const bool activated = ask_for_hub(v, state, graph, space, asked);
  if (activated && lane_id() == 0 && !ALL_ACTIVE) activate(v, space, control);
}

// The first in-edges of v, looked at by its lane alone; `at` moves on, and `wants` is what is left.
__device__ __forceinline__ void look_first(unsigned v, int64& at, int64 end, bool& wants, Owned& own, Inbox& inbox,
                                           State& state, const Graph& graph, const Space& space) {
  unsigned source[FIRST_EDGES];
  bool sent[FIRST_EDGES];
#pragma unroll
  for (int j = 0; j < FIRST_EDGES; ++j) source[j] = wants && at + j < end ? graph.in_indices[at + j] : 0;
#pragma unroll
  for (int j = 0; j < FIRST_EDGES; ++j) sent[j] = wants && at + j < end && is_active(space, source[j]);
#pragma unroll
  for (int j = 0; j < FIRST_EDGES; ++j) {
    if (!wants || !sent[j]) continue;
    inbox.take(own, pulled(at + j, source[j], state, graph, space), v);
    wants = needsFunc(own, v);
  }
  at += FIRST_EDGES;
}

// Up to 32 vertices, a lane each (`wants`); true if that of the lane becomes active. In-edges that are wanted now are
// numbered through; a window of 32 is fetched at once. Where vertices may stop early, rounds begin with few edges of
// each and grow.
__device__ __forceinline__ bool pull_lanes(unsigned v, bool wants, State& state, const Graph& graph, const Space& space,
                                           Asked& asked) {
  const unsigned lane = lane_id();
  Owned own(state, v);
  const int64 begin = wants ? graph.in_indptr[v] : 0, end = wants ? graph.in_indptr[v + 1] : 0;
  wants = wants && begin < end && end - begin <= HUB;
  const bool asks = wants;
  int64 at = begin;
  Inbox inbox;
  if (ENDS_EARLY) look_first(v, at, end, wants, own, inbox, state, graph, space);
  bool unmet = wants;  // until needsFunc says no
  wants = wants && at < end;
  for (int most = ENDS_EARLY ? 4 * FIRST_EDGES : HUB; __any_sync(ALL_LANES, wants); most = min(4 * most, HUB)) {
    const int edges = wants ? (int)min(end - at, (int64)most) : 0;
    const int upto = warp_inclusive_sum(edges), before = upto - edges;
    const int all = __shfl_sync(ALL_LANES, upto, 31);
    for (int window = 0; window < all; window += 32) {
      const int number = window + lane;
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
  const bool activated = inbox.close(own, v);
  if (inbox.heard) put_back(own, state, v);
  asked.messages += inbox.heard;
  asked.left += asks && unmet;
  asked.left_edges += asks && unmet ? end - begin : 0;
  return activated;
}

// 32 vertices of each of these words: those that want messages ask, 32 at a time, however they lie. LISTS: who becomes
// active is a candidate in the list, else a bit. Hubs have other warps.
template <bool LISTS>
__device__ __forceinline__ void pull_words(int64 first, int words, State& state, const Graph& graph, const Space& space,
                                           Control* control, Asked& asked) {
  const unsigned lane = lane_id();
  unsigned* found = (unsigned*)shared_memory + MOST_WORDS * (threadIdx.x >> 5);  // who becomes active, of each word
  if (!LISTS && lane < MOST_WORDS) found[lane] = 0;
  __syncwarp();
  const unsigned may = !ENDS_EARLY ? ALL_LANES : lane < words ? graph.has_in[first + lane] : 0;
  unsigned mine = 0;  // who wants some, of the word of this lane
  bool wants[MOST_WORDS];
#pragma unroll
  for (int j = 0; j < MOST_WORDS; ++j) {
    const int64 v = 32 * (first + j) + lane;
    Owned own(state, (unsigned)min(v, graph.n - 1));
    wants[j] = j < words && v < graph.n && needsFunc(own, (unsigned)v);
  }
#pragma unroll
  for (int j = 0; j < MOST_WORDS; ++j) {
    const unsigned wanting = __ballot_sync(ALL_LANES, wants[j]);
    if (lane == j) mine = wanting & may;
  }
  const int upto = warp_inclusive_sum(__popc(mine)), before = upto - __popc(mine);
  const int all = __shfl_sync(ALL_LANES, upto, 31);
  for (int begun = 0; begun < all; begun += 32) {
    const int number = begun + lane, owner = owner_of(number, before);
    const unsigned word = __shfl_sync(ALL_LANES, mine, owner);
    const unsigned bit = place_of(word, number - __shfl_sync(ALL_LANES, before, owner)) & 31;
    const unsigned v = (unsigned)min(32 * (first + owner) + bit, graph.n - 1);
    const bool activated = pull_lanes(v, number < all, state, graph, space, asked);
    if (activated && !LISTS) atomicOr(found + owner, 1u << bit);
    if (activated && LISTS && !ALL_ACTIVE) activate(v, space, control);
  }
  __syncwarp();
  if (!LISTS && lane < words && found[lane]) atomicOr(space.active_bits + first + lane, found[lane]);
}

// All vertices. Where they may stop early, most hubs want nothing any more, and those that do stop soon: a warp takes
// up to 32 of them at once, each of another size, and no more than are there for it to take twice. Items are alike then,
// too: three quarters are dealt out, since claims at one address are served one after the other, about one a nanosecond.
template <bool LISTS>
__device__ __forceinline__ Asked ask_all(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const Words own_words(state, graph);
  const unsigned words = (unsigned)(own_words.last - own_words.first);
  const unsigned share = max(1u, min((unsigned)MOST_WORDS, words / (4 * team.warps())));  // that a warp claims at once
  const unsigned together = ENDS_EARLY ? min(32u, graph.hubs / (2 * team.warps()) + 1) : 1;
  const unsigned hubs = (graph.hubs + together - 1) / together;
  const unsigned all = hubs + (words + share - 1) / share, each = all / team.warps();
  const unsigned most = ENDS_EARLY ? each : 0, dealt = most - min(most, max(2u, each / 4));
  Asked asked = {0, 0, 0};
  for (unsigned turn = 0;; ++turn) {
    unsigned item = turn * team.warps() + team.warp();
    if (turn >= dealt) {
      if (lane_id() == 0) item = dealt * team.warps() + atomicAdd(&control->head.gather_claim, 1u);
      item = __shfl_sync(ALL_LANES, item, 0);
    }
    if (item >= all) return asked;
    if (item >= hubs) {
      const int64 first = own_words.first + (int64)(item - hubs) * share;
      pull_words<LISTS>(first, (int)min((int64)share, own_words.last - first), state, graph, space, control, asked);
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
}

// Strategy owner: one owner per destination vertex, its messages one after the other, correct for any gatherFunc.
//
// gatherFunc runs on a copy of the written fields in registers (Owned), which is put back at the end. The
// lanes of a warp fetch messages side by side; in-edges are taken in ascending order of their sources, as
// on the CPU, until needsFunc says no. A warp takes 32 vertices, each lane the owner of one, and walks their
// in-edges together; a hub has a warp of its own, whose lanes all do the same. Warps claim their work, hubs
// first. Bytes: 4 [+ weight] per in-edge that is looked at, a bit of the frontier, and the source's value.

const int FIRST_EDGES = 4;      // in-edges of a vertex that are looked at first, if it may stop early
const unsigned MOST_TILES = 8;  // tiles of 32 vertices that a warp claims at once

__device__ __forceinline__ Gathered pulled(int64 e, unsigned source, State& state, const Graph& graph, const Space& space) {
#if WEIGHTED
  return weighted(state, space.vertex_value[source], graph.in_weights[e]);
#else
  return space.vertex_value[source];
#endif
}

__device__ void pull_hub(unsigned v, State& state, const Graph& graph, const Space& space, Control* control) {
  Owned own(state, v);
  bool wants = needsFunc(own, v);
  Inbox inbox;
  const int64 end = graph.in_indptr[v + 1];
  for (int64 e = graph.in_indptr[v] + lane_id(); wants && e - lane_id() < end; e += 32 * AHEAD) {
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
  end_hub(own, v, inbox, state, space, control);
}

// Lanes from `first` to before `last`, which may lie outside of the warp.
__device__ __forceinline__ unsigned lanes_between(int first, int last) {
  first = max(first, 0);
  last = min(last, 32);
  return first < last ? ALL_LANES << first & ALL_LANES >> (32 - last) : 0;
}

// 32 vertices from v on. In-edges that are wanted now are numbered through; a window of 32 is fetched at
// once. Where vertices may stop early, rounds begin with few edges of each and grow.
__device__ void pull_tile(int64 first, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const unsigned v = (unsigned)min(first + lane, graph.n - 1);
  int64 at = graph.in_indptr[v];
  const int64 end = graph.in_indptr[v + 1];
  bool wants = first + lane < graph.n && at < end && end - at <= HUB;
  if (!__any_sync(ALL_LANES, wants)) return;
  Owned own(state, v);
  bool took = false;
  Inbox inbox;
  wants = wants && needsFunc(own, v);
  for (int most = ENDS_EARLY ? FIRST_EDGES : HUB; __any_sync(ALL_LANES, wants); most = min(4 * most, HUB)) {
    const int edges = wants ? (int)min(end - at, (int64)most) : 0;
    const int upto = warp_inclusive_sum(edges), before = upto - edges;
    const int all = __shfl_sync(ALL_LANES, upto, 31);
    for (int window = 0; window < all; window += 32) {
      const int number = window + lane;
      int owner = 0;  // the last lane whose edges begin at or before this number
#pragma unroll
      for (int step = 16; step; step >>= 1) {
        const int begin = __shfl_sync(ALL_LANES, before, owner + step);
        if (begin <= number) owner += step;
      }
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
        took = true;
        inbox.take(own, x, v);
        if (ENDS_EARLY && !needsFunc(own, v)) wants = mine = 0;
      }
    }
    at += edges;
    wants = wants && at < end;
  }
  const bool activated = inbox.close(own, v);
  if (took) put_back(own, state, v);
  if (activated && !ALL_ACTIVE) activate(v, space, control);
}

__device__ void gather_owned(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned tiles = (unsigned)((graph.n + 31) / 32);
  const unsigned share = max(1u, min(MOST_TILES, tiles / (8 * team.warps())));
  const unsigned all = graph.hubs + (tiles + share - 1) / share;
  while (true) {
    unsigned item = 0;
    if (lane_id() == 0) item = atomicAdd(&control->head.gather_claim, 1u);
    item = __shfl_sync(ALL_LANES, item, 0);
    if (item >= all) return;
    if (item < graph.hubs) {
      pull_hub(graph.hub_vertex[item], state, graph, space, control);
      continue;
    }
    const unsigned tile = (item - graph.hubs) * share;
    for (unsigned t = tile; t < min(tile + share, tiles); ++t) pull_tile(32 * (int64)t, state, graph, space, control);
  }
}

struct Owner {
  static const bool LISTED = false;
  static __device__ __forceinline__ void scatter(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    scatter_list(team, state, graph, space, control);
  }
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    gather_owned(team, state, graph, space, control);
  }
};

// Oriented lists: of every edge of a simple undirected graph only the end that is above the other is kept.
//
// A vertex is above another if it has more neighbours, or as many and a larger id: no list is longer than about
// sqrt(2 m). Lists stay in the order of ids. The kept edges have the order of the graph's, so that a chunk (chunks.cuh)
// writes one piece of the array: it counts first, then writes behind what the chunks before it have.
// Loops and equal neighbours are left out; lists of the graph ascend. An edge of the lists may stand for two, if the
// graph is the symmetric copy of a directed one.
// Bytes, twice: 4 and a degree for an edge, 12 for a vertex; then 4 for an edge that is kept, 8 for a vertex.
#include "direct/chunks.cuh"

extern "C" __global__ void gpop_degrees(Lists graph, unsigned* degree) {
  for (int64 v = this_thread(); v < graph.n; v += all_threads()) degree[v] = (unsigned)(graph.indptr[v + 1] - graph.indptr[v]);
}

// Whether the edge at e, of a vertex whose list begins at `begin`, leads to a neighbour that was not met before.
__device__ __forceinline__ bool is_new(const Lists& graph, unsigned v, int64 begin, int64 e) {
  const unsigned u = graph.indices[e];
  return u != v && (e == begin || graph.indices[e - 1] != u);
}

// The same, and upwards.
__device__ __forceinline__ bool leads_up(const Lists& graph, const unsigned* degree, unsigned v, int64 begin, int64 e) {
  if (!is_new(graph, v, begin, e)) return false;
  const unsigned u = graph.indices[e], own = degree[v], other = degree[u];
  return other > own || (other == own && u > v);
}

// WRITES: `lists`, and `begin` of every vertex; else how many edges of each chunk are kept, behind `kept`.
template <bool WRITES>
__device__ __forceinline__ void orient(const Lists& graph, int64 chunks, int64 share, const unsigned* degree, uint64* claimed,
                                       int64* kept, int64* begin, unsigned* lists) {
  for (int64 number = claim(claimed); number < chunks; number = claim(claimed)) {
    const Chunk chunk(graph, number, share);
    int64 at = WRITES ? kept[number] : 0;
    for (int64 base = chunk.first; base <= chunk.last; base += 32) {
      const bool mine = base + lane_id() <= chunk.last;
      const int64 v = mine ? base + lane_id() : chunk.last, start = graph.indptr[v];
      const Tile tile(graph, chunk, v, mine);
      bool begins = WRITES && mine && start + v >= number * share;  // not in a chunk before
      for (int window = 0; window < tile.edges; window += 32) {
        const Edge edge(tile, window);
        const int64 first = __shfl_sync(ALL_LANES, start, edge.owner);
        const bool up = edge.there && leads_up(graph, degree, (unsigned)(base + edge.owner), first, edge.at);
        const unsigned kept_lanes = __ballot_sync(ALL_LANES, up);
        if (WRITES) {
          const int place = tile.before - window;
          if (begins && place < 32) {
            begin[v] = at + __popc(kept_lanes & ((1u << place) - 1));
            begins = false;
          }
          if (up) lists[at + __popc(kept_lanes & ((1u << lane_id()) - 1))] = graph.indices[edge.at];
        }
        at += __popc(kept_lanes);
      }
      if (begins) begin[v] = at;
    }
    if (!WRITES && lane_id() == 0) kept[number + 1] = at;
    if (WRITES && number == chunks - 1 && lane_id() == 0) begin[graph.n] = at;
  }
}

extern "C" __global__ void gpop_count_upward(Lists graph, int64 chunks, int64 share, const unsigned* degree, uint64* claimed, int64* kept) {
  orient<false>(graph, chunks, share, degree, claimed, kept, nullptr, nullptr);
}

extern "C" __global__ void gpop_write_upward(Lists graph, int64 chunks, int64 share, const unsigned* degree, uint64* claimed, int64* kept,
                                             int64* begin, unsigned* lists) {
  orient<true>(graph, chunks, share, degree, claimed, kept, begin, lists);
}

// How many neighbours each vertex has.
extern "C" __global__ void gpop_neighbours(Lists graph, int64 chunks, int64 share, uint64* claimed, unsigned* neighbours) {
  for (int64 number = claim(claimed); number < chunks; number = claim(claimed)) {
    const Chunk chunk(graph, number, share);
    for (int64 base = chunk.first; base <= chunk.last; base += 32) {
      const bool mine = base + lane_id() <= chunk.last;
      const int64 v = mine ? base + lane_id() : chunk.last, start = graph.indptr[v];
      const Tile tile(graph, chunk, v, mine);
      unsigned own = 0;
      for (int window = 0; window < tile.edges; window += 32) {
        const Edge edge(tile, window);
        const int64 first = __shfl_sync(ALL_LANES, start, edge.owner);
        const unsigned met = __ballot_sync(ALL_LANES, edge.there && is_new(graph, (unsigned)(base + edge.owner), first, edge.at));
        own += __popc(met & lanes_between(tile.before - window, tile.before + tile.own - window));
      }
      if (own) atomicAdd(neighbours + v, own);  // other chunks may have edges of it, too
    }
  }
}

// Where a vertex is in an ascending list from `begin` to before `end`; -1 if it is not.
__device__ __forceinline__ int64 position(const unsigned* lists, int64 begin, int64 end, unsigned wanted) {
  const unsigned* low = lists + begin;
  for (int left = (int)(end - begin); left > 0;) {
    const int half = left >> 1;
    const bool above = low[half] < wanted;
    low += above ? half + 1 : 0;
    left = above ? left - half - 1 : half;
  }
  return low < lists + end && *low == wanted ? low - lists : -1;
}

__device__ __forceinline__ bool has(const Lists& graph, unsigned v, unsigned u) {
  return position(graph.indices, graph.indptr[v], graph.indptr[v + 1], u) >= 0;
}

// How many edges of a directed graph each edge of the lists stands for.
extern "C" __global__ void gpop_count_edges(Lists upward, int64 chunks, int64 share, uint64* claimed, Lists directed, unsigned char* edges) {
  for (int64 number = claim(claimed); number < chunks; number = claim(claimed)) {
    const Chunk chunk(upward, number, share);
    for (int64 base = chunk.first; base <= chunk.last; base += 32) {
      const bool mine = base + lane_id() <= chunk.last;
      const Tile tile(upward, chunk, mine ? base + lane_id() : chunk.last, mine);
      for (int window = 0; window < tile.edges; window += 32) {
        const Edge edge(tile, window);
        if (!edge.there) continue;
        const unsigned v = (unsigned)(base + edge.owner), u = upward.indices[edge.at];
        edges[edge.at] = has(directed, v, u) + has(directed, u, v);
      }
    }
  }
}

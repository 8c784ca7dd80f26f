// Strategy push: the edges of active vertices, delivered straight to their destinations.
//
// A warp takes up to 32 vertices of the list, or a piece of HEAVY edges of one vertex, and walks the edges
// together (coalesced); lists of more than LONG_LIST edges are walked by all warps of a block (long_lists.cuh). Bytes
// per edge: 4 (destination) [+ weight] and one random access to the vertex.
// Values are those of the beginning of the iteration (vertex_value), so it is bulk-synchronous; see sent_by.
#include "long_lists.cuh"

__device__ void push_light(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const int64 size = ALL_ACTIVE ? graph.n : control->head.list_size;
  const bool live = is_live(control);
  const int tile = (int)min((int64)32, (size + team.warps() - 1) / team.warps());  // vertices per warp
  int64 i = (int64)team.warp() * tile;
  walk_together<false>(
      graph.longest > LONG_LIST,
      [&](unsigned& v, int64& first, int& degree) {
        if (i >= size) return false;
        if (lane < tile && i + lane < size) {
          v = ALL_ACTIVE ? (unsigned)(i + lane) : space.list[i + lane];
          first = graph.indptr[v];
          const int64 edges = graph.indptr[v + 1] - first;
          if (edges <= HEAVY && pushes(v, space, control)) degree = (int)edges;
        }
        i += (int64)team.warps() * tile;
        return true;
      },
      [&](int64 edge, unsigned source) {
        push_edge(edge, sent_by(source, state, space, live), state, graph, space, control);
      });
}

// Where there are fewer pieces than warps each is divided.
__device__ void push_heavy(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const int64 pieces = control->head.heavy_size;
  int step = HEAVY;  // edges that a warp takes at once
  while (step > 32 && 2 * pieces * (HEAVY / step) <= team.warps()) step /= 2;
  for (int64 i = team.warp(); i < pieces * (HEAVY / step); i += team.warps()) {
    const uint2 piece = space.heavy[i / (HEAVY / step)];
    const unsigned v = piece.x;
    if (!pushes(v, space, control)) continue;
    const Message value = sent_by(v, state, space, is_live(control));
    const int64 first = graph.indptr[v] + (int64)piece.y * HEAVY + i % (HEAVY / step) * step;
    const int64 last = min(first + step, graph.indptr[v + 1]);
    for (int64 e = first + lane_id(); e < last; e += 32) push_edge(e, value, state, graph, space, control);
    __syncwarp();
  }
}

struct Push : KeepsValues<true> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_heavy(team, state, graph, space, control);
    push_light(team, state, graph, space, control);
  }
};

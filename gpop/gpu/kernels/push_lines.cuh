// Strategy push-lines: push where edges are streamed: whole lines of 128 bytes, and several on their way.
//
// A warp takes up to 32 vertices of the list, or a piece of HEAVY edges of one vertex, as push.cuh does. Edges of a
// vertex that fill a line are read line by line, at multiples of 128 bytes, so that a request over the link is as
// large as it can be; those of the others one after the other, which in a list without gaps are whole lines too. Of
// each lane LINES edges are asked for before any is delivered: over the link it takes microseconds. Weights of a byte
// come LINES a lane, so that a request for them is a line, too. Bytes: those of push.cuh. Paper: Min et al., "EMOGI"
// (VLDB 2020), merged and aligned access.
#include "owner_of.cuh"

const int LINE = 32;   // edges
const int LINES = 4;   // that a warp asks for at once
const bool BYTE_WEIGHTS = WEIGHTED && sizeof(EdgeWeight) == 1;
const int64 WHOLE_LINES = LINE * (BYTE_WEIGHTS ? LINES : 1);  // edges from which on a line of all that is read begins

// One edge of each lane, LINES times: asked for, then delivered.
struct Asking {
  unsigned target[LINES];
#if WEIGHTED
  EdgeWeight weight[LINES];
#endif
  bool mine[LINES];

  __device__ __forceinline__ void ask(int j, bool wanted, int64 e, const Graph& graph) {
    mine[j] = wanted;
    if (!wanted) return;
    target[j] = graph.indices[e];
  }
  __device__ __forceinline__ void ask_weight(int j, int64 e, const Graph& graph) {
#if WEIGHTED
    if (mine[j]) weight[j] = graph.weights[e];
#endif
  }
  // Of all lines at once, from `line` on, of a byte each: a word of every lane.
  __device__ __forceinline__ void ask_bytes(int64 line, int64 first, int64 last, const Graph& graph) {
#if WEIGHTED
    const int64 at = line + LINES * lane_id();
    const bool wanted = at < last && at + LINES > first;
    const unsigned word = wanted ? *(const unsigned*)address(graph.weights, at) : 0;
#pragma unroll
    for (int j = 0; j < LINES; ++j) {
      const unsigned others = __shfl_sync(ALL_LANES, word, (LINE * j + lane_id()) / LINES);
      weight[j] = (EdgeWeight)(unsigned char)(others >> 8 * (lane_id() % LINES));
    }
#endif
  }
  __device__ __forceinline__ void send(int j, Message value, State& state, const Graph& graph, const Space& space, Control* control) {
#if WEIGHTED
    deliver(state, weighted(state, value, weight[j]), target[j], graph, space, control);
#else
    deliver(state, value, target[j], graph, space, control);
#endif
  }
};

// Edges from `first` to `last`, all of one vertex, by a warp.
__device__ __forceinline__ void push_whole_lines(int64 first, int64 last, Message value, State& state, const Graph& graph,
                                                 const Space& space, Control* control) {
  Asking asking;
  for (int64 line = first & ~(WHOLE_LINES - 1); line < last; line += LINE * LINES) {
#pragma unroll
    for (int j = 0; j < LINES; ++j) {
      const int64 e = line + LINE * j + lane_id();
      asking.ask(j, e >= first && e < last, e, graph);
      if (!BYTE_WEIGHTS) asking.ask_weight(j, e, graph);
    }
    if (BYTE_WEIGHTS) asking.ask_bytes(line, first, last, graph);
#pragma unroll
    for (int j = 0; j < LINES; ++j) {
      if (asking.mine[j]) asking.send(j, value, state, graph, space, control);
      __syncwarp();
    }
  }
}

__device__ void push_listed_lines(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const unsigned lane = lane_id();
  const int64 size = ALL_ACTIVE ? graph.n : control->head.list_size;
  const bool live = is_live(control);
  const int tile = (int)min((int64)32, (size + team.warps() - 1) / team.warps());  // vertices per warp
  for (int64 i = (int64)team.warp() * tile; i < size; i += (int64)team.warps() * tile) {
    unsigned v = 0;
    int64 start = 0;
    int degree = 0;
    if (lane < tile && i + lane < size) {
      v = ALL_ACTIVE ? (unsigned)(i + lane) : space.list[i + lane];
      start = graph.indptr[v];
      const int64 edges = graph.indptr[v + 1] - start;
      if (edges <= HEAVY && pushes(v, space, control)) degree = (int)edges;
    }
    unsigned filling = __ballot_sync(ALL_LANES, degree >= LINE);
    for (; filling; filling &= filling - 1) {
      const int owner = __ffs(filling) - 1;
      const int64 first = __shfl_sync(ALL_LANES, start, owner);
      const int64 last = first + __shfl_sync(ALL_LANES, degree, owner);
      const unsigned source = __shfl_sync(ALL_LANES, v, owner);
      push_whole_lines(first, last, sent_by(source, state, space, live), state, graph, space, control);
    }
    if (degree >= LINE) degree = 0;
    const int upto = warp_inclusive_sum(degree), before = upto - degree;
    const int total = __shfl_sync(ALL_LANES, upto, 31);
    const unsigned some = __ballot_sync(ALL_LANES, degree > 0);
    const int skew = some ? (int)(__shfl_sync(ALL_LANES, start, __ffs(some) - 1) & (LINE - 1)) : 0;
    for (int first = -skew; first < total; first += LINE * LINES) {
      Asking asking;
      unsigned source[LINES];
#pragma unroll
      for (int j = 0; j < LINES; ++j) {
        const int e = first + LINE * j + (int)lane;
        const int owner = owner_of(e, before);
        const int64 edge = __shfl_sync(ALL_LANES, start - before, owner) + e;
        source[j] = __shfl_sync(ALL_LANES, v, owner);
        asking.ask(j, e >= 0 && e < total, edge, graph);
        asking.ask_weight(j, edge, graph);
      }
#pragma unroll
      for (int j = 0; j < LINES; ++j) {
        if (asking.mine[j]) asking.send(j, sent_by(source[j], state, space, live), state, graph, space, control);
        __syncwarp();
      }
    }
  }
}

__device__ void push_pieces_of_lines(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  for (int64 i = team.warp(); i < control->head.heavy_size; i += team.warps()) {
    const unsigned v = space.heavy[i].x;
    if (!pushes(v, space, control)) continue;
    const int64 begin = graph.indptr[v], end = graph.indptr[v + 1], piece = space.heavy[i].y;
    // Pieces are cut where lines begin, so that the last one has what the first one lacks of a line.
    const int64 cut = (begin & ~(WHOLE_LINES - 1)) + piece * HEAVY;
    const int64 last = begin + (piece + 1) * HEAVY < end ? cut + HEAVY : end;
    const Message value = sent_by(v, state, space, is_live(control));
    push_whole_lines(max(cut, begin), last, value, state, graph, space, control);
  }
}

struct PushLines : KeepsValues<true> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    push_pieces_of_lines(team, state, graph, space, control);
    push_listed_lines(team, state, graph, space, control);
  }
};

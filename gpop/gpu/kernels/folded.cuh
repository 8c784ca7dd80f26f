// Strategy bins-folded: bins-combined without anything that waits between scatter and gather.
//
// Runs are combined at their source as there, and folded into the cell of their vertex at once (space.folded), by one
// atomic in global memory each. The runs of a bin ascend by vertex, so neighbouring lanes meet in few lines. What it
// gains is room: a combined value per run is more than the budget of a run whose edges are streamed. Bytes: 2 per
// edge [+ weight], 2 + sizeof(Total) per run.
#include "runs.cuh"

struct AtVertex {
  const Graph& graph;
  const Space& space;
  const int64 first;
  const unsigned base;
  __device__ AtVertex(const Segment& segment, const Graph& graph, const Space& space)
      : graph(graph), space(space), first(segment.slot + 1), base((unsigned)segment.source << BITS) {}
  __device__ __forceinline__ void put(int run, Folded value) const {
    if (value == identity<Folded>()) return;
    const unsigned v = base + graph.sources[first + run];
    fold(space.folded + v, (Total)value);
    if (COUNTS_ARRIVALS) set_bit(space.arrived, v);
  }
  __device__ void put_none(int) const {}
};

struct BinsFolded {
  static __device__ __forceinline__ void scatter(State& state, const Graph& graph, const Space& space, Control* control) {
    combine_columns<AtVertex>(state, graph, space, control, shared_memory);
  }
  static __device__ __forceinline__ void gather(State&, const Graph&, const Space&, Control*) {}
};

// Strategy bins-combined: partition-centric scatter and gather for programs that declare `combine`.
//
// Scatter writes one combined value per run (runs.cuh); gather of d folds its runs, one contiguous row, into cells in
// shared memory. Bytes: 2 per edge [+ weight], 2 + 2 * sizeof(Folded) per run.
#include "runs.cuh"

// Where the runs of a segment go: each to its slot, for gather to find.
struct Kept {
  Folded* at;
  __device__ Kept(const Segment& segment, const Graph&, const Space& space) : at(space.partials + segment.slot + 1) {}
  __device__ __forceinline__ void put(int run, Folded value) const { at[run] = value; }
  __device__ void put_none(int run) const { put(run, identity<Folded>()); }
};

const int ROW_STRIP = 4;  // runs that one thread takes at once

// Runs of one thread, as far apart as a warp is wide: those of its lanes are neighbours, whose ids ascend and so lie in
// different banks. Fetched while those before are folded: on an H200 gather took .84 of the time so on a random graph.
// Four swaps of a sum at once instead of one by one: PageRank on RMAT 22 took .99 of the time on an H100.
struct RowStrip {
  unsigned local[ROW_STRIP];
  Folded value[ROW_STRIP];
  __device__ __forceinline__ RowStrip(int64 at, int64 last, const Graph& graph, const Space& space) {
#pragma unroll
    for (int j = 0; j < ROW_STRIP; ++j) {
      const bool there = at + 32 * j < last;
      local[j] = there ? *address(graph.sources, at + 32 * j) : 0;
      value[j] = there ? space.partials[at + 32 * j] : identity<Folded>();
    }
  }
};

// Gather: fold the runs of a row into the block's cells, then those into the global ones.
__device__ void gather_rows(const Graph& graph, const Space& space, Control* control, void* shared) {
  Folded* cells = (Folded*)shared;
  unsigned* marks = (unsigned*)(cells + (1 << BITS));
  for (unsigned c = claim(&control->head.gather_claim); c < graph.row_pieces; c = claim(&control->head.gather_claim)) {
    const Piece piece = graph.row_piece[c];
    const unsigned base = (unsigned)piece.partition << BITS;
    const unsigned size = (unsigned)min((int64)1 << BITS, graph.n - base);
    const int64 step = ROW_STRIP * blockDim.x;
    int64 at = piece.first + ROW_STRIP * (threadIdx.x & ~31u) + lane_id();
    RowStrip next(at, piece.last, graph, space);
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) cells[cell_of_local(i)] = identity<Folded>();
    if (COUNTS_ARRIVALS)
      for (unsigned i = threadIdx.x; i < (size + 31) / 32; i += blockDim.x) marks[i] = 0;
    __syncthreads();
    for (; at < piece.last; at += step) {
      const RowStrip now = next;
      next = RowStrip(at + step, piece.last, graph, space);  // asked for while these are folded
#pragma unroll
      for (int j = 0; j < ROW_STRIP; ++j) {
        if (now.value[j] == identity<Folded>()) continue;
        fold(cells + cell_of_local(now.local[j]), now.value[j]);
        if (COUNTS_ARRIVALS) set_bit(marks, now.local[j]);
      }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      const Folded x = cells[cell_of_local(i)];
      if (x != identity<Folded>()) fold(space.folded + base + i, (Total)x);
      if (COUNTS_ARRIVALS && (i & 31) == 0 && marks[i >> 5]) {
        if (BITS >= 5)
          atomicOr(space.arrived + ((base + i) >> 5), marks[i >> 5]);
        else
          atomicOr(space.arrived + (base >> 5), marks[0] << (base & 31));
      }
    }
  }
}

struct BinsCombined {
  static __device__ __forceinline__ void scatter(State& state, const Graph& graph, const Space& space, Control* control) {
    combine_columns<Kept>(state, graph, space, control, shared_memory);
  }
  static __device__ __forceinline__ void gather(State& state, const Graph& graph, const Space& space, Control* control) {
    gather_rows(graph, space, control, shared_memory);
  }
};

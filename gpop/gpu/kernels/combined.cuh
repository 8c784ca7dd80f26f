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

const int ROW_STRIP = 4;  // runs that one thread takes at once: 8 bytes of ids, 16 of values

// Fetched while those before are folded: on an H200 gather took .84 of the time so on a random graph, .98 on RMAT.
struct RowStrip {
  uint2 local = {};  // two in a word
  Pack<Folded, ROW_STRIP> value = {};
  __device__ __forceinline__ RowStrip(int64 at, int64 last, const Graph& graph, const Space& space) {
    if (at >= last) return;
    local = *(const uint2*)address(graph.sources, at);
    value = *(const Pack<Folded, ROW_STRIP>*)(space.partials + at);
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
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) cells[cell_of_local(i)] = identity<Folded>();
    if (COUNTS_ARRIVALS)
      for (unsigned i = threadIdx.x; i < (size + 31) / 32; i += blockDim.x) marks[i] = 0;
    __syncthreads();
    const int64 step = ROW_STRIP * blockDim.x;
    int64 at = (piece.first & ~(int64)(ROW_STRIP - 1)) + ROW_STRIP * threadIdx.x;
    RowStrip next(at, piece.last, graph, space);
    for (; at < piece.last; at += step) {
      const RowStrip now = next;
      next = RowStrip(at + step, piece.last, graph, space);  // asked for while these are folded
      const unsigned local[ROW_STRIP] = {now.local.x & 0xffff, now.local.x >> 16, now.local.y & 0xffff, now.local.y >> 16};
      const bool whole = at >= piece.first && at + ROW_STRIP <= piece.last;
#pragma unroll
      for (int j = 0; j < ROW_STRIP; ++j) {
        if (!whole && (at + j < piece.first || at + j >= piece.last)) continue;
        const Folded x = now.value.at[j];
        if (x == identity<Folded>()) continue;
        fold(cells + cell_of_local(local[j]), x);
        if (COUNTS_ARRIVALS) set_bit(marks, local[j]);
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

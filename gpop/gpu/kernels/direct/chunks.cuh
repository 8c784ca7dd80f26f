// Equal shares of a graph for warps: vertices and edges counted together, cut anywhere, also within a list.
//
// Vertex v has the number indptr[v] + v, its edges those after it, so that all numbers are n + m. A chunk is `share`
// numbers in a row: neither a hub nor a desert of isolated vertices is more than its share. Where it begins is
// searched for by the warp, 32 vertices at once. A tile is 32 vertices of a chunk, a lane each, with those of their edges
// that are in the chunk; a window 32 of these edges, a lane each.
// Paper: D. Merrill, M. Garland, "Merge-based parallel sparse matrix-vector multiplication" (SC 2016).
#include "warp.cuh"
#include "owner_of.cuh"

typedef long long int64;
typedef unsigned long long uint64;

struct Lists {
  int64 n;
  const int64* indptr;
  const unsigned* indices;
};

__device__ __forceinline__ int64 this_thread() { return (int64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int64 all_threads() { return (int64)gridDim.x * blockDim.x; }

// The last vertex from `low` to before `high` whose number is at most this; that of `low` is.
__device__ __forceinline__ int64 vertex_at(const int64* indptr, int64 low, int64 high, int64 number) {
  while (high - low > 1) {
    const int64 step = (high - low + 31) / 32, v = low + step * lane_id();
    const unsigned below = __ballot_sync(ALL_LANES, v < high && indptr[v] + v <= number);
    low += step * (__popc(below) - 1);
    high = min(high, low + step);
  }
  return low;
}

struct Chunk {
  int64 first, last;  // vertices, both of them inside, if only with some of their edges
  int64 begin, end;   // edges

  __device__ __forceinline__ Chunk(const Lists& graph, int64 chunk, int64 share) {
    const int64 from = chunk * share, to = min(from + share, graph.n + graph.indptr[graph.n]);
    first = vertex_at(graph.indptr, 0, graph.n, from);
    last = vertex_at(graph.indptr, first, min(graph.n, first + share + 1), to - 1);
    begin = max(graph.indptr[first], from - first - 1);
    end = to - 1 - last;
  }
};

struct Tile {
  int64 begin;             // where the edges begin that this lane has in the chunk
  int own, before, edges;  // how many these are, how many the lanes below have, and all lanes

  // Lanes that do not want theirs have none.
  __device__ __forceinline__ Tile(const Lists& graph, const Chunk& chunk, int64 v, bool wants) {
    begin = wants ? max(graph.indptr[v], chunk.begin) : 0;
    own = wants ? (int)max((int64)0, min(graph.indptr[v + 1], chunk.end) - begin) : 0;
    const int upto = warp_inclusive_sum(own);
    before = upto - own;
    edges = __shfl_sync(ALL_LANES, upto, 31);
  }
};

struct Edge {  // of this lane in a window of a tile; `owner` is the lane of its source
  int64 at;
  int owner;
  bool there;

  __device__ __forceinline__ Edge(const Tile& tile, int window) {
    const int number = window + lane_id();
    there = number < tile.edges;
    owner = owner_of(number, tile.before);
    at = __shfl_sync(ALL_LANES, tile.begin - tile.before, owner) + number;
  }
};

// The next chunk of a kernel for this warp.
__device__ __forceinline__ int64 claim(uint64* counter) {
  uint64 chunk = 0;
  if (lane_id() == 0) chunk = atomicAdd(counter, 1ULL);
  return (int64)__shfl_sync(ALL_LANES, chunk, 0);
}

// A sum over all threads of a kernel.
__device__ __forceinline__ void add_up(uint64* total, uint64 own) {
  const uint64 warps = warp_sum(own);
  if (lane_id() == 0 && warps) atomicAdd(total, warps);
}

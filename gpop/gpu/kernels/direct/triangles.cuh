// Triangles on oriented lists (oriented.cuh): each is counted once, at its lowest vertex a, as b and c of its list with
// c in the list of b.
//
// search  a lane has an edge (a, b); the lanes of a warp then look every vertex of the shorter of the two lists up in the
//         longer one by bisection, all that they have to look up one after the other.
// hash    a block has a vertex with a long list, piece by piece as a table in shared memory (open addressing, at most
//         half full); its warps look all vertices of the lists of its b up there. The others are left to search.
// Bytes: 4 for a vertex that is looked up; in search also a sector for each step that leaves the caches.
#include "direct/chunks.cuh"

const unsigned FREE = 0xffffffffu;  // no vertex: there are fewer

__device__ __forceinline__ bool contains(const unsigned* list, int size, unsigned wanted) {
  const unsigned* low = list;
  for (int left = size; left > 0;) {
    const int half = left >> 1;
    const bool above = low[half] < wanted;
    low += above ? half + 1 : 0;
    left = above ? left - half - 1 : half;
  }
  return low < list + size && *low == wanted;
}

// Edges of vertices with at most `most` in their list.
extern "C" __global__ void gpop_search(Lists upward, int64 chunks, int64 share, int most, uint64* claimed, uint64* found) {
  uint64 triangles = 0;
  for (int64 number = claim(claimed); number < chunks; number = claim(claimed)) {
    const Chunk chunk(upward, number, share);
    for (int64 base = chunk.first; base <= chunk.last; base += 32) {
      const bool mine = base + lane_id() <= chunk.last;
      const int64 v = mine ? base + lane_id() : chunk.last;
      const int64 start = upward.indptr[v];
      const int size = (int)(upward.indptr[v + 1] - start);
      const Tile tile(upward, chunk, v, mine && size > 1 && size <= most);
      for (int window = 0; window < tile.edges; window += 32) {
        const Edge edge(tile, window);
        int64 few = __shfl_sync(ALL_LANES, start, edge.owner), many = few;
        int fewer = __shfl_sync(ALL_LANES, size, edge.owner), more = fewer;
        if (edge.there) {
          const unsigned b = upward.indices[edge.at];
          const int64 other = upward.indptr[b];
          const int others = (int)(upward.indptr[b + 1] - other);
          if (others < fewer) few = other, fewer = others;
          else many = other, more = others;
        }
        const int wanted = edge.there ? fewer : 0, upto = warp_inclusive_sum(wanted), before = upto - wanted;
        const int all = __shfl_sync(ALL_LANES, upto, 31);
        for (int first = 0; first < all; first += 32) {
          const int item = first + lane_id(), owner = owner_of(item, before);
          const int64 at = __shfl_sync(ALL_LANES, few - before, owner) + item, where = __shfl_sync(ALL_LANES, many, owner);
          const int size_there = __shfl_sync(ALL_LANES, more, owner);
          triangles += item < all && contains(upward.indices + where, size_there, upward.indices[at]);
        }
      }
    }
  }
  add_up(found, triangles);
}

// The vertices with longer lists, and how many edges these have.
extern "C" __global__ void gpop_list_long(Lists upward, int most, uint64* count, uint64* edges, unsigned* vertices) {
  uint64 own = 0;
  for (int64 v = this_thread(); v < upward.n; v += all_threads()) {
    const int64 size = upward.indptr[v + 1] - upward.indptr[v];
    if (size <= most) continue;
    vertices[atomicAdd(count, 1ULL)] = (unsigned)v;
    own += size;
  }
  add_up(edges, own);
}

__device__ __forceinline__ unsigned place_of(unsigned vertex, int shift) { return vertex * 2654435761u >> shift; }

extern "C" __global__ void __launch_bounds__(HASH_THREADS) gpop_hash(Lists upward, const unsigned* vertices, const uint64* count,
                                                                     uint64* claimed, uint64* found) {
  __shared__ unsigned table[1 << TABLE_BITS];
  __shared__ uint64 next;
  const int64 warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  uint64 triangles = 0;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) next = atomicAdd(claimed, 1ULL);
    __syncthreads();
    if (next >= *count) break;
    const unsigned a = vertices[next];
    const int64 begin = upward.indptr[a], end = upward.indptr[a + 1];
    for (int64 piece = begin; piece < end; piece += 1 << (TABLE_BITS - 1)) {
      const int size = (int)min(end - piece, (int64)1 << (TABLE_BITS - 1));
      const int bits = min(TABLE_BITS, 34 - __clz(size));  // at least two places for each
      const unsigned mask = (1u << bits) - 1;
      __syncthreads();
      for (unsigned i = threadIdx.x; i <= mask; i += blockDim.x) table[i] = FREE;
      __syncthreads();
      for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const unsigned c = upward.indices[piece + i];
        unsigned place = place_of(c, 32 - bits);
        while (atomicCAS(table + place, FREE, c) != FREE) place = (place + 1) & mask;
      }
      __syncthreads();
      for (int64 e = begin + warp; e < end; e += warps) {
        const unsigned b = upward.indices[e];
        const int64 last = upward.indptr[b + 1];
        for (int64 i = upward.indptr[b] + lane_id(); i < last; i += 32) {
          const unsigned c = upward.indices[i];
          unsigned place = place_of(c, 32 - bits), there = table[place];
          while (there != c && there != FREE) there = table[place = (place + 1) & mask];
          triangles += there == c;
        }
      }
    }
  }
  add_up(found, triangles);
}

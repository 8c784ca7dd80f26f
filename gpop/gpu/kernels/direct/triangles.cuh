// Triangles on oriented lists (oriented.cuh): each is met once, at its lowest vertex a, as b and c of its list with
// c in the list of b.
//
// search  a lane has an edge (a, b); the lanes of a warp then look every vertex of the shorter of the two lists up in the
//         longer one by bisection, all that they have to look up one after the other.
// hash    a block has a vertex with a long list, piece by piece as a table in shared memory (open addressing, at most
//         half full); its warps look all vertices of the lists of its b up there, having fetched where several lists
//         are, and several vertices of each. The others are left to search.
//
// What is added up: triangles; with LINKS, for each vertex, the edges between its neighbours, where an edge of the lists
// stands for one or two. In hash those of c wait beside the table, in steps of two behind the bit that says whether
// (a, c) is two edges.
// Bytes: 4 for a vertex that is looked up; in search also a sector for each step that leaves the caches.
#include "direct/oriented.cuh"

const unsigned FREE = 0xffffffffu;  // no vertex: there are fewer
const int GROUP = 8, AHEAD = 4;     // lists that a warp takes together, and vertices that a lane fetches at once

struct Sums {
  uint64* sum;                 // one, or with LINKS one for each vertex
  const unsigned char* edges;  // with LINKS: how many each edge of the lists stands for; if missing, two

  __device__ __forceinline__ unsigned of(int64 e) const { return edges ? edges[e] : 2; }
};

// Edges of vertices with at most `most` in their list.
extern "C" __global__ void gpop_search(Lists upward, int64 chunks, int64 share, int most, uint64* claimed, Sums sums) {
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
        const unsigned b = edge.there ? upward.indices[edge.at] : 0;
        const int64 other = upward.indptr[b];
        const int others = (int)(upward.indptr[b + 1] - other);
        const bool turned = others < fewer;  // the list of b is looked up in that of a
        if (turned) few = other, fewer = others;
        else many = other, more = others;
        const int wanted = edge.there ? fewer : 0, upto = warp_inclusive_sum(wanted), before = upto - wanted;
        const int all = __shfl_sync(ALL_LANES, upto, 31);
        for (int first = 0; first < all; first += 32) {
          const int item = first + lane_id(), owner = owner_of(item, before);
          const int64 at = __shfl_sync(ALL_LANES, few - before, owner) + item, where = __shfl_sync(ALL_LANES, many, owner);
          const int size_there = __shfl_sync(ALL_LANES, more, owner);
          const unsigned c = item < all ? upward.indices[at] : 0;
          const int64 met = item < all ? position(upward.indices, where, where + size_there, c) : -1;
#if LINKS
          const unsigned lowest = (unsigned)(base + __shfl_sync(ALL_LANES, edge.owner, owner));
          const unsigned middle = __shfl_sync(ALL_LANES, b, owner);
          const int64 between = __shfl_sync(ALL_LANES, edge.at, owner);
          const bool theirs = __shfl_sync(ALL_LANES, (int)turned, owner);
          if (met < 0) continue;
          atomicAdd(sums.sum + lowest, (uint64)sums.of(theirs ? at : met));
          atomicAdd(sums.sum + middle, (uint64)sums.of(theirs ? met : at));
          atomicAdd(sums.sum + c, (uint64)sums.of(between));
#else
          triangles += met >= 0;
#endif
        }
      }
    }
  }
  if (!LINKS) add_up(sums.sum, triangles);
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
                                                                     uint64* claimed, Sums sums) {
  __shared__ unsigned table[1 << TABLE_BITS];
#if LINKS
  __shared__ unsigned waiting[1 << TABLE_BITS];
#endif
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
    uint64 own = 0;
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
#if LINKS
        waiting[place] = sums.of(piece + i) - 1;
#endif
      }
      __syncthreads();
      for (int64 group = begin + warp * GROUP; group < end; group += warps * GROUP) {
        const bool some = lane_id() < GROUP && group + lane_id() < end;
        const unsigned mine = some ? upward.indices[group + lane_id()] : 0;
        const int64 from = some ? upward.indptr[mine] : 0, to = some ? upward.indptr[mine + 1] : 0;
        for (int j = 0; j < min((int64)GROUP, end - group); ++j) {
          const int64 first = __shfl_sync(ALL_LANES, from, j), last = __shfl_sync(ALL_LANES, to, j);
          uint64 theirs = 0;
          for (int64 i = first + lane_id(); i - lane_id() < last; i += 32 * AHEAD) {
            unsigned c[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) c[k] = i + 32 * k < last ? upward.indices[i + 32 * k] : FREE;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
              unsigned place = place_of(c[k], 32 - bits), there = table[place];
              while (there != c[k] && there != FREE) there = table[place = (place + 1) & mask];
              if (there == FREE) continue;
#if LINKS
              theirs += 1 + (atomicAdd(waiting + place, 2 * sums.of(group + j)) & 1);
              own += sums.of(i + 32 * k);
#else
              ++triangles;
#endif
            }
          }
          if (LINKS) add_up(sums.sum + __shfl_sync(ALL_LANES, mine, j), theirs);
        }
      }
#if LINKS
      __syncthreads();
      for (unsigned i = threadIdx.x; i <= mask; i += blockDim.x)
        if (table[i] != FREE && waiting[i] > 1) atomicAdd(sums.sum + table[i], (uint64)(waiting[i] >> 1));
#endif
    }
    if (LINKS) add_up(sums.sum + a, own);
  }
  if (!LINKS) add_up(sums.sum, triangles);
}

// Edge-parallel and vertex-parallel PageRank, BFS and SSSP over plain CSR, to measure the engine against.
//
// One kernel per app and strategy; perf/gpu_baselines.py launches them. PageRank kernels do one iteration.
// BFS and SSSP kernels do the whole run in one cooperative launch (every block is resident), a barrier of
// the grid per level, no host between levels. Bytes are those that leave or reach the arrays; R marks
// accesses at random, of which each costs a sector of 32 bytes where the array exceeds the L2 cache.
//
//   kernel           edges by      one thread, or warp, takes   bytes
//   pagerank_edge    destination   an edge                      8 + 4R per edge, 4 per run of equal destinations
//   pagerank_vertex  destination   LANES lanes a vertex         4 + 4R per edge, 16 per vertex
//   bfs_edge         source        four edges                   8 per edge and level, 4 + 4R per active edge
//   bfs_vertex       source        a warp a frontier piece      4 + 4R per edge of the frontier, 24 per piece
//   sssp_edge        source        four edges                   8 per edge and level, 12 + 4R per active edge
//   sssp_vertex      source        a warp a frontier piece      8 + 4R per edge of the frontier, 28 per piece
//
// A piece is (vertex, number): PIECE out-edges at most, so that a hub does not keep one warp busy alone.

typedef unsigned long long uint64;
const unsigned ALL_LANES = 0xffffffffu;
const unsigned PIECE = 512;

__device__ __forceinline__ unsigned lane_id() { return threadIdx.x & 31; }

// --- PageRank: share is rank / out-degree, per_edge is 1 / out-degree ---------------------------------

// Neighbouring edges share their destination: a segmented sum over the warp leaves one atomic per run.
extern "C" __global__ void pagerank_edge(const unsigned* sources, const unsigned* destinations, unsigned m,
                                         const float* share, float* sum) {
  const uint64 e = (uint64)blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = lane_id();
  const bool here = e < m;
  const unsigned v = here ? destinations[e] : ALL_LANES;
  float x = here ? share[sources[e]] : 0.0f;
  const unsigned before = __shfl_up_sync(ALL_LANES, v, 1);
  const unsigned heads = __ballot_sync(ALL_LANES, lane == 0 || before != v);
  const unsigned reach = lane - (31 - __clz(heads & (ALL_LANES >> (31 - lane))));  // lanes back to the head
#pragma unroll
  for (unsigned step = 1; step < 32; step <<= 1) {
    const float other = __shfl_up_sync(ALL_LANES, x, step);
    if (step <= reach) x += other;
  }
  const bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (here && last) atomicAdd(sum + v, x);
}

// What the vertices make of their sums, after pagerank_edge.
extern "C" __global__ void pagerank_finish(unsigned n, const float* per_edge, double base, double damping, float* sum, float* share) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  share[v] = (float)((base + damping * (double)sum[v]) * (double)per_edge[v]);
  sum[v] = 0.0f;
}

template <unsigned LANES>
__device__ void pagerank_pull(const unsigned* indptr, const unsigned* indices, unsigned n, const float* per_edge, double base,
                              double damping, const float* share, float* next) {
  const uint64 v = ((uint64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  const unsigned lane = threadIdx.x % LANES;
  float sum = 0.0f;
  if (v < n) {
    const unsigned last = indptr[v + 1];
    uint64 e = indptr[v] + lane;
    for (; e + 3 * LANES < last; e += 4 * LANES) {  // four loads on their way at once
      const unsigned a = indices[e], b = indices[e + LANES], c = indices[e + 2 * LANES], d = indices[e + 3 * LANES];
      sum += (share[a] + share[b]) + (share[c] + share[d]);
    }
    for (; e < last; e += LANES) sum += share[indices[e]];
  }
#pragma unroll
  for (unsigned step = LANES / 2; step; step >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, step);
  if (v < n && lane == 0) next[v] = (float)((base + damping * (double)sum) * (double)per_edge[v]);
}

#define PAGERANK_VERTEX(LANES)                                                                                        \
  extern "C" __global__ void pagerank_vertex_##LANES(const unsigned* indptr, const unsigned* indices, unsigned n,     \
                                                     const float* per_edge, double base, double damping,              \
                                                     const float* share, float* next) {                               \
    pagerank_pull<LANES>(indptr, indices, n, per_edge, base, damping, share, next);                                   \
  }
PAGERANK_VERTEX(4)
PAGERANK_VERTEX(8)
PAGERANK_VERTEX(16)
PAGERANK_VERTEX(32)

// --- Levels -------------------------------------------------------------------------------------------

// work[i % 3] is what level i has to do (0: the run is over). Level i adds to the next one and clears the
// one after that, which every block has read before the barrier that ended level i - 1.
struct Progress {
  unsigned work[3], arrived, levels;
};

// Everybody waits for the whole grid; returns how much work was found for level `level + 1`. One thread's
// fence on each side makes the stores of other blocks visible to plain loads of this one.
__device__ unsigned end_level(Progress* progress, unsigned level) {
  __shared__ unsigned found;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&progress->arrived, 1u);
    while (*(volatile unsigned*)&progress->arrived < (level + 1) * gridDim.x) {}
    __threadfence();
    found = *(volatile unsigned*)&progress->work[(level + 1) % 3];
  }
  __syncthreads();
  return found;
}

__device__ __forceinline__ bool is_leader() { return blockIdx.x == 0 && threadIdx.x == 0; }

// --- Edge-parallel: every edge at every level, four per thread, so that loads are 16 bytes -------------
// Edge arrays are padded to a multiple of four; edges from m on do not count. `relax(e, u)` says whether
// edge e, whose source u is active, activated its destination.

template <class IsActive, class Relax>
__device__ void all_edges(const unsigned* sources, unsigned m, unsigned* next_work, IsActive is_active, Relax relax) {
  const uint64 threads = (uint64)gridDim.x * blockDim.x;
  bool found = false;
  for (uint64 i = (uint64)blockIdx.x * blockDim.x + threadIdx.x; 4 * i < m; i += threads) {
    const uint4 four = ((const uint4*)sources)[i];
    const unsigned source[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (4 * i + j < m && is_active(source[j])) found |= relax(4 * i + j, source[j]);
  }
  if (__syncthreads_or(found) && threadIdx.x == 0) *(volatile unsigned*)next_work = 1;
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    bfs_edge(const unsigned* sources, const unsigned* destinations, unsigned m, int* level, Progress* progress) {
  unsigned now = 0;
  for (unsigned work = 1; work; ++now) {
    if (is_leader()) progress->work[(now + 2) % 3] = 0;
    all_edges(
        sources, m, progress->work + (now + 1) % 3, [&](unsigned u) { return level[u] == (int)now; },
        [&](uint64 e, unsigned) {
          int* reached = level + destinations[e];
          if (*reached != -1) return false;
          *reached = now + 1;  // whoever writes writes the same
          return true;
        });
    work = end_level(progress, now);
  }
  if (is_leader()) progress->levels = now;
}

// `turn` of a vertex is the level for which it is active; one that improves again while it is active sends
// at the next level.
extern "C" __global__ void __launch_bounds__(1024, 2)
    sssp_edge(const unsigned* sources, const unsigned* destinations, const unsigned* weights, unsigned m, unsigned* distance,
              unsigned* turn, Progress* progress) {
  unsigned now = 0;
  for (unsigned work = 1; work; ++now) {
    if (is_leader()) progress->work[(now + 2) % 3] = 0;
    all_edges(
        sources, m, progress->work + (now + 1) % 3, [&](unsigned u) { return turn[u] == now; },
        [&](uint64 e, unsigned u) {
          const unsigned v = destinations[e], offer = distance[u] + weights[e];
          if (offer >= distance[v] || atomicMin(distance + v, offer) <= offer) return false;
          turn[v] = now + 1;
          return true;
        });
    work = end_level(progress, now);
  }
  if (is_leader()) progress->levels = now;
}

// --- Vertex-parallel: a warp per piece of a frontier vertex, the next frontier in a queue ----------------

// Append the pieces of `v` for every lane that has a `found` one; one atomic per warp.
__device__ __forceinline__ void enqueue(bool found, unsigned v, const unsigned* indptr, uint2* queue, unsigned* size) {
  if (!__any_sync(ALL_LANES, found)) return;
  const unsigned pieces = found ? (indptr[v + 1] - indptr[v] + PIECE - 1) / PIECE : 0;
  unsigned upto = pieces;
#pragma unroll
  for (unsigned step = 1; step < 32; step <<= 1) {
    const unsigned other = __shfl_up_sync(ALL_LANES, upto, step);
    if (lane_id() >= step) upto += other;
  }
  unsigned first = 0;
  if (lane_id() == 31) first = atomicAdd(size, upto);
  first = __shfl_sync(ALL_LANES, first, 31) + upto - pieces;
  for (unsigned piece = 0; piece < pieces; ++piece) queue[first + piece] = make_uint2(v, piece);
}

// `relax(e, u)` gives the destination of an edge of frontier vertex u if it is to be enqueued, else ALL_LANES.
template <class Relax>
__device__ void frontier_edges(const unsigned* indptr, const uint2* queue, unsigned size, uint2* next, unsigned* next_size,
                               Relax relax) {
  const unsigned warps = gridDim.x * (blockDim.x >> 5);
  // Neighbouring numbers on different multiprocessors, so that little work spreads over all of them.
  for (unsigned i = (threadIdx.x >> 5) * gridDim.x + blockIdx.x; i < size; i += warps) {
    const uint2 item = queue[i];
    const uint64 start = (uint64)indptr[item.x] + (uint64)item.y * PIECE;
    const uint64 end = indptr[item.x + 1];
    const uint64 last = start + PIECE < end ? start + PIECE : end;
    for (uint64 e = start; e < last; e += 32) {
      const unsigned v = e + lane_id() < last ? relax(e + lane_id(), item.x) : ALL_LANES;
      enqueue(v != ALL_LANES, v, indptr, next, next_size);
    }
  }
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    bfs_vertex(const unsigned* indptr, const unsigned* indices, int* level, uint2* even, uint2* odd, Progress* progress) {
  unsigned now = 0;
  for (unsigned size = *(volatile unsigned*)&progress->work[0]; size; ++now) {
    if (is_leader()) progress->work[(now + 2) % 3] = 0;
    frontier_edges(indptr, now & 1 ? odd : even, size, now & 1 ? even : odd, progress->work + (now + 1) % 3,
                   [&](uint64 e, unsigned) {
                     const unsigned v = indices[e];
                     return level[v] == -1 && atomicCAS(level + v, -1, now + 1) == -1 ? v : ALL_LANES;
                   });
    size = end_level(progress, now);
  }
  if (is_leader()) progress->levels = now;
}

// `turn` of a vertex is the last level for which it was enqueued.
extern "C" __global__ void __launch_bounds__(1024, 2)
    sssp_vertex(const unsigned* indptr, const unsigned* indices, const unsigned* weights, unsigned* distance, unsigned* turn,
                uint2* even, uint2* odd, Progress* progress) {
  unsigned now = 0;
  for (unsigned size = *(volatile unsigned*)&progress->work[0]; size; ++now) {
    if (is_leader()) progress->work[(now + 2) % 3] = 0;
    frontier_edges(indptr, now & 1 ? odd : even, size, now & 1 ? even : odd, progress->work + (now + 1) % 3,
                   [&](uint64 e, unsigned u) {
                     const unsigned v = indices[e], offer = distance[u] + weights[e];
                     if (offer >= distance[v] || atomicMin(distance + v, offer) <= offer) return ALL_LANES;
                     return atomicExch(turn + v, now + 1) == now + 1 ? ALL_LANES : v;
                   });
    size = end_level(progress, now);
  }
  if (is_leader()) progress->levels = now;
}

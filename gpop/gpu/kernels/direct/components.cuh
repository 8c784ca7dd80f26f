// Afforest on a device: the phases of gpop/gpu/direct/components.py, a kernel each.
//
// parent[v] is the vertex above v, a root is its own; it is never larger than v, so that the root of a finished tree
// is the smallest vertex of its component. Roots are linked by compare-and-swap; what is no root any more is written
// without: any ancestor is right. Bytes: hook, 12 + a sector a vertex; compress and flatten, 8 + a look at the
// root's; rest, 4 + the parent of each end for an edge that is looked at, 12 for a vertex.
#include "direct/chunks.cuh"
#include "mail.cuh"

enum { LARGEST, SAMPLED, ROOTS, CLAIMED, HOOKED, JOINED, RESTED, BEGUN };  // places of `told`; times from BEGUN on

__device__ __forceinline__ unsigned above(const unsigned* parent, unsigned v) { return *(const volatile unsigned*)(parent + v); }

// The root of v; halves the path.
__device__ __forceinline__ unsigned find(unsigned* parent, unsigned v) {
  for (unsigned up = above(parent, v); up != v;) {
    const unsigned top = above(parent, up);
    if (top != up) parent[v] = top;
    v = up;
    up = top;
  }
  return v;
}

__device__ __forceinline__ void unite(unsigned* parent, unsigned a, unsigned b) {
  a = find(parent, a);
  b = find(parent, b);
  while (a != b) {
    const unsigned low = min(a, b), high = max(a, b);
    const unsigned was = atomicCAS(parent + high, high, low);
    if (was == high) return;
    a = find(parent, was);
    b = find(parent, low);
  }
}

// Every vertex below its first neighbour, if that is smaller.
__device__ void hook(Lists graph, unsigned* parent, uint64* told) {
  uint64 edges = 0;
  for (int64 v = this_thread(); v < graph.n; v += all_threads()) {
    const int64 e = graph.indptr[v];
    const bool some = e < graph.indptr[v + 1];
    parent[v] = min(some ? graph.indices[e] : (unsigned)v, (unsigned)v);
    edges += some;
  }
  add_up(told + HOOKED, edges);
}

// What is a root still, linked over its first edges.
__device__ void join(Lists graph, unsigned* parent, int most, uint64* told) {
  uint64 edges = 0;
  for (int64 v = this_thread(); v < graph.n; v += all_threads()) {
    if (parent[v] != v) continue;
    const int64 begin = graph.indptr[v], end = min(begin + most, graph.indptr[v + 1]);
    for (int64 e = begin; e < end; ++e) unite(parent, (unsigned)v, graph.indices[e]);
    edges += end - begin;
  }
  add_up(told + JOINED, edges);
}

// Every vertex below its root; how many are roots.
__device__ void compress(int64 n, unsigned* parent, uint64* told) {
  uint64 roots = 0;
  for (int64 v = this_thread(); v < n; v += all_threads()) {
    unsigned up = above(parent, v), top = above(parent, up);
    while (up != top) {  // others pull their vertices up meanwhile: steps double
      parent[v] = up = top;
      top = above(parent, up);
    }
    roots += up == v;
  }
  add_up(told + ROOTS, roots);
}

// The most frequent root of SAMPLES vertices, and how often it came up. One block.
__device__ void sample(int64 n, const unsigned* parent, uint64* told) {
  __shared__ unsigned root[SAMPLES];
  __shared__ uint64 most;
  for (int i = threadIdx.x; i < SAMPLES; i += blockDim.x) {
    const uint64 mixed = (i + 1) * 0x9E3779B97F4A7C15ULL;  // multiples of the golden ratio lie evenly
    root[i] = parent[(mixed >> 20) % (uint64)n];
  }
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < SAMPLES; i += blockDim.x) {
    uint64 count = 0;
    for (int j = 0; j < SAMPLES; ++j) count += root[j] == root[i];
    atomicMax(&most, count << 32 | (unsigned)~root[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    told[LARGEST] = ~(unsigned)most;
    told[SAMPLED] = most >> 32;
    told[ROOTS] = 0;  // they are counted again
  }
}

// Edges that the sample left open: in a symmetric graph those of the vertices outside of the largest tree, which have
// all that leave it, too; else all edges.
__device__ void rest(Lists graph, int64 chunks, int64 share, int directed, unsigned* parent, uint64* told) {
  const unsigned largest = (unsigned)told[LARGEST];
  uint64 edges = 0;
  for (int64 number = claim(told + CLAIMED); number < chunks; number = claim(told + CLAIMED)) {
    const Chunk chunk(graph, number, share);
    for (int64 base = chunk.first; base <= chunk.last; base += 32) {
      const int64 v = min(base + (int64)lane_id(), chunk.last);
      const unsigned root = parent[v];
      const bool wants = base + lane_id() <= chunk.last && (directed || root != largest);
      if (!__any_sync(ALL_LANES, wants)) continue;
      const Tile tile(graph, chunk, v, wants);
      for (int window = 0; window < tile.edges; window += 32) {
        const Edge edge(tile, window);
        const unsigned near = __shfl_sync(ALL_LANES, root, edge.owner);
        if (!edge.there) continue;
        const unsigned u = graph.indices[edge.at];
        if (parent[u] != near) unite(parent, near, u);
      }
      if (lane_id() == 0) edges += tile.edges;
    }
  }
  add_up(told + RESTED, edges);
}

// All phases by one block, of a graph with which it is through before that many launches would have begun.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS)
    gpop_all(Lists graph, int64 chunks, int64 share, int directed, int most, unsigned* parent, uint64* told, Mail mail) {
  const int64 begun = receive(mail);
  int phase = 0;
  const auto meet = [&] {
    __syncthreads();
    if (threadIdx.x == 0) told[BEGUN + phase] = (uint64)now_ns();
    ++phase;
  };
  for (int place = threadIdx.x; place < BEGUN; place += blockDim.x) told[place] = 0;
  meet();
  hook(graph, parent, told);
  meet();
  join(graph, parent, most, told);
  meet();
  compress(graph.n, parent, told);
  meet();
  sample(graph.n, parent, told);
  meet();
  rest(graph, chunks, share, directed, parent, told);
  meet();
  compress(graph.n, parent, told);
  meet();
  answer(mail, begun);
}

extern "C" __global__ void gpop_hook(Lists graph, unsigned* parent, uint64* told) {
  hook(graph, parent, told);
}

extern "C" __global__ void gpop_join(Lists graph, unsigned* parent, int most, uint64* told) {
  join(graph, parent, most, told);
}

extern "C" __global__ void gpop_compress(int64 n, unsigned* parent, uint64* told) {
  compress(n, parent, told);
}

extern "C" __global__ void gpop_sample(int64 n, const unsigned* parent, uint64* told) {
  sample(n, parent, told);
}

extern "C" __global__ void gpop_rest(Lists graph, int64 chunks, int64 share, int directed, unsigned* parent, uint64* told) {
  rest(graph, chunks, share, directed, parent, told);
}

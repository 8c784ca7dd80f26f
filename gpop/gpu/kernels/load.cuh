// How a run begins: with a frontier. The loop loads it itself (`begin`); where halves of an iteration are launched, or
// ranks speak to each other between iterations, a launch of its own does.
#include "mail.cuh"

// The given vertices (each once), or all (`size` < 0). No barrier.
__device__ void load_frontier(const Graph& graph, const Space& space, Control* control, const unsigned* sources, int64 size) {
  const int64 first = (int64)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64)gridDim.x * blockDim.x;
  if (size < 0) {
    for (int64 w = first; 32 * w < graph.n; w += stride) {
      space.frontier_bits[w] = graph.n - 32 * w >= 32 ? ALL_LANES : (1u << (graph.n - 32 * w)) - 1;
      if (TRACK) space.touched_bits[w] = space.frontier_bits[w];
    }
    for (int64 p = first; p < graph.k; p += stride) {
      const int64 begin = p << BITS, end = min(graph.n, begin + ((int64)1 << BITS));
      space.active_vertices[p] = (unsigned)(end - begin);
      space.active_edges[p] = graph.indptr[end] - graph.indptr[begin];
    }
    if (first == 0) {
      control->head.next_frontier = graph.n;
      control->head.next_edges = graph.m;
      control->head.list_valid = 0;
    }
    return;
  }
  if (first == 0) control->head.list_valid = 1;
  for (int64 i = first; i < size; i += stride) {
    const unsigned v = sources[i];
    if (!set_bit(space.frontier_bits, v)) continue;
    if (TRACK) set_bit(space.touched_bits, v);
    const int64 edges = degree_of(graph, v);
    append(v, edges, true, space, control);
    atomicAdd(space.active_vertices + partition_of(v), 1u);
    atomicAdd(space.active_edges + partition_of(v), (uint64)edges);
    atomicAdd((uint64*)&control->head.next_frontier, 1ULL);
    atomicAdd((uint64*)&control->head.next_edges, (uint64)edges);
  }
}

extern "C" __global__ void gpop_load(const Graph graph, const Space space, Control* control, const unsigned* sources,
                                     int64 size, const Mail mail) {
  const int64 begun = receive(mail);
  load_frontier(graph, space, control, sources, size);
  answer(mail, begun);
}

// What the host has asked for, by all blocks of the first launch of a run; seen behind the next barrier.
__device__ __forceinline__ void begin(const Graph& graph, const Space& space, Control* control) {
#if !ALL_ACTIVE && !RANKED
  const int64 size = control->head.loads;
  if (size) load_frontier(graph, space, control, (const unsigned*)control->head.sources, size);
#endif
}

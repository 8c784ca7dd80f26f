// The adjacency lists with the lightest edge first, on a device: what gpop/gpu/direct/by_weight.py sorts them by.
//
// Bytes of an edge: 12 for its key; then 8 for its place in the order, and 20 from there.
#include "direct/chunks.cuh"

// Of the edges of vertices from `first` to before `last`: the vertex, counted from the first, above the weight.
// `weights` and `keys` begin with the first of these edges. A warp has a list.
extern "C" __global__ void gpop_keys(int64 first, int64 last, const int64* indptr, const unsigned* weights, uint64* keys) {
  const int64 begin = indptr[first];
  for (int64 v = first + this_thread() / 32; v < last; v += all_threads() / 32)
    for (int64 e = indptr[v] + lane_id(); e < indptr[v + 1]; e += 32) keys[e - begin] = (uint64)(v - first) << 32 | weights[e - begin];
}

// The same edges in the order of their keys: the weight above the neighbour.
extern "C" __global__ void gpop_lines(int64 edges, const int64* order, const uint64* keys, const unsigned* indices, uint64* lines) {
  for (int64 i = this_thread(); i < edges; i += all_threads()) lines[i] = keys[order[i]] << 32 | indices[order[i]];
}

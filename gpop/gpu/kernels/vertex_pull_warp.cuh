// Strategy vertex-pull-warp: virtual warps walk the in-edges of all vertices, one vertex after the other.
//
// All lanes of a virtual warp share the in-edges of one vertex (virtual_warps.cuh). Where the program declares
// `combine` each lane combines what it meets, and the lanes' parts are combined by shuffles: once per vertex, or
// once per round where a vertex may stop early (a sum never is). Otherwise messages are taken in the order of their
// sources, by all lanes alike, each on a copy of its own. Nothing is atomic. Bytes as owner.cuh.
#include "in_edges.cuh"
#include "messages_combined.cuh"
#include "virtual_warps.cuh"

struct Parts : Combined {  // in this lane
  // Those of all lanes of the virtual warp to gatherFunc; true if that activates v.
  __device__ __forceinline__ bool give(Owned& own, unsigned v) {
    for (int step = VIRTUAL_WARP / 2; step; step >>= 1)
      add(__shfl_xor_sync(ALL_LANES, value, step), __shfl_xor_sync(ALL_LANES, (int)some, step) != 0);
    const bool activated = some && gatherFunc(own, (Gathered)value, v);
    some = false;
    return activated;
  }
};

// VIRTUAL_WARP vertices from `base` on.
__device__ __forceinline__ void pull_group(const VirtualWarp& part, int64 base, State& state, const Graph& graph, const Space& space,
                                           Control* control) {
  const bool there = base + part.lane < graph.n;
  const int64 begin = there ? graph.in_indptr[base + part.lane] : 0, end = there ? graph.in_indptr[base + part.lane + 1] : 0;
  for (int j = 0; j < VIRTUAL_WARP; ++j) {
    const unsigned v = (unsigned)min(base + j, graph.n - 1);
    const int64 last = __shfl_sync(ALL_LANES, end, part.first + j);
    int64 e = __shfl_sync(ALL_LANES, begin, part.first + j) + part.lane;
    Owned own(state, v);
    bool wants = needsFunc(own, v), heard = false, activated = false;
    Parts parts;
    parts.value = Total(0), parts.some = false;
    for (; __any_sync(ALL_LANES, wants && e - part.lane < last); e += VIRTUAL_WARP) {
      const unsigned source = wants && e < last ? graph.in_indices[e] : 0;
      const bool sent = wants && e < last && is_active(space, source);
      const Gathered value = sent ? pulled(e, source, state, graph, space) : Gathered(0);
      if (COMBINE) {
        parts.add((Total)value, sent);
        heard |= sent;
        if (!ENDS_EARLY || COMBINE == ADD) continue;
        activated |= parts.give(own, v);
        wants = wants && needsFunc(own, v);
        continue;
      }
      const unsigned senders = __ballot_sync(ALL_LANES, sent) >> part.first;
      for (int from = 0; from < VIRTUAL_WARP; ++from) {
        const Gathered x = __shfl_sync(ALL_LANES, value, part.first + from);
        if (!(senders >> from & 1) || !wants) continue;
        heard = true;
        activated |= gatherFunc(own, x, v);
        if (ENDS_EARLY) wants = needsFunc(own, v);
      }
    }
    if (COMBINE) activated |= parts.give(own, v);
    const unsigned any = __ballot_sync(ALL_LANES, heard) >> part.first & ALL_LANES >> (32 - VIRTUAL_WARP);
    if (part.lane == 0 && any) {
      put_back(own, state, v);
      if (activated && !ALL_ACTIVE) activate(v, space, control);
    }
    __syncwarp();
  }
}

struct VertexPullWarp : KeepsValues<false> {
  static __device__ __forceinline__ void gather(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
    for (VirtualWarp part(team); part.some(graph.n); part.chunk += part.chunks)
      for (int group = 0; group < CHUNK; group += VIRTUAL_WARP)
        pull_group(part, part.chunk * CHUNK + group, state, graph, space, control);
  }
};

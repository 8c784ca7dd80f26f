// The list of active vertices: what is appended to it, alone or by a warp together, and how bits become a list.
//
// One counter says how long the list is, and one how many pieces of heavy vertices there are. Blocks all over the
// device add to them, and additions to one address are served one after the other, about one a nanosecond: so a warp
// reserves room for all that its lanes have. Heavy vertices are listed in pieces of HEAVY edges, too.
#include "owner_of.cuh"

__device__ __forceinline__ int pieces_of(int64 edges) { return edges > HEAVY ? (int)((edges + HEAVY - 1) / HEAVY) : 0; }

// Add v to the list, and its pieces, whoever else does.
__device__ __forceinline__ void append(unsigned v, int64 edges, bool wanted, const Space& space, Control* control) {
  const int64 at = reserve(&control->head.next_list, wanted);
  if (!wanted) return;
  space.list[at] = v;
  const int pieces = pieces_of(edges);
  if (pieces == 0) return;
  const int64 first = (int64)atomicAdd((uint64*)&control->head.next_heavy, (uint64)pieces);
  for (int j = 0; j < pieces; ++j) space.heavy[first + j] = make_uint2(v, j);
}

// The pieces of what all lanes of a warp have, one vertex each, of so many edges; 0: none.
__device__ __forceinline__ void append_pieces(unsigned v, int64 edges, const Space& space, Control* control) {
  const int pieces = pieces_of(edges);
  if (!__any_sync(ALL_LANES, pieces != 0)) return;
  const int upto = warp_inclusive_sum(pieces), before = upto - pieces;
  const int all = __shfl_sync(ALL_LANES, upto, 31);
  int64 first = 0;
  if (lane_id() == 0) first = (int64)atomicAdd((uint64*)&control->head.next_heavy, (uint64)all);
  first = __shfl_sync(ALL_LANES, first, 0);
  for (int begun = 0; begun < all; begun += 32) {
    const int i = begun + lane_id(), owner = owner_of(i, before);
    const unsigned vertex = __shfl_sync(ALL_LANES, v, owner);
    const int piece = i - __shfl_sync(ALL_LANES, before, owner);
    if (i < all) space.heavy[first + i] = make_uint2(vertex, piece);
  }
}

// The same as append, by a whole warp.
__device__ __forceinline__ void append_together(unsigned v, int64 edges, bool wanted, const Space& space, Control* control) {
  const int64 at = reserve(&control->head.next_list, wanted);
  if (wanted) space.list[at] = v;
  __syncwarp();
  append_pieces(v, wanted ? edges : 0, space, control);
}

// The vertices of these bits, of 32 words of which each lane has one: `each(v, degree)`, then into the list if it is
// wanted, in any order.
template <class Each>
__device__ __forceinline__ void walk_words(int64 first, unsigned own, bool listed, const Graph& graph, const Space& space,
                                           Control* control, Each each) {
  const int count = __popc(own), upto = warp_inclusive_sum(count);
  int64 at = 0;
  if (listed && lane_id() == 31) at = (int64)atomicAdd((uint64*)&control->head.next_list, (uint64)upto);
  at = __shfl_sync(ALL_LANES, at, 31) + upto - count;
  for (unsigned left = own; __any_sync(ALL_LANES, left != 0); left &= left - 1) {
    const unsigned v = (unsigned)(32 * (first + lane_id())) + (left ? __ffs(left) - 1 : 0);
    const int64 degree = left ? degree_of(graph, v) : 0;
    if (left) each(v, degree);
    if (listed && left) space.list[at++] = v;
    __syncwarp();
    if (listed) append_pieces(v, degree, space, control);
  }
}

// Make the list from the bits: vertices that will push.
__device__ void list_frontier(Team& team, const Graph& graph, const Space& space, Control* control) {
  const int64 words = (graph.n + 31) / 32;
  for (int64 first = 32LL * team.warp(); first < words; first += 32LL * team.warps()) {
    const int64 word = first + lane_id();
    unsigned own = word < words ? space.frontier_bits[word] : 0;
    for (unsigned left = own; left; left &= left - 1) {
      if (!pushes((unsigned)(32 * word) + __ffs(left) - 1, space, control)) own &= ~(left & -left);
      if (BITS >= 5) {  // a word lies in one partition
        if (own != left) own = 0;
        break;
      }
    }
    __syncwarp();
    if (__any_sync(ALL_LANES, own != 0)) walk_words(first, own, true, graph, space, control, [](unsigned, int64) {});
  }
}

// The decision tree of a run (gpop/gpu/tree.py): asked by the thread that plans an iteration, and by the first thread
// of every block between levels, behind the barrier: nothing comes from the host.
//
// What a node asks is a whole number, the vertices of the frontier, those of all earlier ones, or active edges: left,
// which is the next node, where it is at most the limit. All else was known before the run and is decided. Nodes go
// through the cache that a barrier leaves alone; by another way each would cost an access to L2.

struct __align__(16) TreeNode {  // as it lies in Space.tree
  int64 limit;
  int which, right;  // LEAF: `right` is the mode
};

#if HAS_TREE
// What the tree says of an iteration, or `before` where it says nothing.
__device__ __forceinline__ int way_of(const Space& space, int64 frontier, int64 visited, int64 edges, int before) {
  int at = 0;
  while (true) {
    const uint4 words = __ldg((const uint4*)(space.tree + at));
    const int64 limit = (int64)(words.x | (uint64)words.y << 32);
    const int which = (int)words.z, right = (int)words.w;
    if (which == LEAF) return right == KEEP ? before : right;
    const int64 asked = which == 0 ? frontier : which == 1 ? visited : edges;
    at = asked <= limit ? at + 1 : right;
  }
}
#else
__device__ __forceinline__ int way_of(const Space&, int64, int64, int64, int) { return AUTO; }
#endif

__device__ __forceinline__ bool by_model(int way) { return way == AUTO || way == AUTO_PUSH; }

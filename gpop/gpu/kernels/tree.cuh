// The decision tree of a run (gpop/plan/chosen.py): asked by the thread that plans an iteration, and by the first
// thread of every block between levels, behind the barrier: nothing comes from the host.
//
// A node that decides goes left where its feature, as float, is at most the threshold; a leaf has the mode on its
// right. Features of graph and program lie in `features`, those of the iteration are computed where they are asked for.

struct TreeNode {  // as it lies in Space.tree
  double threshold;
  int place, left, right, pad;
};

#if HAS_TREE
// What the tree says of an iteration, or `before` where it says nothing.
__device__ __forceinline__ int way_of(const Graph& graph, const Space& space, int64 frontier, int64 edges, int64 visited, int before) {
  const double n = max((double)graph.n, 1.0), m = max((double)graph.m, 1.0);
  int at = 0;
  while (true) {
    const TreeNode node = space.tree[at];
    if (node.left == LEAF) return node.right == KEEP ? before : node.right;
    const float value = node.place < STEP_AT
                            ? space.features[node.place]
                            : (float)model::step_feature(node.place - STEP_AT, n, m, (double)frontier, (double)edges, (double)visited);
    at = value <= node.threshold ? node.left : node.right;
  }
}
#else
__device__ __forceinline__ int way_of(const Graph&, const Space&, int64, int64, int64, int) { return AUTO; }
#endif

__device__ __forceinline__ bool by_model(int way) { return way == AUTO || way == AUTO_PUSH; }

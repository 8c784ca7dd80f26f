// A run on a small graph that begins with one vertex: a launch of its own, of levels that may look at all edges (sweep.cuh)
// and of nothing else, so that all registers are for these. What it leaves, and other runs, are for gpop_loop.

extern "C" __global__ void __launch_bounds__(SWEEP_THREADS, 1)
    gpop_swept(const State given, const Graph graph, const Space space, Control* control) {
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0};
  if (begins_with_level(graph, control, graph.m)) LevelsOf<SWEPT>(team, state, graph, space, control).run(true);
}

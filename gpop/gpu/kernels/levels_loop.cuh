// Iterations with so few active vertices that one cluster of blocks is enough for them (levels.cuh), and their
// buckets: a launch of its own, of as many as there are in a row. What comes then is for gpop_loop, which finds
// everything as the end of a slice leaves it.

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(BLOCK_THREADS, 1)
    gpop_levels(const State given, const Graph graph, const Space space, Control* control) {
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0, true};
  if (team.leader()) control->head.started = now_ns();
  begin_buckets(team, state, graph, space, control);
  team.sync([&] { plan(graph, space, control, false, CLUSTER_EDGES); });
  while (control->head.few && !control->head.stop) {
    LevelsOf<true>(team, state, graph, space, control).run();
    next_bucket(team, state, graph, space, control);
    team.sync([&] { plan(graph, space, control, true, CLUSTER_EDGES); });
  }
}

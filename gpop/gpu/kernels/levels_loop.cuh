// Iterations with so few active vertices that one cluster of blocks is enough for them (levels.cuh): a launch of its
// own, of as many as there are in a row. What comes then is for gpop_loop, which finds everything as the end of a slice
// leaves it. On an H200 a level of a grid takes 3.8 us so, 4.5 in gpop_loop; with buckets nothing is gained.

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CLUSTER_THREADS, 1)
    gpop_levels(const State given, const __grid_constant__ Graph graph, const __grid_constant__ Space space, Control* control) {
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0, true};
  bool begins = begins_with_level(graph, control, min(CLUSTER_EDGES, LEVEL_DEGREE));
  if (!begins) {
    if (team.leader()) control->head.started = now_ns();
    begin(graph, space, control);
    team.sync([&] {
      if (threadIdx.x == 0) control->head.loads = 0;
      plan(graph, space, control, false, true);
    });
  }
  while (begins || (control->head.few && !control->head.stop)) {
    if (LevelsOf<BY_CLUSTER>(team, state, graph, space, control).run(begins)) return;
    begins = false;
    team.sync([&] { plan(graph, space, control, true, true); });
  }
}

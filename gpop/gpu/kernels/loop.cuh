// The iteration loop, one cooperative launch.
//
// It runs on the device until the frontier is empty, the limit is reached, the trace buffer is full or its time
// slice has passed; the host then reads Control.

#include "iterate.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_loop(const State given, const __grid_constant__ Graph graph, const __grid_constant__ Space space, Control* control,
              const Mail mail) {
  const int64 begun = receive(mail);
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0};
  if (team.leader()) control->head.started = now_ns();
  begin(graph, space, control);
  begin_buckets(team, state, graph, space, control);
#if STEADY
  Steady{team, state, graph, space, control}.open();
#endif
  bool opens = false;  // of block 0 alone: everybody is to look for the next bucket, the iteration before is over
  const auto decide = [&] {  // read by all after the barrier; the other one of the two is still being read
    if (threadIdx.x == 0)
      control->decision[team.generation & 1] = opens ? OPEN : control->head.stop ? STOP : control->head.alone ? ALONE : TOGETHER;
  };
  team.sync([&] {
    if (threadIdx.x == 0) control->head.loads = 0;
    if (threadIdx.x < 3) control->level_told[threadIdx.x] = 0;
    plan(graph, space, control, false);
    decide();
  });
  while (true) {
    const int decision = control->decision[team.generation & 1];
    opens = false;
    if (decision == STOP) break;
    if (decision == ALONE) {
      team.alone = true;
      while (blockIdx.x == 0 && control->head.alone && !control->head.stop) {
        ADVANCE(state, control->head.iteration);
        iterate(team, state, graph, space, control);
        opens = bucket_is_for_all(team, graph, control);
        if (opens) break;
        next_bucket(team, state, graph, space, control);
        team.sync([&] { plan(graph, space, control, true); });
      }
      team.alone = false;
      team.sync(decide);
    } else {
      ADVANCE(state, control->head.iteration);
      if (decision == TOGETHER && iterate(team, state, graph, space, control)) break;
      next_bucket(team, state, graph, space, control);
      team.sync([&] {
        settle(state, space, control);
        plan(graph, space, control, true);
        decide();
      });
    }
  }
  answer(mail, begun);
}

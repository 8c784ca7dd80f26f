// An iteration in two launches, for what sits between scatter and gather; the same halves as in loop.cuh.
//
// The end of a launch is the barrier between them. Everything that the second half goes on with lies in global
// memory: candidates that wait in a block's shared memory go there when the first half ends. In a live engine
// (sent_by) the first half has nothing to send. The host asks for one row of the trace, so that counts of the
// next frontier wait for the next first half.
#include "mail.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_scatter(const State given, const __grid_constant__ Graph graph, const __grid_constant__ Space space, Control* control,
              const Mail mail) {
  const int64 begun = receive(mail);
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0};
  begin_buckets(team, state, graph, space, control);
  team.sync([&] {
    plan(graph, space, control, false);
    if (threadIdx.x == 0) control->decision[0] = control->head.alone ? ALONE : TOGETHER;
  });
  if (control->head.stop) return answer(mail, begun);
  team.alone = control->decision[0] == ALONE;
  if (team.alone && blockIdx.x != 0) return;
  ADVANCE(state, control->head.iteration);
  const Course course(control);
  scatter_half(course, team, state, graph, space, control);
  if (course.crowded) close_candidates(space, control);
  team.sync([&] {
    if (threadIdx.x == 0) control->head.middle_ns = now_ns();
  });
  answer(mail, begun);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_gather(const State given, const __grid_constant__ Graph graph, const __grid_constant__ Space space, Control* control,
              const Mail mail) {
  const int64 begun = receive(mail);
  State state = given;
  Team team = {control, gridDim.x, 0, control->decision[0] == ALONE, 0};  // head has the next one's when block 0 is ahead
  if (team.alone && blockIdx.x != 0) return;
  if (team.leader()) control->head.begin_ns += now_ns() - control->head.middle_ns;  // without what came between
  ADVANCE(state, control->head.iteration);
  const Course course(control);
  if (course.crowded) open_candidates();
  gather_half(course, team, state, graph, space, control);
  next_bucket(team, state, graph, space, control);
  team.sync([&] {
    settle(state, space, control);
    plan(graph, space, control, true);
  });
  answer(mail, begun);
}

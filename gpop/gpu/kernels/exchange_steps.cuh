// The exchange as launches of their own, between two of the loop: the host, which has the counts of all ranks in
// between, says what goes where (gpop/ranks/gpu_wire.py).
#include "exchange.cuh"

// All threads of a launch that is not cooperative: they share work, and do not wait for each other.
__device__ __forceinline__ Team everybody(Control* control) { return {control, gridDim.x, 0, false, 0}; }

// The next iteration of a program without a frontier, whose host does not look in between: one more record.
extern "C" __global__ void gpop_again(Control* control) {
  if (!everybody(control).leader()) return;
  control->head.fresh = 1;
  control->head.next_frontier = control->head.frontier;
  control->head.row_limit = control->head.rows + 1;
  control->arrived_blocks = control->released = control->levels_arrived = 0;
}

// Before a run: everything waits (buckets.cuh).
extern "C" __global__ void gpop_let_wait(const Graph graph, const Space space, Control* control) {
#if PRIORITISED
  Team team = everybody(control);
  let_wait(team, graph, space);
#endif
}

// The lowest priority that waits here, where nothing is active.
extern "C" __global__ void gpop_least(const State given, const Graph graph, const Space space, Control* control,
                                      const int64* active, int64* least) {
#if PRIORITISED
  if (*active) return;
  Team team = everybody(control);
  State state = given;
  int64 waiting;
  const int64 found = least_waiting(team, state, graph, space, waiting);
  if (lane_id() == 0) atomicMin(least, found);
#endif
}

// Who waits here with a priority up to that of Control joins the frontier, as bits alone.
extern "C" __global__ void gpop_join(const State given, const Graph graph, const Space space, Control* control) {
#if PRIORITISED
  Team team = everybody(control);
  State state = given;
  join_bucket(team, state, graph, space, control, control->head.bucket, false);
#endif
}

extern "C" __global__ void gpop_choose(const Space space, Control* control, const unsigned* sends, const int64* first,
                                       int64 ranks, unsigned* bits, int64* chosen, int64* next, int64* cursors) {
  Team team = everybody(control);
  choose(team, space, control, sends, first, ranks, bits, chosen, next, cursors);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gpop_pack(const State given, Control* control, const unsigned* sends, int64 size,
                                     int64 form, const unsigned* bits, unsigned* index, Message* values, int64* cursor) {
  State state = given;
  ADVANCE(state, control->head.iteration);
  Team team = everybody(control);
  pack(team, state, sends, size, form, bits, index, values, cursor);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    gpop_unpack(const Graph graph, const Space space, Control* control, const unsigned* mirrors,
                                       int64 size, int64 form, const unsigned* index, const Message* values, Message* message) {
  Team team = everybody(control);
  unpack(team, graph, space, control, mirrors, size, form, index, values, message);
}

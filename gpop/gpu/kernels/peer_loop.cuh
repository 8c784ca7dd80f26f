// The iteration loop of a rank whose device reaches the memory of the others: exchange and iteration in turns, in one
// cooperative launch. The host says how many rounds; all ranks end behind the same one, or when nothing is active.
//
// A launch for each step between two iterations, and one for the iteration, had cost two GPUs a fifth of the time of a
// search of RMAT 26.
#include "iterate.cuh"
#include "peers.cuh"

static_assert(!PRIORITISED, "who waits for its bucket is asked by the host");

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_rounds(const Wire wire, const State given, const __grid_constant__ Graph graph, const __grid_constant__ Space space,
                Control* control, int64 begins, int64 rounds, int64 edges) {
  State state = given;
  Team team = {control, gridDim.x, 0, false, 0};
  const auto decide = [&](int what) {  // read by all after the barrier; the other one of the two is still being read
    if (threadIdx.x == 0) control->decision[team.generation & 1] = what;
  };
  const auto decided = [&] { return control->decision[team.generation & 1]; };
  for (int64 slot = 0; slot <= rounds; ++slot) {
    const int64 round = begins + slot, begun = now_ns();
    ADVANCE(state, control->head.iteration);
    count(team, wire, space, control, round, slot ? -1 : edges);
    if (blockIdx.x == 0) tell(wire, round);
    if (slot < rounds) send(team, state, wire, space, round);
    team.sync([&] { decide(meet(wire, graph, control, slot, round, slot < rounds) ? TOGETHER : STOP); });
    if (decided() == STOP) return;
    take(team, wire, graph, space, control, slot, round);
    team.sync([&] {
      if (threadIdx.x == 0) {
        control->head.started = now_ns();  // ranks do not end apart, whenever the slice of one has passed
        *wire.spent(slot) = control->head.started - begun;
      }
      plan(graph, space, control, false);
      decide(control->head.stop ? STOP : control->head.alone ? ALONE : TOGETHER);
    });
    const int decision = decided();  // to stop: others have something to do, this rank has not
    team.alone = decision == ALONE;
    if (decision == TOGETHER || (decision == ALONE && blockIdx.x == 0)) iterate(team, state, graph, space, control);
    team.alone = false;
    team.sync([&] {
      if (decision != STOP) plan(graph, space, control, true);
    });
  }
}

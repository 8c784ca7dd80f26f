// The halves of an iteration, one behind the other, in a launch that goes on with the next one.

#include "steady.cuh"

// One iteration, or as many as have little to do. Whether the run is over, as far as is known.
__device__ bool iterate(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
#if STEADY
  Steady{team, state, graph, space, control}.run();
  return true;
#else
#if HAS_FEW
  if (control->head.few) return Few{team, state, graph, space, control}.run(false);
#endif
  const Course course(control);
  scatter_half(course, team, state, graph, space, control);
  if (!course.live) team.sync();
  gather_half(course, team, state, graph, space, control);
  return false;
#endif
}

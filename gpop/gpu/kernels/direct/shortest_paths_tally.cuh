// What threads find out in a step of a search for shortest paths, and how the plan comes to know of it.
//
// A thread counts for itself; at the end of a step a block adds up and has one atomic access for each number.
#include "direct/shortest_paths_plan.cuh"
#include "team.cuh"

struct Tally {  // what a thread has found out in a step
  uint64 edges = 0, mass = 0;
  unsigned settled = 0, joined = 0, kept = 0, near = 0;
  unsigned nearest = NEVER, waiting = NEVER;
};

__device__ __forceinline__ unsigned warp_min(unsigned value) {
  for (int step = 16; step; step >>= 1) value = min(value, __shfl_xor_sync(ALL_LANES, value, step));
  return value;
}

// All threads of a block: adds what they have found out.
__device__ void tell(const Tally& own, Plan* plan) {
  __shared__ uint64 edges, mass;
  __shared__ unsigned settled, joined, kept, near, nearest, waiting;
  if (threadIdx.x == 0) {
    edges = mass = settled = joined = kept = near = 0;
    nearest = waiting = NEVER;
  }
  __syncthreads();
  const Tally all = {warp_sum(own.edges), warp_sum(own.mass), warp_sum(own.settled), warp_sum(own.joined),
                     warp_sum(own.kept), warp_sum(own.near), warp_min(own.nearest), warp_min(own.waiting)};
  if (lane_id() == 0) {
    if (all.edges) atomicAdd(&edges, all.edges);
    if (all.mass) atomicAdd(&mass, all.mass);
    if (all.settled) atomicAdd(&settled, all.settled);
    if (all.joined) atomicAdd(&joined, all.joined);
    if (all.kept) atomicAdd(&kept, all.kept);
    if (all.near) atomicAdd(&near, 1u);
    atomicMin(&nearest, all.nearest);
    atomicMin(&waiting, all.waiting);
  }
  __syncthreads();
  if (threadIdx.x) return;
  if (edges) atomicAdd(plan->edges + plan->step, edges);
  if (mass) atomicAdd(&plan->mass, mass);
  if (settled) atomicAdd(&plan->settled, (uint64)settled);
  if (joined) atomicAdd(&plan->joined, (uint64)joined);
  if (kept) atomicAdd(&plan->kept, (uint64)kept);
  if (near) plan->near = 1;
  if (nearest < NEVER) atomicMin(&plan->least, (uint64)nearest);
  if (waiting < NEVER) atomicMin(&plan->next, (uint64)waiting);
}

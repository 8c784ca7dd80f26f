// Iterations of a program without a frontier that are one phase each (rows.cuh): nobody plans, and one barrier is all
// that stands between two of them. They begin behind the first barrier of a launch, and end it: another barrier and plan
// took a twentieth of 20 iterations on a small graph.
//
// Whether the run goes on is decided by all blocks alike, from what they find behind the barrier: whether filterFunc
// wants it to, for any vertex, and whether the changes of all blocks sum to less than a tolerance. One thread writes the
// trace of the iteration before while the others are at work, and says when the time slice has passed. Counters are used
// in turns: who writes one does so when all have read it two barriers ago. Compare: levels.cuh.

#include "meet.cuh"

#if STEADY
struct Diary {  // in shared memory
  Control* control;
  double* row;  // of the iteration that has begun last
  int64 begun, deadline;
  double n, m, k;  // not the graph: who gives its address away has it in memory from then on

  __device__ __noinline__ void begin(Control* of, double vertices, double edges, double partitions) {
    control = of;
    n = vertices;
    m = edges;
    k = partitions;
    row = control->trace[control->head.rows];
    begun = control->head.begin_ns;
    deadline = control->head.started + control->head.slice_ns;
  }

  __device__ void end_row(int64 now) {
    row[GATHER_AT] = 1e-9 * (double)(now - begun);
    begun = now;
  }

  // The trace of this iteration, but for its end.
  __device__ __noinline__ void iteration(int64 number) {
    const int64 now = now_ns();
    if (number) {
      end_row(now);
      row += TRACE_COLUMNS;
    }
    control->level_found[(number + 2) % 3] = 0;
    control->level_leave[(number + 2) % 3] = 0;
    if (now > deadline) control->level_leave[(number + 1) % 3] = 1;
    for (int column = 0; column < TRACE_COLUMNS; ++column) row[column] = 0;
    row[FRONTIER_AT] = n;
    row[EDGES_AT] = m;
    row[MODES_AT + SPARSE_MODE] = k;
    row[MESSAGES_AT] = (double)control->head.messages;
    row[BYTES_AT] = control->head.bytes;
  }

  // So many are over, and the launch with them, as plan would leave it; whether some vertex wants another one.
  __device__ __noinline__ void end(int64 iterations, bool unsettled) {
    Control::Head& head = control->head;
    end_row(now_ns());
    head.iteration += iterations;
    head.rows += iterations;
    head.frontier = (int64)n;
    head.edges = (int64)m;
    head.finished = !unsettled;
    head.stop = 1;
  }
};

struct Steady {
  Team& team;
  State& state;
  const Graph& graph;
  const Space& space;
  Control* control;

  struct Found {  // by all blocks in an iteration
    bool unsettled, leaves;
  };

  // Everybody waits, then knows whether it goes on. `some`: of this block's vertices want it to.
  __device__ __forceinline__ void end_iteration(int64 done, int64 iteration, bool some, Found& found) const {
    const int64 turn = (done + 1) % 3;
    if (threadIdx.x == 0) {
      if (some) *(volatile uint64*)&control->level_found[turn] = 1;
      meet(team);
      found.leaves = *(volatile unsigned*)&control->level_leave[turn] != 0;
      found.unsettled = *(volatile uint64*)&control->level_found[turn] != 0;
    }
#if SETTLES
    if (threadIdx.x < 32) {
      __syncwarp();
      const bool settled = has_settled(iteration, state, space);
      if (threadIdx.x == 0 && settled) found.unsettled = false;
    }
#endif
    __syncthreads();
  }

  // What the first iteration of a launch hears is sent before there is a plan, which knows nothing of it.
  __device__ __forceinline__ void open() const {
    ADVANCE(state, control->head.iteration);
    Sparse::scatter(team, state, graph, space, control);
  }

  // All iterations of a launch.
  __device__ __forceinline__ void run() {
    __shared__ Diary diary;
    __shared__ Found found;
    const bool writes = blockIdx.x == team.blocks - 1 && threadIdx.x == blockDim.x - 32;
    const int64 begin = control->head.iteration;
    const int64 most = min(control->head.limit - begin, control->head.row_limit - control->head.rows);
    if (writes) diary.begin(control, (double)graph.n, (double)graph.m, (double)graph.k);
    int64 done = 0;
    for (bool goes_on = true; goes_on; goes_on = done < most && found.unsettled && !found.leaves) {
      if (writes) diary.iteration(done);
      ADVANCE(state, begin + done);
      const bool unsettled = Sparse::walk(team, state, graph, space, begin + done);
      end_iteration(done, begin + done, __syncthreads_or(unsettled), found);
      done += 1;
    }
    if (writes) diary.end(done, found.unsettled);
  }
};
#endif

// The iteration loop, one cooperative launch: scatter, barrier, gather, barrier, filter, barrier and plan.
//
// Mirrors gpop/cpu/engine.py. The loop runs on the device until the frontier is empty, the limit is
// reached, the trace buffer is full or its time slice has passed; the host then reads Control. While few
// edges are active block 0 iterates alone (its barrier costs nanoseconds, the grid's more than a microsecond).

const int ALONE_EDGES = 4096, ALONE_VERTICES = 2048;

__device__ double pc_bytes(double edges, double messages, const Graph& graph) {  // gpop/model/bytes.py
  const double marks = MASK == MASK_SENT ? 1 : 0;
  return 8.0 * graph.k + messages * (sizeof(short) + 2 * (sizeof(Message) + marks)) + edges * (sizeof(Id) + BIN_WEIGHT_BYTES);
}

__device__ double sc_bytes(double vertices, double edges, double messages) {
  const double read = 8.0 * vertices + edges * (4 + WEIGHT_BYTES);
  return read + 2 * (messages * sizeof(Message) + edges * (sizeof(Id) + BIN_WEIGHT_BYTES));
}

struct Sums {  // over partitions
  int64 partitions_sc, partitions_pc, messages;
  double bytes;
};

// Mode of partition p by eq. (1); adds what it will do. Leaves the counts empty.

__device__ void choose_mode(int p, const Graph& graph, const Space& space, const Control* control, Sums& sums) {
  const int64 first = (int64)p << BITS, last = min(graph.n, first + ((int64)1 << BITS));
  const double edges = (double)(graph.indptr[last] - graph.indptr[first]);
  const int64 messages = graph.messages[p];
  const double vertices = ALL_ACTIVE ? (double)(last - first) : (double)space.active_vertices[p];
  const double active = ALL_ACTIVE ? edges : (double)space.active_edges[p];
  space.active_vertices[p] = 0;
  space.active_edges[p] = 0;
  if (vertices == 0) {
    space.mode[p] = MODE_IDLE;
    return;
  }
  const double active_messages = edges > 0 ? active * (double)messages / edges : 0;
  const double pc = pc_bytes(edges, (double)messages, graph), sc = sc_bytes(vertices, active, active_messages);
  bool dense = control->head.forced == FORCE_PC;
  if (control->head.forced == FORCE_NONE) dense = edges > 0 && pc <= control->head.ratio * sc;
  if (PUSH == OWNER) dense = false;
  space.mode[p] = dense ? MODE_PC : MODE_SC;
  sums.partitions_pc += dense;
  sums.partitions_sc += !dense;
  sums.messages += dense ? messages : (int64)active;
  sums.bytes += dense ? pc : sc;
}

// Block 0: close the iteration that ended, decide how the next one goes. `finished`: there was one.
// One thread reads what it needs of Control at once: these loads come from L2.
__device__ void plan(const Graph& graph, const Space& space, Control* control, bool finished) {
  __shared__ Sums sums;
  __shared__ bool alone, over;
  __shared__ int64 frontier, edges;
  if (threadIdx.x == 0) {
    const int64 now = now_ns();
    Control::Head was = control->head;
    Control::Head next = was;
    if (finished) {
      double* row = control->trace[was.rows];
      row[0] = (double)was.frontier;
      row[1] = (double)was.edges;
      row[2] = PUSH == OWNER ? 0 : (double)was.partitions_sc;
      row[3] = (double)was.partitions_pc;
      row[4] = PUSH == OWNER ? (double)was.partitions_sc : 0;
      row[5] = (double)was.messages;
      row[6] = was.bytes;
      row[7] = 1e-9 * (double)(was.middle_ns - was.begin_ns);
      row[8] = 1e-9 * (double)(now - was.middle_ns);
      next.rows += 1;
      next.iteration += 1;
      next.list_valid = !ALL_ACTIVE && !was.dense;
    }
    if (finished || was.fresh) {
      next.fresh = 0;
      next.frontier = was.next_frontier;
      next.edges = was.next_edges;
      next.list_size = was.next_list;
      if (!ALL_ACTIVE) next.heavy_size = was.next_heavy;
      next.finished = next.frontier == 0;
      if (ALL_ACTIVE) {  // next_frontier counts vertices that filterFunc is not content with
        next.frontier = graph.n;
        next.edges = graph.m;
      }
    }
    next.next_frontier = next.next_edges = next.next_list = next.next_heavy = next.candidates = 0;
    next.scatter_claim = next.gather_claim = next.hubs_called = 0;
    next.stop = next.finished || next.iteration >= was.limit || next.rows >= was.row_limit ||
                (next.rows && now - was.started > was.slice_ns);
    next.alone = !ALL_ACTIVE && PUSH != OWNER && next.list_valid && was.forced != FORCE_PC &&
                 next.edges <= ALONE_EDGES && next.frontier <= ALONE_VERTICES;
    control->head = next;
    alone = next.alone;
    over = next.stop && next.rows;
    frontier = next.frontier;
    edges = next.edges;
    sums = Sums();
  }
  __syncthreads();
  if (over) return;  // partition counts wait for the next slice
  Sums own = Sums();
  for (int p = threadIdx.x; p < graph.k; p += blockDim.x) {
    if (!alone) {
      choose_mode(p, graph, space, control, own);
    } else if (space.active_vertices[p]) {  // too little for partition-centric scatter to pay
      own.partitions_sc += 1;
      space.active_vertices[p] = 0;
      space.active_edges[p] = 0;
    }
  }
  own.partitions_sc = warp_sum(own.partitions_sc);
  own.partitions_pc = warp_sum(own.partitions_pc);
  own.messages = warp_sum(own.messages);
  own.bytes = warp_sum(own.bytes);
  if (lane_id() == 0 && own.partitions_sc + own.partitions_pc) {
    atomicAdd((uint64*)&sums.partitions_sc, (uint64)own.partitions_sc);
    atomicAdd((uint64*)&sums.partitions_pc, (uint64)own.partitions_pc);
    atomicAdd((uint64*)&sums.messages, (uint64)own.messages);
    atomicAdd(&sums.bytes, own.bytes);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (alone) {
      sums.messages = edges;
      sums.bytes = sc_bytes((double)frontier, (double)edges, (double)edges);
    }
    control->head.partitions_sc = sums.partitions_sc;
    control->head.partitions_pc = sums.partitions_pc;
    control->head.messages = sums.messages;
    control->head.bytes = sums.bytes;
    control->head.dense = sums.partitions_pc > 0;
    control->head.begin_ns = now_ns();
  }
}

__device__ void iterate(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  const bool dense = control->head.dense, pushing = control->head.partitions_sc > 0;
  if (!ALL_ACTIVE && pushing && !control->head.list_valid) {
    list_frontier(team, graph, space, control);
    team.sync([&] {
      if (threadIdx.x == 0) {
        control->head.list_size = control->head.next_list;
        control->head.heavy_size = control->head.next_heavy;
        control->head.next_list = control->head.next_heavy = 0;
      }
    });
  }
  const bool live = LIVE && !dense, crowded = !ALL_ACTIVE && !dense && control->head.edges > CROWDED_EDGES;
  if (crowded) open_candidates();
  if (pushing && !live) scatter_list(team, state, graph, space, control);
  if (dense) {
    if constexpr (COMBINE)
      combine_columns(state, graph, space, control, shared_memory);
    else
      scatter_rows(state, graph, space, control, shared_memory);
  }
  if (!live) team.sync();
  if (HAS_INIT && dense && !(ALL_ACTIVE && COMBINE)) {
    init_rows(team, state, graph, space, control);
    team.sync();
  }
  if (team.leader()) control->head.middle_ns = now_ns();
  if (PUSH == OWNER) {
    gather_owned(team, state, graph, space, control);
    team.sync();
  }
  if (!ALL_ACTIVE && !dense)
    for (int64 i = team.rank(); i < control->head.list_size; i += team.size()) space.frontier_bits[space.list[i] >> 5] = 0;
  if (dense) {
    if constexpr (COMBINE)
      gather_rows(graph, space, control, shared_memory);
    else
      gather_columns(state, graph, space, control);
  }
  if (pushing && PUSH != OWNER) {
    push_heavy(team, state, graph, space, control);
    push_light(team, state, graph, space, control);
  }
  if (QUEUES && graph.hubs) {
    team.sync();
    gather_waiting(team, state, graph, space, control);
  }
  if (crowded) close_candidates(space, control);
  team.sync();
  if (ALL_ACTIVE)
    filter_everything(team, state, graph, space, control);
  else if (dense)
    filter_all(team, state, graph, space, control);
  else
    filter_list(team, state, graph, space, control);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_loop(const State given, const Graph graph, const Space space, Control* control) {
  State state = given;
  Team team = {control, gridDim.x, 0, false};
  if (team.leader()) control->head.started = now_ns();
  const auto decide = [&] {  // read by all after the barrier; the other one of the two is still being read
    if (threadIdx.x == 0) control->decision[team.generation & 1] = control->head.stop ? STOP : control->head.alone ? ALONE : TOGETHER;
  };
  team.sync([&] {
    plan(graph, space, control, false);
    decide();
  });
  while (true) {
    const int decision = control->decision[team.generation & 1];
    if (decision == STOP) return;
    if (decision == ALONE) {
      team.alone = true;
      while (blockIdx.x == 0 && control->head.alone && !control->head.stop) {
        ADVANCE(state, control->head.iteration);
        iterate(team, state, graph, space, control);
        team.sync([&] { plan(graph, space, control, true); });
      }
      team.alone = false;
      team.sync(decide);
    } else {
      ADVANCE(state, control->head.iteration);
      iterate(team, state, graph, space, control);
      team.sync([&] {
        plan(graph, space, control, true);
        decide();
      });
    }
  }
}

// Load a frontier: the given vertices (each once), or all (`size` < 0). No barrier.
extern "C" __global__ void gpop_load(const Graph graph, const Space space, Control* control, const unsigned* sources,
                                     int64 size) {
  const int64 first = (int64)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64)gridDim.x * blockDim.x;
  if (size < 0) {
    for (int64 w = first; 32 * w < graph.n; w += stride) {
      space.frontier_bits[w] = graph.n - 32 * w >= 32 ? ALL_LANES : (1u << (graph.n - 32 * w)) - 1;
      if (TRACK) space.touched_bits[w] = space.frontier_bits[w];
    }
    for (int64 p = first; p < graph.k; p += stride) {
      const int64 begin = p << BITS, end = min(graph.n, begin + ((int64)1 << BITS));
      space.active_vertices[p] = (unsigned)(end - begin);
      space.active_edges[p] = graph.indptr[end] - graph.indptr[begin];
    }
    if (first == 0) {
      control->head.next_frontier = graph.n;
      control->head.next_edges = graph.m;
      control->head.list_valid = 0;
    }
    return;
  }
  if (first == 0) control->head.list_valid = 1;
  for (int64 i = first; i < size; i += stride) {
    const unsigned v = sources[i];
    if (!set_bit(space.frontier_bits, v)) continue;
    if (TRACK) set_bit(space.touched_bits, v);
    const int64 edges = degree_of(graph, v);
    append(v, edges, true, space, control);
    atomicAdd(space.active_vertices + partition_of(v), 1u);
    atomicAdd(space.active_edges + partition_of(v), (uint64)edges);
    atomicAdd((uint64*)&control->head.next_frontier, 1ULL);
    atomicAdd((uint64*)&control->head.next_edges, (uint64)edges);
  }
}

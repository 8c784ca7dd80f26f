// An iteration: scatter, barrier, gather, barrier, filter, barrier and plan.
//
// Mirrors gpop/cpu/engine.py. While few edges are active block 0 iterates alone (its barrier costs nanoseconds,
// the grid's more than a microsecond). Three strategies may take part, which the source names before this text:
//
//   Sparse   sends for single active vertices (push.cuh ...), or gathers for single vertices (owner.cuh);
//            LISTED: its work is that of the vertices in the list, else it looks at all edges
//   Dense    sends for whole partitions (bins.cuh, combined.cuh)
//   Pulling  lets vertices ask, in an iteration as a whole (bottom_up.cuh)
//
// A fourth one, Few, takes over from Sparse for as many iterations as have little to do (levels.cuh).
// A decision tree (tree.cuh) may take the place of these choices, iteration by iteration.
//
// Where the first two may, eq. (1) chooses for each partition by SPARSE_BYTES and DENSE_BYTES, that is gpop/model;
// what comes of that is compared with PULLING_BYTES. Where Dense moves bytes for all partitions, whoever sends with it
// (DENSE_IDLE), an iteration is divided only where that is predicted to pay.
#include "choice.cuh"

// With an edge for so many vertices a push activates by bits alone, and all words are looked at: a list of so many
// costs a random access each, to degrees that lie in a row for a warp that has a word. On an H100 searches of random
// graphs of 2^22 and 2^24 vertices took .79 and .89 of the time with lists, paths by messages on the first .67, and
// labels .80; those of RMAT 22 .90 to .98. With 32 in place of 8 that of RMAT 22 that only pushes took 1.04.
const int BITS_EDGES = 8;

const int ALONE_EDGES = 1024, ALONE_VERTICES = 512;

// Whether block 0 goes on by itself where Few finds little to do; else Few leaves that to it. A tree is told of every
// iteration, and buckets are looked for behind them.
const bool SOLO = HAS_FEW && !HAS_TREE && !PRIORITISED;

#if !HAS_SPARSE || !HAS_DENSE || !HAS_PULLING
struct Nobody {  // in place of the other one
  static const bool LISTED = true;
  template <class... Given> static __device__ void scatter(Given&&...) {}
  template <class... Given> static __device__ void gather(Given&&...) {}
};
#endif
#if !HAS_SPARSE
typedef Nobody Sparse;
#endif
#if !HAS_DENSE
typedef Nobody Dense;
#endif
#if !HAS_PULLING
typedef Nobody Pulling;
#endif

// Block 0: close the iteration that ended, decide how the next one goes. `finished`: there was one. `cluster`: of one
// that goes on with few edges only (levels_loop.cuh), and else leaves all as it is. One thread reads what it needs of
// Control at once: these loads come from L2.
//
// A call: inlined wherever it stands, it took registers from those who walk edges. On an H100 their iterations of a search
// of RMAT 24 by asking took .92 of the time, and to compile that search .75. Kernels that call it have Graph and Space
// as grid constants, else each thread copied them to have an address of them.
__device__ __noinline__ void plan(const Graph& graph, const Space& space, Control* control, bool finished, bool cluster = false) {
  __shared__ Sums sums;
  __shared__ bool alone, few, over;
  __shared__ int chosen;
  __shared__ double ratio, link_cost;
  __shared__ model::Part whole;
  if (threadIdx.x == 0) {
    const int64 now = now_ns();
    Control::Head was = control->head;
    Control::Head next = was;
    finished = finished && !was.few;  // those have closed themselves
    if (finished) {
      double* row = control->trace[was.rows];
      for (int column = 0; column < TRACE_COLUMNS; ++column) row[column] = 0;
      row[FRONTIER_AT] = (double)was.frontier;
      row[EDGES_AT] = (double)was.edges;
      row[MODES_AT + SPARSE_MODE] = (double)was.partitions_sparse;
      if (HAS_DENSE) row[MODES_AT + MODE_PC] = (double)was.partitions_dense;
      if (HAS_PULLING && was.pulled) row[MODES_AT + MODE_PULL] = (double)graph.k;
      row[MESSAGES_AT] = (double)was.messages;
      row[BYTES_AT] = was.bytes;
      row[FETCHED_AT] = was.fetched;
      row[WANTED_AT] = was.wanted;
      row[SCATTER_AT] = 1e-9 * (double)(was.middle_ns - was.begin_ns);
      row[GATHER_AT] = 1e-9 * (double)(now - was.middle_ns);
      next.rows += 1;
      next.iteration += 1;
      next.visited += was.frontier;
      next.list_valid = !ALL_ACTIVE && !was.dense;
    }
    if (finished || was.fresh) {
      next.fresh = 0;
      next.frontier = was.next_frontier;
      next.edges = was.next_edges;
      next.list_size = was.next_list;
      if (!ALL_ACTIVE) next.heavy_size = was.next_heavy;
      next.finished = next.frontier == 0;
      if (HAS_PULLING && finished && was.pulled) {  // known now; the new frontier is taken off again
        next.needy = was.left + next.frontier;
        next.needy_edges = was.left_edges + next.edges;
      }
      next.needy = max((int64)0, next.needy - next.frontier);
      next.needy_edges = max((int64)0, next.needy_edges - next.edges);
      if (ALL_ACTIVE) {  // next_frontier counts vertices that filterFunc is not content with
        next.frontier = graph.n;
        next.edges = graph.m;
      }
    }
    next.next_frontier = next.next_edges = next.next_list = next.next_heavy = next.candidates = 0;
    next.left = next.left_edges = next.pulled = 0;
    next.scatter_claim = next.gather_claim = next.hubs_called = 0;
    next.stop = next.finished || next.iteration >= was.limit || next.rows >= was.row_limit ||
                (next.rows && now - was.started > was.slice_ns);
    next.way = way_of(space, next.frontier, next.visited, next.edges, was.way);
    const bool sends = next.way != MODE_PC && next.way != MODE_PULL;  // or the model may say so
    next.alone = HAS_SPARSE && Sparse::LISTED && !ALL_ACTIVE && !MASKED && next.list_valid && next.edges <= ALONE_EDGES &&
                 next.frontier <= ALONE_VERTICES && sends;
    const int64 vertices = TOLD ? next.own_vertices : graph.n;  // that may want messages
    whole = model::Part{(double)next.frontier, (double)next.edges, (double)vertices, (double)graph.m, 0, 0,
                        (double)next.needy, (double)next.needy_edges,
                        (double)graph.n * graph.ell_width, (double)graph.coo_entries};
    const int64 most = cluster ? CLUSTER_EDGES : LEVEL_EDGES;
    const bool fit = next.heavy_size * HEAVY <= LEVEL_DEGREE || graph.longest <= LEVEL_DEGREE;  // its vertices a block each
    const bool little = HAS_FEW && sends && next.list_valid && fit && next.edges <= most && next.frontier <= most;
    few = STEADY || (little && !(QUEUES && graph.queues));  // they close themselves
    alone = next.alone;
    chosen = next.way;
    ratio = next.ratio;
    link_cost = next.link_cost;
    next.begin_ns = now;  // what a row says includes the plan of its iteration
    control->head = next;
    if (few) {
      double asked;
      few = next.way != AUTO || !prefers_asking(whole, FEW_BYTES(whole, LIVE_SIZES), ratio, asked);
      for (int turn = 0; turn < 3; ++turn) control->level_found[turn] = control->level_leave[turn] = 0;
      control->level_found[0] = ((uint64)whole.active_vertices << FOUND_SHIFT) + (uint64)whole.active_edges;
    }
    control->head.few = few;
    if (SOLO && few) control->head.alone = 0;
    over = (next.stop && next.rows) || (cluster && !few);
    sums = Sums();
  }
  __syncthreads();
  if (over) return;  // partition counts wait for the next slice
  const int way = HAS_TREE ? chosen : AUTO;
  Sums own = Sums();
  for (int p = threadIdx.x; p < graph.k; p += blockDim.x) {
    if (!alone && !few) {
      choose_mode(p, way, ratio, link_cost, graph, space, own);
    } else if (space.active_vertices[p]) {  // too little for partition-centric scatter to pay
      own.sparse += 1;
      space.active_vertices[p] = 0;
      space.active_edges[p] = 0;
    }
  }
  if (threadIdx.x - lane_id() < (unsigned)graph.k) own.add_to(sums);  // most graphs have fewer partitions than a block has threads
  __syncthreads();
  if (ALIKE && by_model(way) && sums.dense) {
    const double binned = (sums.binned + sums.inactive) / ratio;
    const bool alike = !model::divides(sums.cost + sums.idle / ratio, sums.pushed, binned);
    const bool with_partitions = model::prefers_bins(1, sums.pushed, sums.binned + sums.inactive, ratio);
    if (alike)
      for (int p = threadIdx.x; p < graph.k; p += blockDim.x)
        if (space.mode[p] != MODE_IDLE) space.mode[p] = with_partitions ? MODE_PC : SPARSE_MODE;
    __syncthreads();
    if (threadIdx.x == 0) {
      if (alike) sums.make_alike(with_partitions, ratio);
      if (sums.dense) sums.bytes += sums.idle;
      if (sums.dense) sums.cost += sums.idle / ratio;
    }
  }
  if (threadIdx.x == 0) {
    Sums all = sums;  // others may still be looking at them
    if (HAS_SPARSE && all.dense == 0) {  // not divided: what the whole graph has is active or not
      all.messages = (int64)whole.active_edges;
      all.bytes = SPARSE_BYTES(whole, LIVE ? LIVE_SIZES : SIZES);
      if (!Sparse::LISTED)
        all.link = LINKED(SPARSE_LINK, whole, ALL_IN_EDGES);
      else if (alone)
        all.link = LINKED(SPARSE_LINK, whole, ALL_EDGES);
      all.cost = all.bytes + link_cost * all.link.fetched;
      if (HAS_PULLING) all.cost += model::missed_bytes(whole.vertices * SIZES.vertex, whole.active_edges);
    }
    double asked;
    const Linked link = LINKED(PULLING_LINK, whole, ALL_IN_EDGES);
    const double over_link = ratio * link_cost * link.fetched;
    bool pulled = !alone && !few && way == AUTO && prefers_asking(whole, all.cost, ratio, asked, over_link);
    if (HAS_PULLING && way == MODE_PULL) {
      pulled = true;
      asked = PULLING_BYTES(whole, LIVE ? LIVE_SIZES : SIZES);
    }
    if (pulled) all = Sums{0, 0, 0, asked, 0, 0, 0, 0, 0, 0, link};  // messages are counted when they arrive
    control->head.partitions_sparse = all.sparse;
    control->head.partitions_dense = all.dense;
    control->head.messages = all.messages;
    control->head.bytes = all.bytes;
    control->head.fetched = all.link.fetched;
    control->head.wanted = all.link.wanted;
    const bool leaves_bits = MAY_LEAVE_BITS && Sparse::LISTED && !alone && !few &&
                             whole.active_edges * BITS_EDGES > (double)graph.n;
    control->head.dense = all.dense > 0 || pulled || MASKED || leaves_bits;
    control->head.pulled = pulled;
  }
}

// Whether a run begins with a level of one vertex, so that nothing has to be loaded and nobody to plan it. By all threads,
// of what the host has written.
__device__ __forceinline__ bool begins_with_level(const Graph& graph, const Control* control, int64 most) {
  const Control::Head& head = control->head;
  const int64 edges = degree_of(graph, (unsigned)head.vertex);  // on its way with the rest of what is asked here
  if (!SOLO || (QUEUES && graph.queues) || !head.fresh || head.loads != 1) return false;
  if (head.iteration >= head.limit || head.rows >= head.row_limit) return false;
  return edges <= most && !(HAS_PULLING && model::may_pull((double)edges, (double)(head.needy_edges - edges)));
}

// What of an iteration was decided, the same for all threads.
struct Course {
  bool dense, sparse, pulled;  // which of them take part
  bool live;                   // values are computed when they are delivered, or were with the fields, so scatter has nothing to do
  bool listed, crowded;        // candidates are listed; they wait in shared memory

  __device__ __forceinline__ Course(const Control* control) {
    pulled = HAS_PULLING && control->head.pulled;
    dense = HAS_DENSE && control->head.dense && !pulled;
    sparse = HAS_SPARSE && control->head.partitions_sparse > 0;
    live = (LIVE && !dense) || (ONE_PHASE && !RANKED && control->head.rows > 0);
    listed = !ALL_ACTIVE && !MASKED && !control->head.dense;
    crowded = listed && is_crowded(control);
  }
};

__device__ __forceinline__ void scatter_half(const Course& course, Team& team, State& state, const Graph& graph, const Space& space,
                             Control* control) {
  if (!ALL_ACTIVE && !MASKED && (course.sparse || (course.pulled && !course.live)) && !control->head.list_valid) {
    list_frontier(team, graph, space, control);
    team.sync([&] {
      if (threadIdx.x == 0) {
        control->head.list_size = control->head.next_list;
        control->head.heavy_size = control->head.next_heavy;
        control->head.next_list = control->head.next_heavy = 0;
      }
    });
  }
  if (course.crowded) open_candidates();
  if (course.sparse && !course.live) Sparse::scatter(team, state, graph, space, control);
  if (course.dense) Dense::scatter(state, graph, space, control);
  if (course.pulled && !course.live) Pulling::scatter(team, state, graph, space, control);
}

__device__ __forceinline__ void gather_half(const Course& course, Team& team, State& state, const Graph& graph, const Space& space,
                            Control* control) {
  if (HAS_INIT && course.dense && !(ALL_ACTIVE && COMBINE)) {
    init_rows(team, state, graph, space, control);
    team.sync();
  }
  if (team.leader()) control->head.middle_ns = now_ns();
  if (course.sparse && !Sparse::LISTED) {
    Sparse::gather(team, state, graph, space, control);
    if (course.listed) team.sync();  // it reads the frontier's bits
  }
  if (course.listed)
    for (int64 i = team.rank(); i < control->head.list_size; i += team.size()) space.frontier_bits[space.list[i] >> 5] = 0;
  if (course.dense) Dense::gather(state, graph, space, control);
  if (course.sparse && Sparse::LISTED) Sparse::gather(team, state, graph, space, control);
  if (course.pulled) Pulling::gather(team, state, graph, space, control);
  if (QUEUES && graph.queues && !course.pulled) {
    team.sync();
    gather_waiting(team, state, graph, space, control);
  }
  if (course.crowded) close_candidates(space, control);
  if (ONE_PHASE) return;
  team.sync();
  if (ALL_ACTIVE)
    filter_everything(team, state, graph, space, control);
  else if (course.listed)
    filter_list(team, state, graph, space, control);
  else
    filter_all(team, state, graph, space, control);
}

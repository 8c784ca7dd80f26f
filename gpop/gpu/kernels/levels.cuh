// Strategy levels: iterations with few active vertices, one barrier of the grid each.
//
// Where a level has little to do, its barriers and the plan of the next one take the time. Here whoever activates a
// vertex appends it to the next frontier at once: two lists and two arrays of bits are used in turns, `list` and
// `frontier_bits` for the first level. An entry has where the edges of its vertex begin, so that a level waits for its
// entry, the neighbours, their cells and no more. Blocks collect what they find, and tell each other how much that is
// (muster.cuh). Nobody plans: all of them know the totals of the next level behind the barrier and decide alike; one
// warp, which has no edges, writes the trace of the level before and asks the model meanwhile. A tree is
// asked by all of them. A vertex that is too much for a block, LEVEL_DEGREE, is left to another strategy with its level.
// While a level is that of a few vertices block 0 goes on by itself, and the others wait for what comes of it (SOLO). A run
// in which nothing is active any more ends here, without a plan.
//
// On a small graph a grid has levels and nothing else (SWEPT), from the one vertex with which a run begins: nobody loads
// it, and no vertex is too much. A level with too many edges looks at all of them (sweep.cuh), or at all vertices that want
// messages still (level_ask.cuh), with three arrays of bits in turns, or with marks in their place (level_active.cuh).
//
// One cluster of blocks (cluster.cuh) begins so, too, and has another way between two levels: what a block has found stays
// in its shared memory, where the others read it, and each tells all others how much that is. What finds no room there,
// and a list with which levels begin, lies where it does without clusters.
//
// For runs whose messages are computed when they are delivered (sent_by), swapped (swap.cuh), with a filterFunc that
// may be called when a vertex becomes active, if there is one: it says True, whatever was gathered.
// Bytes: 16 per active vertex, 4 [+ weight] and a random access per edge. Compare: the queue in perf/gpu_baselines.cu.
#include "cluster.cuh"
#include "level_record.cuh"
#include "level_work.cuh"
template <int KIND>
struct LevelsOf : LevelWork<KIND> {
  using Work = LevelWork<KIND>;
  using Work::Work, Work::CLUSTERED, Work::SWEEPS;
  using Work::team, Work::state, Work::graph, Work::space, Work::control, Work::store;
  using Work::level, Work::size, Work::staged, Work::before, Work::own, Work::swept, Work::bits, Work::work;
  using Work::MARKED, Work::marked, Work::clear_bits;

  // The list becomes the entries of level 0; plan has set its totals, and the next two to nothing.
  __device__ __forceinline__ void enter(Level& now) {
    const uint64 listed = *(volatile uint64*)store.sum(0);  // while nobody is ahead, who sets it to nothing
    for (int64 i = team.rank(); i < control->head.list_size; i += team.size()) {
      const unsigned v = space.list[i];
      store.beside(0)[i] = Entry{v, (unsigned)degree_of(graph, v), graph.indptr[v]};
    }
    store.open();
    end_level(now);
    now.found = listed;
    size = (unsigned)entries_of(listed);
  }

  // The vertex with which the host has the run begin is level 0, to every block an entry of its own.
  __device__ __forceinline__ void set_out(Level& now) {
    const unsigned v = (unsigned)control->head.vertex;
    const int64 first = graph.indptr[v], edges = graph.indptr[v + 1] - first;
    if (TRACK && team.leader()) set_bit(space.touched_bits, v);
    if (threadIdx.x == 0) store.stage(0)->entry[0] = Entry{v, (unsigned)edges, first};
    store.open();
    if (CLUSTERED) meet_other_blocks();  // before anybody tells them anything
    now.found = (1ULL << FOUND_SHIFT) + edges;
    now.flagged = false;
    now.stays = own = true;
    size = staged = 1;
  }

  // Behind the barrier: whether the level that begins is for this strategy. `most`: so many are.
  __device__ __forceinline__ bool stays(Level& now, unsigned flags) const {
    const int64 size = entries_of(now.found), edges = edges_of(now.found);
    if (size == 0 || level >= now.most || flags & (LEAVES | HUBS)) return false;
    if (CLUSTERED) return edges <= CLUSTER_EDGES && size <= CLUSTER_EDGES;
    if (HAS_TREE) {
      __shared__ int way;
      __syncthreads();
      if (threadIdx.x == 0) way = way_of(space, size, now.visited, edges, now.way);
      __syncthreads();
      if (!by_model(way) && way != MODE_SC) return false;
      now.way = way;
    }
    if (!SOLO && team.alone) return is_little(now.found);
    if (SWEEPS) return true;
    return edges <= LEVEL_EDGES && (SOLO || edges > ALONE_EDGES / 4 || size > ALONE_VERTICES / 4);
  }

  // What is known of the level that begins, but for what lies beside.
  __device__ __forceinline__ void take_up(Level& now, uint64 found, unsigned flags) {
    staged = (unsigned)entries_of(found);
    now.found = found;
    now.flagged = flags != 0;
    if (flags & BESIDE) now.found += *(volatile uint64*)store.sum(level);
    if (HAS_TREE && level) now.visited += size;
    now.stays = level == 0 || stays(now, flags);
    size = (unsigned)entries_of(now.found);
  }

  // Everybody waits, then knows what there is to do. `rejoins`: block 0 has been some levels ahead of the others.
  __device__ __forceinline__ void end_level(Level& now, bool rejoins = false) {
    if (CLUSTERED) return end_level_of_cluster(now);
    if (team.by_itself()) return end_level_of_block(now);
    __shared__ Mustered known;
    __shared__ unsigned reached;
    const Stage* found = store.stage(level);
    __syncthreads();
    const bool waited = rejoins && blockIdx.x != 0;  // what is in its stage the others have been told
    const unsigned count = waited ? 0 : store.count(level);
    if (threadIdx.x == 0 && waited) {
      known = arrive(team, 0, 0, false);
    } else if (threadIdx.x == 0) {
      const unsigned edges = min(found->edges, most_told(team));
      if (edges < found->edges) atomicAdd(store.sum(level), (uint64)(found->edges - edges));
      if (found->flags & (LEAVES | HUBS)) atomicOr(control->level_leave + level % 3, found->flags);
      if (!rejoins) store.tell_recorder(level);
      else control->level_reached = level;
      known = arrive(team, count, edges, found->flags != 0 || edges < found->edges);
    }
    if (count || rejoins) {
      __syncthreads();
      Entry* room = store.list(level) + known.vertices();
      for (unsigned i = threadIdx.x; i < count; i += blockDim.x) hand_in(found->entry[i], room + i);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      store.empty(level + 1);  // not `level`, which others of this block may be looking at
      known = wait_for_all(team);
      if (rejoins) store.empty((reached = (unsigned)*(volatile int64*)&control->level_reached) + 1);
    }
    __syncthreads();
    if (rejoins) level = reached;
    own = false;
    take_up(now, known.found(), known.flagged() ? BESIDE | (*(volatile unsigned*)&control->level_leave[level % 3] & FLAGS) : 0);
  }

  // The same of one block, which keeps what it has found where it is.
  __device__ __forceinline__ void end_level_of_block(Level& now) {
    __syncthreads();
    if (threadIdx.x == 0) {
      store.empty(level + 1);  // nobody looks at more than entries there
      store.tell_recorder(level);
    }
    __syncthreads();
    own = true;
    take_up(now, (uint64)store.count(level) << FOUND_SHIFT | store.stage(level)->edges, store.stage(level)->flags);
  }

  // The same in a cluster. The threads of each block have met.
  __device__ __forceinline__ void end_level_of_cluster(Level& now) {
    meet_other_blocks();
    const uint64 word = store.told(level)[lane_id()];
    const unsigned count = (unsigned)entries_of(word) & MOST_TOLD, upto = warp_inclusive_sum(count);
    before = (int)(upto - count);
    const uint64 vertices = __shfl_sync(ALL_LANES, upto, 31);
    unsigned flags = (unsigned)(word >> FLAGS_SHIFT);
    if (__any_sync(ALL_LANES, flags != 0)) flags = __reduce_or_sync(ALL_LANES, flags);
    own = false;
    take_up(now, (vertices << FOUND_SHIFT) + __reduce_add_sync(ALL_LANES, (unsigned)word), flags);
  }

  __device__ __forceinline__ void put_back(const Entry& entry) const {
    if (SWEEPS && entry.first != graph.indptr[entry.vertex]) return;  // another piece of a list
    const int64 degree = SWEEPS ? degree_of(graph, entry.vertex) : entry.degree;
    if (MARKED || bits(level) != space.frontier_bits) {
      if (!MARKED) bits(level)[entry.vertex >> 5] = 0;
      atomicOr(space.frontier_bits + (entry.vertex >> 5), 1u << (entry.vertex & 31));
    }
    append(entry.vertex, degree, true, space, control);
    atomicAdd(space.active_vertices + partition_of(entry.vertex), 1u);
    atomicAdd(space.active_edges + partition_of(entry.vertex), (uint64)degree);
  }

  // The entries that nobody has looked at become the list, with bits and counts, as plan wants to find them.
  __device__ __forceinline__ void leave() {
    for (unsigned i = team.rank(); i < size - staged; i += team.size()) put_back(store.beside(level)[i]);
    if (!CLUSTERED && !own) {
      for (unsigned i = team.rank(); i < staged; i += team.size()) put_back(take_out(store.list(level) + i));
      return;
    }
    const unsigned count = own ? staged : (unsigned)entries_of(store.told(level)[blockIdx.x]) & MOST_TOLD;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) put_back(store.stage(level)->entry[i]);
  }

  // Levels as long as few vertices are active: of the list, or of the vertex with which a run `begins`. Whether the run
  // is over, which Control says then.
  __device__ __forceinline__ bool run(bool begins) {
    __shared__ Record record;
    Level now;
    const Control::Head& head = control->head;
    const int64 begin = head.iteration;
    now.most = (unsigned)min(head.limit - begin, head.row_limit - head.rows);
    now.visited = head.visited;
    now.way = head.way;
    if (begins) set_out(now);
    if (is_recorder()) record.begin(control, (double)graph.n, (double)graph.m, (double)graph.k, begins ? now.found : 0);
    if (!begins) enter(now);
    while (now.stays) {
      // What is flagged is read in Control, where block 0 ahead of others would have them read of another level.
      const bool solo = SOLO && !CLUSTERED && !team.by_itself() && !now.flagged && is_little(now.found);
      if (!solo || blockIdx.x == 0) {
        team.alone |= solo;
        do {
          if (swept) clear_bits(level + 2);
          swept = SWEEPS && level && looks_at(now.found, graph) != WALKED;
          ADVANCE(state, begin + level);
          work(begins && level == 0, now.found, [&] {
            if (!is_recorder()) return;
            const uint64 found = store.without_pieces(level, now.found);
            const Way way = swept ? looks_at(now.found, graph) : WALKED;
            if (record.level(level, found, !HAS_TREE || now.way == AUTO, way)) store.leave(level + 1);
#if LEVELS_ASK
            if (way == ASKED) record.asks();
#endif
          });
          level += 1;
          if (CLUSTERED) store.tell_cluster(level, team.blocks);
          end_level(now);
        } while (solo && now.stays && is_little(now.found));
        if (!solo) continue;
        if (swept) clear_bits(level + 2);  // the others do not know of it
        team.alone = false;
      }
      swept = false;
      end_level(now, true);
    }
    if (swept) clear_bits(level + 2);
    if (MARKED && team.leader()) space.level_marks[2 * graph.n] = marked + level + 1;
    if (!PRIORITISED && size == 0) {
      if (is_recorder()) record.close(level, now.visited, now.way);
      return true;
    }
    if (swept) team.sync();  // what is cleared may be the bits of the frontier
    leave();
    if (is_recorder()) record.end(level, store.without_pieces(level, now.found), now.visited, now.way);
    return false;
  }
};

struct Levels : LevelsOf<BY_GRID> {
  using LevelsOf<BY_GRID>::LevelsOf;
};

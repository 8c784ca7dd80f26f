// The work of a level (levels.cuh): the edges of its entries, along which messages are delivered at once.
//
// A level waits for its slowest warp: a block's warps share long lists (long_lists.cuh), on small graphs all edges
// (share_edges.cuh), of which long lists lie in pieces with several blocks (level_store.cuh).
#include "level_store.cuh"
#include "long_lists.cuh"
#include "level_ask.cuh"
#include "share_edges.cuh"
#include "sweep.cuh"

enum { BY_GRID, BY_CLUSTER, SWEPT };  // who has levels; SWEPT: a grid, which may look at all edges, or all vertices

// What a level of a small graph looks at.
__device__ __forceinline__ Way looks_at(uint64 found, const Graph& graph) {
  const int64 edges = edges_of(found);
  if (LEVELS_ASK && edges > ASK_EDGES && edges > graph.m / ASK_SHARE) return ASKED;
  return edges > (NOBODY_WAITS ? LEVEL_EDGES / 2 : LEVEL_EDGES) ? SWEPT_ALL : WALKED;
}

template <int KIND>
struct LevelWork {
  static constexpr bool CLUSTERED = KIND == BY_CLUSTER, SWEEPS = KIND == SWEPT, MARKED = SWEEPS && NOBODY_WAITS;

  Team& team;
  State& state;
  const Graph& graph;
  const Space& space;
  Control* control;
  unsigned level, size;  // since the first of this run of levels; its entries
  unsigned staged;       // of those, that are not beside
  int before;            // in a cluster: those of the blocks before the one that has the number of this lane
  bool own;              // the entries are in the stage of this block, as far as it has to know
  bool swept;            // the level before did not go by its entries, and its bits are still there
  unsigned marked;       // MARKED: levels of earlier runs
  LevelStore<CLUSTERED, SWEEPS> store;

  __device__ __forceinline__ LevelWork(Team& team, State& state, const Graph& graph, const Space& space, Control* control)
      : team(team), state(state), graph(graph), space(space), control(control), level(0), size(0), staged(0), before(0),
        own(false), swept(false), marked(MARKED ? space.level_marks[2 * graph.n] : 0), store{graph, space, control} {}

  // In turns; where levels may be swept, those of three: read, set, and cleared.
  __device__ __forceinline__ unsigned* bits(unsigned of) const {
    of %= SWEEPS ? 3 : 2;
    return of == 0 ? space.frontier_bits : of == 1 ? space.active_bits : space.level_bits;
  }
  __device__ __forceinline__ auto active(unsigned of) const {
    if constexpr (MARKED) return LevelMarks{space.level_marks + (of & 1) * graph.n, marked + of};
    else return LevelBits{bits(of)};
  }
  __device__ __forceinline__ void clear_bits(unsigned of) const {
    if constexpr (SWEEPS && !MARKED) clear_words(team, bits(of), graph);
  }

  __device__ __forceinline__ void relax(int64 edge, unsigned source) { relax(edge, source, graph.indices[edge]); }
  __device__ __forceinline__ void relax(int64 edge, unsigned source, unsigned v) {
    int64 first = 0, end = 0;
    const auto ahead = [&] {  // on their way while the cell is swapped
      first = graph.indptr[v];
      end = graph.indptr[v + 1];
    };
    const Message value = scatterFunc(state, source);
    if (!reaches(seen_by(state, v), CARRIED(state, value, edge), v, active(level + 1), state, graph, space, control, ahead)) return;
    prefetch(graph.indices + first);  // read by the next level, which waits for the slowest of its lines
#if WEIGHTED
    prefetch(graph.weights + first);
#endif
    store.add(level + 1, v, first, end - first);
  }

  // The i-th entry of this level if it is `wanted`; in a cluster `block` has it, and the whole warp asks.
  __device__ __forceinline__ Entry entry(unsigned i, bool wanted, int block) const {
    const unsigned earlier = CLUSTERED ? (unsigned)__shfl_sync(ALL_LANES, before, block) : 0;
    if (!wanted) return Entry{};
    if (i >= staged) return store.beside(level)[i - staged];
    if (own) return store.stage(level)->entry[i];
    if (CLUSTERED) return on_block(store.stage(level)->entry, block)[i - earlier];
    return take_out(store.list(level) + i);
  }

  // The edges of the vertex with which the run begins, shared by all.
  __device__ __forceinline__ void walk_first() {
    const Entry source = store.stage(0)->entry[0];
    if (walker(team) >= walkers_of(team)) return;
    const int64 step = 32LL * walkers_of(team);
    for (int64 i = 32LL * walker(team) + lane_id(); i < source.degree; i += step) relax(source.first + i, source.vertex);
  }

  // Not by way of entries; of a level of so many.
  __device__ __forceinline__ void look_at_all(uint64 found) {
    if (!own)
      for (unsigned i = team.rank(); i < staged; i += team.size()) take_out(store.list(level) + i);
    const auto add = [&](unsigned v, int64 first, int64 end) { store.add(level + 1, v, first, end - first); };
#if LEVELS_ASK
    const unsigned own = walker(team), all = walkers_of(team);
    if (looks_at(found, graph) == ASKED)
      return store.hear(level + 1, ask_level(own, all, bits(level), bits(level + 1), state, graph, space, add));
#endif
    sweep(walker(team), walkers_of(team), active(level), active(level + 1), state, graph, space, control, add);
  }

  // Where a level may be swept a block's lanes share its edges, but for those of the warp that has something to do `meanwhile`.
  // Entries are dealt one by one: those that a block has found together may all have many edges.
  template <class Meanwhile>
  __device__ __forceinline__ void walk_shared(Meanwhile meanwhile) {
    const unsigned walkers = walkers_of(team), tile = min(32u, (size + walkers - 1) / walkers), step = walkers * tile;
    const bool walks = walker(team) < walkers && lane_id() < tile;
    share_edges(
        (size + step - 1) / step, tile, blockDim.x - (blockIdx.x == 0 && team.warps() > 1 ? 32 : 0), graph.indices,
        [&](unsigned round, unsigned& v, unsigned& first, unsigned& degree) {
          const unsigned mine = round * step + lane_id() * walkers + walker(team);
          if (!walks || mine >= size) return;
          const Entry found = entry(mine, true, 0);
          if (!MARKED) bits(level)[found.vertex >> 5] = 0;  // all of a word are in this list
          v = found.vertex, first = (unsigned)found.first, degree = found.degree;
        },
        meanwhile, [&](int64 edge, unsigned source, unsigned v) { relax(edge, source, v); });
  }

  __device__ __forceinline__ void walk() {
    const unsigned walkers = walkers_of(team), tile = min(32u, (size + walkers - 1) / walkers);
    unsigned i = walker(team) < walkers ? walker(team) * tile : size;
    walk_together<CLUSTERED>(
        graph.longest > LONG_LIST,
        [&](unsigned& v, int64& first, int& degree) {
          if (i >= size) return false;
          const unsigned mine = i + lane_id();
          const bool wanted = lane_id() < tile && mine < size;
          const Entry found = entry(mine, wanted, CLUSTERED ? owner_of((int)mine, before) : 0);
          if (wanted) bits(level)[found.vertex >> 5] = 0;  // all of a word are in this list
          v = found.vertex, first = found.first, degree = (int)found.degree;
          i += walkers * tile;
          return true;
        },
        [&](int64 edge, unsigned source) { relax(edge, source); });
  }

  // This level; `first`: that of the vertex with which the run begins. `meanwhile` is for the warp that has no edges.
  template <class Meanwhile>
  __device__ __forceinline__ void work(bool first, uint64 found, Meanwhile meanwhile) {
    const bool shared = SWEEPS && !swept && !first;
    if (!shared) meanwhile();
    if (SWEEPS && swept) look_at_all(found);
    else if (first) walk_first();
    else if constexpr (SWEEPS) walk_shared(meanwhile);
    else walk();
  }
};

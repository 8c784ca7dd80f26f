// Shortest paths on lists by weight, one cooperative launch: a barrier a step (gpop/gpu/direct/shortest_paths.py).
//
// A warp has 32 words of bits, from all over the graph, and takes the vertices that are in them 32 at a time, a lane
// each. A lane finds the end of its walk, then all 32 walk these edges together. Lists that are longer than INLINE are
// left to the next step, in pieces for a warp each. Bytes: an edge that is walked 8 + a random access to a distance, a
// vertex 28 + a sector of its lines.
#include "direct/shortest_paths_tally.cuh"
#include "owner_of.cuh"
#include "place_of.cuh"

const int AT_ONCE = 4;      // lines of a vertex, and windows of edges, that are on their way together
const int WORDS_AHEAD = 8;  // words whose distances are

__device__ __forceinline__ unsigned weight_of(uint64 line) { return (unsigned)(line >> 32); }

struct Search {
  Team& team;
  const Lines& graph;
  const Lines& back;
  const Space& space;
  Plan* plan;
  Tally& tally;
  unsigned high, cut;
  int filling;       // row of near vertices
  unsigned* filled;  // those that are found
  unsigned* read;    // those that send

  __device__ Search(Team& team, const Lines& graph, const Lines& back, const Space& space, Plan* plan, Tally& tally)
      : team(team), graph(graph), back(back), space(space), plan(plan), tally(tally) {
    high = (unsigned)plan->high;
    cut = (unsigned)plan->cut;
    filling = (int)plan->row;
    filled = row(NEARS + filling);
    read = row(NEARS + 1 - filling);
  }

  __device__ __forceinline__ unsigned* row(int64 number) const { return space.bits + number * space.words; }

  // As the others see it, not as this multiprocessor has it.
  __device__ __forceinline__ unsigned distance_of(unsigned v) const { return *(const volatile unsigned*)(space.distance + v); }

  __device__ __forceinline__ void improve(unsigned v, unsigned length) {
    if (atomicMin(space.distance + v, length) <= length) return;
    const bool near = length < high;
    atomicOr((near ? filled : row(FAR)) + (v >> 5), 1u << (v & 31));
    if (near)
      tally.near = 1;
    else
      tally.nearest = min(tally.nearest, length);
  }

  // These edges, of the senders at these distances, or of the vertices that ask (ASKS); `edge` is -1 where none is.
  // What is not reached has the largest distance, and nobody takes that.
  template <bool ASKS>
  __device__ __forceinline__ void follow(const int64 (&edge)[AT_ONCE], const unsigned (&from)[AT_ONCE]) {
    uint64 line[AT_ONCE];
    unsigned length[AT_ONCE], known[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) line[j] = edge[j] < 0 ? 0 : (ASKS ? back : graph).lines[edge[j]];
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      known[j] = edge[j] < 0 ? 0 : distance_of(ASKS ? from[j] : (unsigned)line[j]);
      length[j] = edge[j] < 0 ? 0 : ASKS ? distance_of((unsigned)line[j]) : from[j];
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      length[j] += weight_of(line[j]);
      if (length[j] < known[j]) improve(ASKS ? from[j] : (unsigned)line[j], length[j]);
    }
  }

  // The edges of 32 lanes, `count` from `first` on, walked by all of them: neighbouring lanes have neighbouring edges.
  template <bool ASKS>
  __device__ __forceinline__ void follow_all(int64 first, int count, unsigned from) {
    const int upto = warp_inclusive_sum(count), before = upto - count;
    const int total = __shfl_sync(ALL_LANES, upto, 31);
    for (int begun = 0; begun < total; begun += 32 * AT_ONCE) {
      int64 edge[AT_ONCE];
      unsigned origin[AT_ONCE];
#pragma unroll
      for (int j = 0; j < AT_ONCE; ++j) {
        edge[j] = -1;
        if (begun + 32 * j >= total) continue;
        const int number = begun + 32 * j + lane_id(), owner = owner_of(number, before);
        const int64 at = __shfl_sync(ALL_LANES, first - before, owner) + number;
        origin[j] = __shfl_sync(ALL_LANES, from, owner);
        if (number < total) edge[j] = at;
      }
      follow<ASKS>(edge, origin);
      __syncwarp();
    }
  }

  // What the step before has left.
  template <bool ASKS>
  __device__ __forceinline__ void follow_pieces() {
    const Piece* pieces = space.pieces + (1 - filling) * space.most_pieces;
    for (uint64 i = team.warp(); i < plan->left; i += team.warps()) {
      const Piece piece = pieces[i];
      const int64 end = piece.first + piece.count;
      for (int64 e = piece.first + lane_id(); e < end; e += 32 * AT_ONCE) {
        int64 edge[AT_ONCE];
        unsigned origin[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
          edge[j] = e + 32 * j < end ? e + 32 * j : -1;
          origin[j] = piece.from;
        }
        follow<ASKS>(edge, origin);
      }
      __syncwarp();
    }
  }

  // The first line from `e` on that leads `room` or further; most often it is among the next few.
  __device__ __forceinline__ int64 end_of(int64 e, int64 stop, unsigned room) const {
    for (int turn = 0; turn < 4 && e < stop; ++turn) {
      int inside = 0;
#pragma unroll
      for (int j = 0; j < AT_ONCE; ++j) inside += weight_of(graph.lines[min(e + j, stop - 1)]) < room && e + j < stop;
      e += inside;
      if (inside < AT_ONCE) return e;
    }
    for (int64 step = 4 * AT_ONCE; e < stop; step *= 2) {
      const int64 probe = min(e + step, stop) - 1;
      if (weight_of(graph.lines[probe]) >= room) {
        stop = probe;
        break;
      }
      e = probe + 1;
    }
    while (e < stop) {
      const int64 middle = e + (stop - e) / 2;
      const bool inside = weight_of(graph.lines[middle]) < room;
      e = inside ? middle + 1 : e;
      stop = inside ? stop : middle;
    }
    return e;
  }

  // How many edges from `first` to before `end` each lane walks now: long lists are left to the next step.
  __device__ __forceinline__ int now_of(int64 first, int64 end, unsigned from) {
    const bool waits = end - first > INLINE;
    if (!__any_sync(ALL_LANES, waits)) return (int)(end - first);
    const int pieces = waits ? (int)((end - first + PIECE - 1) / PIECE) : 0, upto = warp_inclusive_sum(pieces);
    uint64 at = 0;
    if (lane_id() == 31) at = atomicAdd(&plan->pieces, (uint64)upto);
    at = filling * space.most_pieces + __shfl_sync(ALL_LANES, at, 31) + upto - pieces;
    if (!waits) return (int)(end - first);
    for (; first < end; first += PIECE) space.pieces[at++] = {first, (unsigned)min((int64)PIECE, end - first), from};
    return 0;
  }

  // Up to 32 vertices, a lane each, send along their edges up to the cut: from where they stopped (REST), or all over.
  template <int STEP>
  __device__ __forceinline__ void send(bool mine, bool is_new, unsigned v) {
    unsigned from = 0;
    int64 first = 0, end = 0;
    if (mine) {
      from = distance_of(v);
      const int64 begin = graph.indptr[v], stop = graph.indptr[v + 1];
      first = begin + (STEP == REST ? space.sent[v] : 0);
      end = cut > from ? end_of(first, stop, cut - from) : first;
      space.sent[v] = (unsigned)(end - begin);
      if (end < stop)
        tally.waiting = min(tally.waiting, from + weight_of(graph.lines[end]));
      else if (STEP == REST)
        atomicOr(row(THROUGH) + (v >> 5), 1u << (v & 31));
      if (is_new) tally.mass += stop - begin;
      tally.edges += end - first;
    }
    follow_all<false>(first, now_of(first, end, from), from);
  }

  __device__ __forceinline__ void pull(bool mine, unsigned v) {
    const int64 first = mine ? back.indptr[v] : 0, end = mine ? back.indptr[v + 1] : 0;
    tally.edges += end - first;
    follow_all<true>(first, now_of(first, end, v), v);
  }

  // The word of a lane in a round: those of a warp are far apart, since vertices with many edges often are not.
  __device__ __forceinline__ int64 word_of(int64 round, int lane) const { return (32 * round + lane) * team.warps() + team.warp(); }
  __device__ __forceinline__ int64 rounds() const { return (space.words + 32LL * team.warps() - 1) / (32LL * team.warps()); }

  // The vertices that take part in word `w`, and which of them are settled now.
  template <int STEP>
  __device__ __forceinline__ unsigned taken(int64 w, unsigned& settles) {
    settles = 0;
    const unsigned settled = row(SETTLED)[w];
    if (STEP == REST) return settled & ~row(THROUGH)[w];
    if (STEP == PULL) return ~settled & (32 * (w + 1) <= graph.n ? ALL_LANES : (1u << (graph.n & 31)) - 1);
    const unsigned near = read[w];
    if (near) read[w] = 0;
    settles = near & ~settled;
    if (settles) row(SETTLED)[w] = settled | near;
    return near;
  }

  template <int STEP>
  __device__ void walk() {
    if (STEP == NEAR) {
      if (plan->asks)
        follow_pieces<true>();
      else
        follow_pieces<false>();
    }
    for (int64 round = 0; round < rounds(); ++round) {
      const int64 w = word_of(round, lane_id());
      unsigned own = 0, settles = 0;
      if (w < space.words) own = taken<STEP>(w, settles);
      tally.settled += __popc(settles);
      const int upto = warp_inclusive_sum(__popc(own)), before = upto - __popc(own);
      const int total = __shfl_sync(ALL_LANES, upto, 31);
      for (int begun = 0; begun < total; begun += 32) {
        const int number = begun + lane_id(), owner = owner_of(number, before);
        const unsigned word = __shfl_sync(ALL_LANES, own, owner), fresh = __shfl_sync(ALL_LANES, settles, owner);
        const unsigned bit = place_of(word, number - __shfl_sync(ALL_LANES, before, owner)) & 31;
        const unsigned v = (unsigned)(32 * word_of(round, owner)) + bit;
        if (STEP == PULL)
          pull(number < total, v);
        else
          send<STEP>(number < total, fresh >> bit & 1, v);
      }
    }
  }

  // Far vertices that lie in the new bucket become near; what is settled is neither.
  __device__ void split() {
    for (int64 round = 0; round < rounds(); ++round) {
      const int64 w = word_of(round, lane_id());
      const unsigned own = w < space.words ? row(FAR)[w] : 0;
      const unsigned some = __ballot_sync(ALL_LANES, own != 0);
      unsigned stays = 0, goes = 0;
      for (int word = 0; word < 32; word += WORDS_AHEAD) {
        if (!(some >> word & ((1u << WORDS_AHEAD) - 1))) continue;
        unsigned length[WORDS_AHEAD];
        bool waits[WORDS_AHEAD];
#pragma unroll
        for (int j = 0; j < WORDS_AHEAD; ++j) {
          waits[j] = __shfl_sync(ALL_LANES, own, word + j) >> lane_id() & 1;
          length[j] = waits[j] ? distance_of((unsigned)(32 * word_of(round, word + j)) + lane_id()) : 0;
        }
#pragma unroll
        for (int j = 0; j < WORDS_AHEAD; ++j) {
          const bool beyond = waits[j] && length[j] >= high;
          const unsigned far = __ballot_sync(ALL_LANES, beyond), near = __ballot_sync(ALL_LANES, waits[j] && !beyond);
          if (beyond) tally.nearest = min(tally.nearest, length[j]);
          if (lane_id() == word + j) stays = far, goes = near;
        }
      }
      if (!own) continue;
      row(FAR)[w] = stays;
      goes &= ~row(SETTLED)[w];
      filled[w] = goes;
      tally.near |= goes != 0;
      tally.joined += __popc(goes);
      tally.kept += __popc(stays);
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    gpop_search(const Lines graph, const Lines back, const Space space, Control* control, unsigned source) {
  Team team = {control, gridDim.x, 0, false, 0};
  for (int64 v = team.rank(); v < graph.n; v += team.size()) space.distance[v] = v == source ? 0 : FARTHEST;
  if (team.leader()) space.bits[source >> 5] = 1u << (source & 31);
  while (true) {
    team.sync([&] {
      if (threadIdx.x == 0) make_plan(graph, space, control);
    });
    Plan* plan = &control->plan;
    const uint64 step = plan->step;
    if (step == OVER) return;
    Tally tally;
    Search search(team, graph, back, space, plan, tally);
    if (step == NEAR)
      search.walk<NEAR>();
    else if (step == REST)
      search.walk<REST>();
    else if (step == PULL)
      search.walk<PULL>();
    else
      search.split();
    tell(tally, plan);
  }
}

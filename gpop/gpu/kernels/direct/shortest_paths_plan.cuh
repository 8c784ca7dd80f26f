// A search for shortest paths on lists by weight: what it works on, and which step comes next.
//
// The steps and when each of them comes are those of gpop/direct/shortest_paths.py. Here near and far vertices are
// bits, not lists: a step reads n / 8 bytes, from L2.
#include "clock.cuh"

typedef long long int64;
typedef unsigned long long uint64;

enum { NEAR, SPLIT, REST, PULL, OVER };          // steps
enum { NEARS, FAR = 2, SETTLED, THROUGH, ROWS };  // rows of bits; of NEARS, two, one is read and one is filled
const uint64 NEVER = 0xffffffff;                 // beyond all distances

struct Lines {  // edges of v: lines[indptr[v]] to before lines[indptr[v + 1]], the weight above the neighbour, ascending
  int64 n;
  const int64* indptr;
  const uint64* lines;
};

struct Piece {  // of a long list, for one warp of the next step, which is a near one
  int64 first;
  unsigned count;
  unsigned from;  // the distance of who sends, or the vertex that asks
};

struct Space {
  unsigned* distance;
  unsigned* sent;  // edges of a settled vertex that were walked
  unsigned* bits;  // ROWS rows of `words`
  int64 words;
  Piece* pieces;  // two lists of at most `most_pieces`, as of near vertices
  int64 most_pieces;
};

struct Plan {
  uint64 high, cut;             // where the bucket and the cut end
  uint64 width, window, later;  // of a bucket, of the stretch up to a cut, of later buckets
  uint64 least, next;           // no far vertex is nearer, no edge that waits leads nearer
  uint64 mass, settled;         // out-edges of settled vertices, and how many these are
  uint64 walked;                // work of all rests
  uint64 near, joined, kept;    // whether some are near; how many a split made near, and left far
  uint64 row;                   // of NEARS, and of pieces, that is being filled
  uint64 pieces, left, asks;    // pieces that are found; those that the step before has left, and whether they ask
  uint64 step, steps, started;
  uint64 edges[OVER], times[OVER];
};

struct Control {
  Plan plan;
  unsigned arrived_blocks, released;  // of the grid barrier
};

// The step after the one that is over.
__device__ uint64 next_step(uint64 m, int64 words, Plan* c) {
  const uint64 waiting = c->next, least = c->least;
  const bool some_far = least < NEVER, full = FULL_OF * c->mass >= FULL * m;
  if (c->near || c->pieces) {
    if (c->step == SPLIT && c->cut == NEVER && FEW * c->joined < c->kept) c->width = min(2 * c->width, NEVER);
    c->asks = c->step == PULL;
    c->near = 0;
    c->row = 1 - c->row;
    c->left = c->pieces;
    c->pieces = 0;
    return NEAR;
  }
  if (c->high >= c->cut || !some_far || full) {
    if (min(waiting, least) == NEVER) return OVER;
    if (c->cut < NEVER) {
      c->walked += words / 2 + VISIT * c->settled;
      if (full || c->walked > m) {
        c->cut = NEVER;
        c->width = c->later;
        if (2 * c->mass > m) {
          c->next = NEVER;
          return PULL;
        }
      } else {
        c->cut = min(NEVER, max(c->cut, min(waiting, least)) + c->window);
      }
      if (waiting < c->cut) {
        c->next = NEVER;
        return REST;
      }
    }
  }
  if (!some_far) return OVER;
  c->high = min(c->cut, max(c->high, least) + c->width);
  c->least = NEVER;
  c->joined = c->kept = 0;
  return SPLIT;
}

// Closes a step and chooses the next one. One thread, while all others wait: it loads all of the plan at once, since
// every load takes a way to L2.
__device__ void make_plan(const Lines& graph, const Space& space, Control* control) {
  const uint64 m = graph.indptr[graph.n], now = now_ns();
  Plan plan = control->plan;
  if (plan.steps) {
#pragma unroll
    for (int step = 0; step < OVER; ++step) plan.times[step] += plan.step == step ? now - plan.started : 0;
  }
  plan.started = now;
  plan.steps += 1;
  plan.step = next_step(m, space.words, &plan);
  control->plan = plan;
}

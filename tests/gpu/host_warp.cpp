// What kernels/in_edges.cuh sees of a GPU, and a warp of 32 fibres that runs it (host_warp.py).
#include "program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>
using std::min; using std::max;
typedef long long int64;
const unsigned ALL_LANES = 0xffffffffu;
static ucontext_t host, lanes[32];
static unsigned current, met[32];
static unsigned long long slot[32];
static unsigned lane_id() { return current; }
static void meet(unsigned line) { met[current] = line; const unsigned lane = current; swapcontext(&lanes[lane], &host); current = lane; }
template <class T> T shuffle(T value, int from, unsigned line) {
  slot[current] = 0; memcpy(&slot[current], &value, sizeof(T)); meet(line);
  T x; memcpy(&x, &slot[from], sizeof(T)); meet(line);
  return x;
}
static unsigned ballot(bool yes, unsigned line) {
  slot[current] = yes; meet(line);
  unsigned all = 0; for (int j = 0; j < 32; ++j) all |= (unsigned)slot[j] << j;
  meet(line);
  return all;
}
#define __shfl_sync(mask, value, from) shuffle(value, from, __LINE__)
#define __ballot_sync(mask, yes) ballot(yes, __LINE__)
#define __any_sync(mask, yes) (ballot(yes, __LINE__) != 0)
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static void __syncwarp() {}  // what follows meets
static struct { unsigned x; } threadIdx;  // of its warp, the only one
static unsigned char shared_memory[1 << 12];
static int warp_inclusive_sum(int value) {
  int sum = 0;
  for (int j = 0; j < 32; ++j) { const int other = __shfl_sync(0, value, j); if (j <= (int)current) sum += other; }
  return sum;
}
static unsigned atomicAdd(unsigned* at, unsigned x) { const unsigned before = *at; *at += x; return before; }
static unsigned atomicOr(unsigned* at, unsigned x) { const unsigned before = *at; *at |= x; return before; }
static unsigned min(int a, unsigned b) { return std::min((unsigned)a, b); }

struct Graph { int64 n; unsigned hubs; const int64* in_indptr; const unsigned* in_indices; const Weight* in_weights;
               const unsigned* hub_vertex; const int64* hub_first; const unsigned* has_in; };
struct Space { const Message* vertex_value; const unsigned char* active; unsigned char* activated;
               const Gathered* waiting; unsigned* waiting_count; const unsigned* called; unsigned* active_bits; };
struct Control { struct { unsigned gather_claim, hubs_called; } head; };
struct Team { unsigned warp() const { return 0; } unsigned warps() const { return 1; } };
static bool is_active(const Space& space, unsigned v) { return space.active[v]; }
static void activate(unsigned v, const Space& space, Control*) { space.activated[v] += 1; }
static Gathered weighted(State& state, Message value, Weight weight) {
#if WEIGHTED
  return applyWeight(state, value, weight);
#else
  return value;
#endif
}

#include "inbox.cuh"
#include "queue.cuh"
#define LIVE 0
static Message sent_by(unsigned v, State&, const Space& space, bool) { return space.vertex_value[v]; }
#include "in_edges.cuh"

static Team team; static State* state; static Graph graph; static Space space; static Control control; static bool queued;
static unsigned ended;
static void lane() {
  if (queued) gather_waiting(team, *state, graph, space, &control);
  else ask_all<true>(team, *state, graph, space, &control);
  ++ended;
  while (true) meet(0);
}
extern "C" int run(State* given, const Graph* g, const Space* s, unsigned hubs_called, bool from_queues) {
  static char stacks[32][1 << 16];
  state = given; graph = *g; space = *s; control = Control(); control.head.hubs_called = hubs_called;
  queued = from_queues; ended = 0;
  for (int j = 0; j < 32; ++j) {
    getcontext(&lanes[j]);
    lanes[j].uc_stack.ss_sp = stacks[j]; lanes[j].uc_stack.ss_size = sizeof(stacks[j]); lanes[j].uc_link = &host;
    makecontext(&lanes[j], lane, 0);
  }
  while (true) {
    for (current = 0; current < 32; ++current) { const unsigned j = current; swapcontext(&host, &lanes[j]); current = j; }
    for (int j = 1; j < 32; ++j) if (met[j] != met[0]) return (int)met[j];
    if (ended) return ended == 32 ? 0 : -1;
  }
}

// Who runs next of the threads of a grid, on the host: after some accesses to memory another one, as a seed has it.
//
// A thread is a fiber with a stack of its own. Those of a block are in one thread of the host, since what they share is
// a variable of that (many_blocks.hpp); one of these runs at a time. A compiler's race detector (-fsanitize=thread)
// calls a function before every access to memory: here that is where another thread may come. For a while some blocks
// and warps lag behind the others, and for a while turns are short or long: what goes wrong when one is late goes wrong.
// A launch fails where all wait for others that never come, or nobody ends. What is written is seen at once, so what
// needs a fence is not found.
#include <semaphore.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "happens_before.hpp"

namespace warp {
std::vector<char*> anchors;  // of what each block shares
}

namespace {
const int LANES = 32, STACK = 1 << 17, WAVE = 16;  // blocks of a launch that are there at once
const long PATIENCE = 400'000'000;                 // accesses of a launch
const int PERIOD = 2000;                           // turns, then others lag
const int MOST_WATCHED = 512;                      // threads: each has a clock of all

struct Fiber {
  ucontext_t begin;
  jmp_buf place;
  bool started = false, finished = false;
};

struct Meeting {  // of the threads of a warp, or of a block
  std::vector<int> waiting;
  int alive = 0;
};

struct Warp {
  Meeting meeting;
  unsigned generation = 0;
  unsigned long long offered[2][LANES];  // of this exchange, and of the one before, which may still be read
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<char> stacks;
  std::vector<Warp> warps;
  Meeting meeting;
  ucontext_t origin;
  sem_t turn;
};

std::function<void()> body;
char* (*anchor_here)();
std::vector<std::unique_ptr<Block>> here;  // the blocks of this wave
std::vector<int> ready, place_in;          // numbers of threads that may run, and where each is among them
std::vector<char> lags;                    // by warp
Meeting everybody;
int first_block, all_blocks, block_threads, current = -1, held, turn_left, turn_length;
long taken, turns;
bool over;
bool asked, watched;  // whether accesses are to be compared (happens_before.cpp), and are in this launch
unsigned long long seed = 1;
sem_t done;

unsigned draw(unsigned below) {  // xorshift
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (unsigned)(seed >> 33) % below;
}

void make_ready(int number) {
  place_in[number] = (int)ready.size();
  ready.push_back(number);
}

void rest(int number) {
  const int at = place_in[number], last = ready.back();
  ready[at] = last, place_in[last] = at;
  ready.pop_back();
}

void begin_period() {
  static const int LENGTHS[] = {2, 10, 60, 600};
  turn_length = LENGTHS[draw(4)];
  const int warps = block_threads / LANES;
  for (size_t b = 0; b < here.size(); ++b) {
    const bool all = draw(4) == 0;
    for (int w = 0; w < warps; ++w) lags[b * warps + w] = all || draw(6) == 0;
  }
}

int choose() {
  if (turns++ % PERIOD == 0) begin_period();
  turn_left = 1 + draw(2 * turn_length);
  int found = 0;
  for (int tries = 0; tries < 6; ++tries) {
    found = ready[draw((unsigned)ready.size())];
    if (!lags[found / LANES]) break;
  }
  return found;
}

void end() {
  over = true;
  sem_post(&done);
}

// Whether it is near what its block shares; an array on the heap is not.
bool is_shared(const char* address) {
  const char* anchor = warp::anchors[first_block + current / block_threads];
  return anchor && std::abs(address - anchor) < 1 << 20;
}

Block& block_of(int number) { return *here[number / block_threads]; }

[[noreturn]] void go_to(int number) {  // a fiber of this thread of the host
  Fiber& fiber = block_of(number).fibers[number % block_threads];
  if (fiber.started) _longjmp(fiber.place, 1);
  fiber.started = true;
  setcontext(&fiber.begin);
  __builtin_unreachable();
}

// The thread of the host sleeps until one of its fibers is to run; which is no longer of interest when all is over.
void sleep_and_go(Block& own, int back) {
  while (sem_wait(&own.turn)) {}
  if (over) setcontext(&own.origin);
  if (current != back) go_to(current);
}

// Somebody else runs; returns when this fiber is chosen again. One that is finished never is.
void give_way() {
  const int from = current;
  if (ready.empty() || taken > PATIENCE) {
    end();
    sleep_and_go(block_of(from), -1);
  }
  const int next = choose();
  if (next == from) return;
  current = next;
  Fiber& fiber = block_of(from).fibers[from % block_threads];
  if (_setjmp(fiber.place)) return;
  if (&block_of(next) == &block_of(from)) go_to(next);
  sem_post(&block_of(next).turn);
  sleep_and_go(block_of(from), from);
}

void release(Meeting& meeting) {
  if (watched) order::met(meeting.waiting);
  for (int number : meeting.waiting) make_ready(number);
  meeting.waiting.clear();
}

bool is_complete(const Meeting& meeting) { return (int)meeting.waiting.size() == meeting.alive; }

// Whether this was the last one; the others go on when it is.
bool meet(Meeting& meeting) {
  meeting.waiting.push_back(current);
  rest(current);
  const bool complete = is_complete(meeting);
  if (complete) release(meeting);
  return complete;
}

Warp& own_warp() { return block_of(current).warps[current % block_threads / LANES]; }

void begin_fiber() {
  body();
  Block& own = block_of(current);
  own.fibers[current % block_threads].finished = true;
  rest(current);
  for (Meeting* meeting : {&everybody, &own.meeting, &own_warp().meeting}) {  // who has left is not waited for
    --meeting->alive;
    if (meeting->alive && is_complete(*meeting)) {
      if (meeting == &own_warp().meeting) ++own_warp().generation;
      release(*meeting);
    }
  }
  give_way();
}

void be_block(Block& own, int index) {
  volatile bool ran = false;
  getcontext(&own.origin);
  if (ran) return;
  ran = true;
  warp::anchors[index] = anchor_here();
  sleep_and_go(own, -1);
}

bool run_wave(int blocks) {
  here.clear();
  ready.clear();
  place_in.assign(blocks * block_threads, -1);
  lags.assign(blocks * block_threads / LANES, 0);
  taken = turns = 0;
  held = 0;
  over = false;
  watched = asked && blocks * block_threads <= MOST_WATCHED;
  if (watched) order::begin(blocks * block_threads);
  sem_init(&done, 0, 0);
  everybody.waiting.clear();
  everybody.alive = blocks * block_threads;
  for (int b = 0; b < blocks; ++b) {
    here.push_back(std::make_unique<Block>());
    Block& block = *here.back();
    block.fibers.resize(block_threads);
    block.stacks.resize((size_t)block_threads * STACK);
    block.warps.resize(block_threads / LANES);
    block.meeting.alive = block_threads;
    for (Warp& warp : block.warps) warp.meeting.alive = LANES;
    sem_init(&block.turn, 0, 0);
    for (int t = 0; t < block_threads; ++t) {
      ucontext_t& begin = block.fibers[t].begin;
      getcontext(&begin);
      begin.uc_stack.ss_sp = block.stacks.data() + (size_t)t * STACK;
      begin.uc_stack.ss_size = STACK;
      makecontext(&begin, begin_fiber, 0);
      make_ready(b * block_threads + t);
    }
  }
  std::vector<std::thread> threads;
  for (int b = 0; b < blocks; ++b) threads.emplace_back(be_block, std::ref(*here[b]), first_block + b);
  current = choose();
  sem_post(&block_of(current).turn);
  while (sem_wait(&done)) {}
  const bool finished = ready.empty() && std::all_of(here.begin(), here.end(), [](auto& block) {
    return std::all_of(block->fibers.begin(), block->fibers.end(), [](Fiber& fiber) { return fiber.finished; });
  });
  for (auto& block : here) sem_post(&block->turn);
  for (auto& thread : threads) thread.join();
  current = -1;
  return finished;
}

// Before an access to what is not a variable of one thread.
inline void access(void* at, size_t size, bool writes, order::Kind kind = order::PLAIN) {
  if (current < 0 || held) return;
  const Block& own = block_of(current);
  const char* address = (const char*)at;
  if (address >= own.stacks.data() && address < own.stacks.data() + own.stacks.size()) return;
  ++taken;
  if (--turn_left <= 0) give_way();
  if (watched) order::touched(current, at, size, writes, kind, is_shared(address));
}
}  // namespace

namespace warp {
int thread_of_block() { return current % block_threads; }
int block_of_grid() { return first_block + current / block_threads; }
int threads_of_block() { return block_threads; }
int blocks_of_grid() { return all_blocks; }
unsigned long long* offers() { return own_warp().offered[own_warp().generation & 1]; }
long long steps() { return taken; }

struct Held {
  Held(void* at, size_t size);
  ~Held();
};
Held::Held(void* at, size_t size) {
  access(at, size, true, order::ATOMIC);
  ++held;
}
Held::~Held() { --held; }

void fence() {
  if (watched) order::fence(current);
}

void meet_warp() {
  Warp& own = own_warp();
  if (meet(own.meeting)) ++own.generation;
  give_way();
}

void meet_block() {
  meet(block_of(current).meeting);
  give_way();
}

void meet_grid() {  // those of a launch, which are a cluster
  meet(everybody);
  give_way();
}

bool run(std::function<void()> kernel, int blocks, int threads, char* (*where)()) {
  body = kernel, anchor_here = where;
  anchors.assign(blocks, nullptr);
  all_blocks = blocks, block_threads = threads;
  for (first_block = 0; first_block < blocks; first_block += WAVE)
    if (!run_wave(std::min(WAVE, blocks - first_block))) return false;
  return true;
}
}  // namespace warp

extern "C" {
void set_order(unsigned long long number, bool compares) {
  seed = number * 0x9E3779B97F4A7C15ULL + 1;
  asked = compares;
}

void __tsan_init() {}
void __tsan_func_entry(void*) {
  if (watched && current >= 0) order::enter(current, __builtin_return_address(0));
}
void __tsan_func_exit() {
  if (watched && current >= 0) order::leave(current);
}
#define ACCESS(kind, bytes, writes)                                           \
  void __tsan_##kind##bytes(void* at) { access(at, bytes, writes); }           \
  void __tsan_unaligned_##kind##bytes(void* at) { access(at, bytes, writes); } \
  void __tsan_volatile_##kind##bytes(void* at) { access(at, bytes, writes, order::VOLATILE); }
#define BOTH(bytes) ACCESS(read, bytes, false) ACCESS(write, bytes, true)
BOTH(1) BOTH(2) BOTH(4) BOTH(8) BOTH(16)
void __tsan_read_range(void* at, size_t size) { access(at, size, false); }
void __tsan_write_range(void* at, size_t size) { access(at, size, true); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}

// Several blocks of several warps on the host, in an order that a seed decides (many_blocks.cpp).
//
// What is shared by the threads of a block is a variable of the thread of the host that has all of them.
#include <functional>
#include <vector>

#define __shared__ static thread_local

namespace warp {
const int LANES = 32;

int thread_of_block(), block_of_grid(), threads_of_block(), blocks_of_grid();  // of this launch
unsigned long long* offers();  // of the exchange of this warp that is going on
void fence();
void meet_warp();
void meet_block();
void meet_grid();
bool run(std::function<void()> kernel, int blocks, int threads, char* (*where)());
long long steps();  // that all have made: a clock that goes the same way every time

struct Held {  // while it lives nobody else runs
  Held(void* at, size_t size);
  ~Held();
};

inline int lane_of_warp() { return thread_of_block() % LANES; }

static thread_local char anchor;  // what a block shares lies as far from this in all blocks
extern std::vector<char*> anchors;
__attribute__((no_sanitize("thread"))) static char* own_anchor() { return &anchor; }  // before it is anybody's turn

template <class T>
T* on_block(T* own, unsigned block) {
  return (T*)(anchors[block] + ((char*)own - &anchor));
}

template <class Kernel>
bool launch(Kernel kernel, int blocks, int threads) {  // false if it hung
  return run(kernel, blocks, threads, own_anchor);
}
}  // namespace warp

template <int (*OF)()>
struct Told {
  struct Number {
    operator unsigned() const { return OF(); }
  } x;
};
const Told<warp::thread_of_block> threadIdx;
const Told<warp::block_of_grid> blockIdx;
const Told<warp::threads_of_block> blockDim;
const Told<warp::blocks_of_grid> gridDim;

inline long long host_ns() { return warp::steps(); }

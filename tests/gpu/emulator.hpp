// A GPU of one warp on the host: what the kernels need of CUDA, so that they run where there is no device.
//
// Every lane is a fiber with a stack of its own, all in one thread: a lane runs until it meets a barrier,
// a shuffle or a ballot, then the next one does, so atomics are plain. A launch fails where a lane waits for
// others that never come. Lanes that got somewhere without the others (__activemask) count as alone there.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__ static
#define __align__(bytes) alignas(bytes)
using std::max;
using std::min;

// --- lanes ------------------------------------------------------------------------------------------------
namespace warp {
const int LANES = 32, STACK = 1 << 18;
const long PATIENCE = 100 * LANES;  // turns in a row that end at the same barrier
ucontext_t begin[LANES], origin;
jmp_buf place[LANES];
bool started[LANES], finished[LANES];
int now, arrived, left;
long idle;
unsigned generation;
unsigned long long offered[2][LANES];  // of this exchange, and of the one before, which may still be read
std::function<void()> body;

void next() {
  if (++idle > PATIENCE) setcontext(&origin);
  const int from = now;
  do now = (now + 1) % LANES;
  while (finished[now] && left);
  if (!left) setcontext(&origin);
  if (finished[from] || _setjmp(place[from]) == 0) {
    if (started[now]) _longjmp(place[now], 1);
    started[now] = true;
    setcontext(&begin[now]);
  }
}

void barrier() {
  const unsigned mine = generation;
  if (++arrived == LANES) {
    arrived = idle = 0;
    ++generation;
  }
  while (generation == mine) next();
}

void lane() {
  body();
  finished[now] = true;
  --left;
  idle = 0;
  next();
}

bool launch(std::function<void()> kernel) {  // false if it hung
  static std::vector<char> stacks(LANES * STACK);
  body = kernel;
  now = arrived = 0;
  idle = 0;
  left = LANES;
  for (int i = 0; i < LANES; ++i) {
    started[i] = finished[i] = false;
    getcontext(&begin[i]);
    begin[i].uc_stack.ss_sp = stacks.data() + (size_t)i * STACK;
    begin[i].uc_stack.ss_size = STACK;
    makecontext(&begin[i], lane, 0);
  }
  volatile bool over = false;
  getcontext(&origin);
  if (over) return !left;
  over = true;
  started[0] = true;
  setcontext(&begin[0]);
  return false;
}
}  // namespace warp

struct Triple {
  unsigned x, y, z;
};
struct ThisLane {
  operator unsigned() const { return warp::now; }
};
struct {
  ThisLane x;
} threadIdx;
const Triple blockIdx = {0, 0, 0}, blockDim = {warp::LANES, 1, 1}, gridDim = {1, 1, 1};

inline void __syncthreads() { warp::barrier(); }
inline void __syncwarp() { warp::barrier(); }
inline void __threadfence() {}
inline void __threadfence_system() { __sync_synchronize(); }
inline unsigned __activemask() { return 1u << warp::now; }

template <class T>
T exchange(unsigned mask, T value, int from) {  // what lane `from` offers; its own where that is none
  if (mask != 0xffffffffu) return value;
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  unsigned long long* offers = warp::offered[warp::generation & 1];
  offers[warp::now] = bits;
  warp::barrier();
  T found;
  std::memcpy(&found, &offers[from >= 0 && from < warp::LANES ? from : warp::now], sizeof(T));
  return found;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return exchange(mask, value, lane & 31);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int lanes) {
  return exchange(mask, value, warp::now - lanes);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return exchange(mask, value, warp::now ^ lanes);
}
inline unsigned __ballot_sync(unsigned mask, bool holds) {
  if (mask != 0xffffffffu) return (unsigned)holds << warp::now;
  unsigned long long* offers = warp::offered[warp::generation & 1];
  offers[warp::now] = holds;
  warp::barrier();
  unsigned bits = 0;
  for (int i = 0; i < warp::LANES; ++i) bits |= (unsigned)offers[i] << i;
  return bits;
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  unsigned sum = 0;
  for (int i = 0; i < warp::LANES; ++i) sum += exchange(mask, value, i);
  return sum;
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  unsigned bits = 0;
  for (int i = 0; i < warp::LANES; ++i) bits |= exchange(mask, value, i);
  return bits;
}
inline bool __any_sync(unsigned mask, bool holds) { return __ballot_sync(mask, holds) != 0; }
inline unsigned __match_any_sync(unsigned mask, unsigned) { return mask; }  // only ever asked by lanes alone
inline int __syncthreads_or(bool holds) { return __ballot_sync(0xffffffffu, holds) != 0; }

// --- atomics, bits, vectors -------------------------------------------------------------------------------
template <class T, class F>
T replace(T* at, F with) {
  const T before = *at;
  *at = with(before);
  return before;
}
template <class T, class X> T atomicAdd(T* at, X x) { return replace(at, [&](T was) { return (T)(was + (T)x); }); }
template <class T, class X> T atomicOr(T* at, X x) { return replace(at, [&](T was) { return (T)(was | (T)x); }); }
template <class T, class X> T atomicAnd(T* at, X x) { return replace(at, [&](T was) { return (T)(was & (T)x); }); }
template <class T, class X> T atomicMin(T* at, X x) { return replace(at, [&](T was) { return min(was, (T)x); }); }
template <class T, class X> T atomicMax(T* at, X x) { return replace(at, [&](T was) { return max(was, (T)x); }); }
template <class T, class X> T atomicExch(T* at, X x) { return replace(at, [&](T) { return (T)x; }); }
template <class T, class X, class Y>
T atomicCAS(T* at, X expected, Y desired) {
  return replace(at, [&](T was) { return was == (T)expected ? (T)desired : was; });
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
template <class T>
T __ldg(const T* at) { return *at; }
template <class T>
T __ldcs(const T* at) { return *at; }
inline int __clz(int bits) { return bits ? __builtin_clz(bits) : 32; }

template <class To, class From>
To same_bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
inline float __int_as_float(int bits) { return same_bits<float>(bits); }
inline float __uint_as_float(unsigned bits) { return same_bits<float>(bits); }
inline int __float_as_int(float x) { return same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }

inline long long host_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

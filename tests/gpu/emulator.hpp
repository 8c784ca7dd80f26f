// What the kernels need of CUDA, so that they run on the host where there is no device.
//
// Who runs when is in the file before this one: one_warp.hpp, or many_blocks.hpp. Lanes that got somewhere without the
// others (__activemask) count as alone there.
#include <algorithm>
#include <cmath>
#include <cstring>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) alignas(bytes)
using std::max;
using std::min;

inline void __syncthreads() { warp::meet_block(); }
inline void __syncwarp() { warp::meet_warp(); }
inline void __threadfence() { warp::fence(); }
inline void __threadfence_system() {
  warp::fence();
  __sync_synchronize();
}
inline unsigned __activemask() { return 1u << warp::lane_of_warp(); }

template <class T>
T exchange(unsigned mask, T value, int from) {  // what lane `from` offers; its own where that is none
  if (mask != 0xffffffffu) return value;
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  unsigned long long* offers = warp::offers();
  offers[warp::lane_of_warp()] = bits;
  warp::meet_warp();
  T found;
  std::memcpy(&found, &offers[from >= 0 && from < warp::LANES ? from : warp::lane_of_warp()], sizeof(T));
  return found;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return exchange(mask, value, lane & 31);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int lanes) {
  return exchange(mask, value, warp::lane_of_warp() - lanes);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return exchange(mask, value, warp::lane_of_warp() ^ lanes);
}
inline unsigned __ballot_sync(unsigned mask, bool holds) {
  if (mask != 0xffffffffu) return (unsigned)holds << warp::lane_of_warp();
  unsigned long long* offers = warp::offers();
  offers[warp::lane_of_warp()] = holds;
  warp::meet_warp();
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
inline int __syncthreads_or(bool holds) {
  __shared__ int some;
  warp::meet_block();
  if (threadIdx.x == 0) some = 0;
  warp::meet_block();
  if (holds) some = 1;
  warp::meet_block();
  return some;
}

// --- atomics, bits, vectors -------------------------------------------------------------------------------
template <class T, class F>
T replace(T* at, F with) {
  warp::Held held((void*)at, sizeof(T));
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


// Combining messages (Program.combine) for many threads at once.
//
// merge(a, b): both of them; fold(address, x): *address = merge(*address, x), atomically, in shared or global
// memory. A NaN is no message of a minimum or maximum: `value < self.x[node]` does not hold for it either.
// Messages are combined in Folded; those of one vertex in Total, so that a hub's sum does not drift: float32
// stops growing by 1e-7 of itself, and a push brings one message at a time.

template <class T> struct Bounds;
template <> struct Bounds<int> { static __device__ int lowest() { return -2147483647 - 1; } static __device__ int highest() { return 2147483647; } };
template <> struct Bounds<unsigned> { static __device__ unsigned lowest() { return 0; } static __device__ unsigned highest() { return 4294967295u; } };
template <> struct Bounds<int64> { static __device__ int64 lowest() { return -9223372036854775807LL - 1; } static __device__ int64 highest() { return 9223372036854775807LL; } };
template <> struct Bounds<uint64> { static __device__ uint64 lowest() { return 0; } static __device__ uint64 highest() { return 18446744073709551615ULL; } };
template <> struct Bounds<float> { static __device__ float lowest() { return __int_as_float(0xff800000); } static __device__ float highest() { return __int_as_float(0x7f800000); } };
template <> struct Bounds<double> { static __device__ double lowest() { return __longlong_as_double(0xfff0000000000000LL); } static __device__ double highest() { return __longlong_as_double(0x7ff0000000000000LL); } };

template <class T> __device__ __forceinline__ T identity() {
  if (COMBINE == MINIMUM) return Bounds<T>::highest();
  if (COMBINE == MAXIMUM) return Bounds<T>::lowest();
  return T(0);
}

// Minimum and maximum. Floats are ordered as integers: upwards without the sign bit, downwards with it.
template <class T> __device__ __forceinline__ T atomic_min(T* at, T x) { return atomicMin(at, x); }
template <class T> __device__ __forceinline__ T atomic_max(T* at, T x) { return atomicMax(at, x); }
template <> __device__ __forceinline__ float atomic_min(float* at, float x) {
  if (__float_as_int(x) >= 0) return __int_as_float(atomicMin((int*)at, __float_as_int(x)));
  return __uint_as_float(atomicMax((unsigned*)at, __float_as_uint(x)));
}
template <> __device__ __forceinline__ float atomic_max(float* at, float x) {
  if (__float_as_int(x) >= 0) return __int_as_float(atomicMax((int*)at, __float_as_int(x)));
  return __uint_as_float(atomicMin((unsigned*)at, __float_as_uint(x)));
}
template <> __device__ __forceinline__ double atomic_min(double* at, double x) {
  if (__double_as_longlong(x) >= 0) return __longlong_as_double(atomicMin((int64*)at, __double_as_longlong(x)));
  return __longlong_as_double((int64)atomicMax((uint64*)at, (uint64)__double_as_longlong(x)));
}
template <> __device__ __forceinline__ double atomic_max(double* at, double x) {
  if (__double_as_longlong(x) >= 0) return __longlong_as_double(atomicMax((int64*)at, __double_as_longlong(x)));
  return __longlong_as_double((int64)atomicMin((uint64*)at, (uint64)__double_as_longlong(x)));
}
template <class T> __device__ __forceinline__ T atomic_add(T* at, T x) { return atomicAdd(at, x); }
template <> __device__ __forceinline__ int64 atomic_add(int64* at, int64 x) { return (int64)atomicAdd((uint64*)at, (uint64)x); }
template <class T> __device__ __forceinline__ T atomic_or(T* at, T x) { return atomicOr(at, x); }
template <> __device__ __forceinline__ int64 atomic_or(int64* at, int64 x) { return (int64)atomicOr((uint64*)at, (uint64)x); }

template <class T> __device__ __forceinline__ T combine_or(T a, T b) { return a | b; }
template <> __device__ __forceinline__ float combine_or(float a, float b) { return a; }    // refused by kernel.py
template <> __device__ __forceinline__ double combine_or(double a, double b) { return a; }  // refused by kernel.py

template <class T>
__device__ __forceinline__ T merge(T a, T b) {
  if constexpr (COMBINE == MINIMUM) return b < a || a != a ? b : a;
  if constexpr (COMBINE == MAXIMUM) return b > a || a != a ? b : a;
  if constexpr (COMBINE == ADD) return a + b;
  return combine_or(a, b);
}

// Returns what lay there before.
template <class T>
__device__ __forceinline__ T fold(T* at, T x) {
  if constexpr (COMBINE == MINIMUM) return x == x ? atomic_min(at, x) : identity<T>();
  if constexpr (COMBINE == MAXIMUM) return x == x ? atomic_max(at, x) : identity<T>();
  if constexpr (COMBINE == ADD) return atomic_add(at, x);
  if constexpr (COMBINE == OR) return atomic_or(at, x);  // whole numbers only: kernel.py sees to it
  return x;
}

// The message as gatherFunc takes it.
template <class T>
__device__ __forceinline__ Gathered weighted(State& state, Message value, T weight) {
#if WEIGHTED
  return applyWeight(state, value, (Weight)weight);
#else
  return value;
#endif
}


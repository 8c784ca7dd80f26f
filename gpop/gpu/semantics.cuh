// Arithmetic that C++ leaves undefined or defines otherwise than Numba, under the same rules as the CPU:
// integers wrap around, // and % round towards minus infinity, dividing an integer by zero gives 0,
// a number of bits to shift by counts modulo 64 (x86), and a float that no integer holds gives the least one.
namespace gpop {

template <class T> struct Wide { typedef T U; typedef T S; };
template <> struct Wide<int> { typedef unsigned U; typedef int S; };
template <> struct Wide<unsigned> { typedef unsigned U; typedef int S; };
template <> struct Wide<long long> { typedef unsigned long long U; typedef long long S; };
template <> struct Wide<unsigned long long> { typedef unsigned long long U; typedef long long S; };
template <> struct Wide<unsigned char> { typedef unsigned char U; typedef signed char S; };
template <> struct Wide<short> { typedef unsigned U; typedef short S; };
template <> struct Wide<unsigned short> { typedef unsigned U; typedef short S; };

__device__ __forceinline__ bool negative(long long a) { return a < 0; }
__device__ __forceinline__ bool negative(unsigned long long) { return false; }

template <class T> __device__ __forceinline__ T add(T a, T b)
{
    typedef typename Wide<T>::U U;
    return (T)((U)a + (U)b);
}

template <class T> __device__ __forceinline__ T sub(T a, T b)
{
    typedef typename Wide<T>::U U;
    return (T)((U)a - (U)b);
}

template <class T> __device__ __forceinline__ T mul(T a, T b)
{
    typedef typename Wide<T>::U U;
    return (T)((U)a * (U)b);
}

template <class T> __device__ __forceinline__ T shift_left(T a, T b)
{
    return (T)((unsigned long long)a << ((unsigned)b & 63));
}

template <class T> __device__ __forceinline__ T shift_right(T a, T b) { return a >> ((unsigned)b & 63); }

__device__ __forceinline__ unsigned long long floor_div(unsigned long long a, unsigned long long b)
{
    return b == 0 ? 0 : a / b;
}

__device__ __forceinline__ long long floor_div(long long a, long long b)
{
    if (b == 0) return 0;
    if (b == -1) return a == sub(0ll, a) ? 0 : -a;  // the least integer has no counterpart: 0, as on the CPU
    long long quotient = a / b, rest = a % b;
    return rest != 0 && (rest ^ b) < 0 ? quotient - 1 : quotient;
}

__device__ __forceinline__ unsigned long long floor_mod(unsigned long long a, unsigned long long b)
{
    return b == 0 ? 0 : a % b;
}

__device__ __forceinline__ long long floor_mod(long long a, long long b)
{
    if (b == 0 || b == -1) return 0;
    long long rest = a % b;
    return rest != 0 && (rest ^ b) < 0 ? rest + b : rest;
}

// Floats: a function of C in the width of its argument.
__device__ __forceinline__ float remainder_of(float a, float b) { return ::fmodf(a, b); }
__device__ __forceinline__ double remainder_of(double a, double b) { return ::fmod(a, b); }
__device__ __forceinline__ float floor_of(float a) { return ::floorf(a); }
__device__ __forceinline__ double floor_of(double a) { return ::floor(a); }
__device__ __forceinline__ float nearest_even(float a) { return ::rintf(a); }
__device__ __forceinline__ double nearest_even(double a) { return ::rint(a); }

// CPython's float_divmod, as in Numba.
template <class T> __device__ __forceinline__ T float_mod(T a, T b)
{
    T rest = remainder_of(a, b);
    if (b == 0) return rest;
    if (rest == 0) return b < 0 ? (T)-0.0 : (T)0.0;
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

template <class T> __device__ __forceinline__ T float_floor_div(T a, T b)
{
    if (b == 0) return a / b;
    T rest = remainder_of(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient = quotient - 1;
    if (quotient < 0 || quotient > 0) {
        T whole = floor_of(quotient);
        return quotient - whole > (T)0.5 ? whole + 1 : whole;
    }
    return quotient * quotient * a / b;
}

// Float to integer: towards zero. Out of range and NaN: what the instructions of x86 give, the least
// integer of 32 or 64 bits; an unsigned result is cut out of the signed one of the next width.
__device__ __forceinline__ long long to_int64(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (long long)x : -9223372036854775807ll - 1;
}
__device__ __forceinline__ int to_int32(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int)x : -2147483647 - 1;
}
template <class T> __device__ __forceinline__ T to_integer(double x) { return (T)to_int32(x); }
template <> __device__ __forceinline__ unsigned to_integer<unsigned>(double x) { return (unsigned)to_int64(x); }
template <> __device__ __forceinline__ long long to_integer<long long>(double x) { return to_int64(x); }
template <> __device__ __forceinline__ unsigned long long to_integer<unsigned long long>(double x)
{
    const unsigned long long top = 1ull << 63;
    if (x >= 9223372036854775808.0) return (unsigned long long)to_int64(x - 9223372036854775808.0) | top;
    return (unsigned long long)to_int64(x);
}

// a ** b with a whole exponent: by squaring, in the type of the result.
template <class T, class E> __device__ __forceinline__ T power_by_squaring(T a, E exponent)
{
    T result = T(1);
    for (unsigned long long rest = (unsigned long long)exponent; rest != 0; rest >>= 1) {
        if (rest & 1) result = mul(result, a);
        a = mul(a, a);
    }
    return result;
}

template <class T, class E> __device__ __forceinline__ T integer_power(T a, E b)
{
    const E exponent = negative(b) ? sub(E(0), b) : b;
    if (negative(b)) {
        if (a == 0) return (T)(1ull << 63);
        if (a != 1 && (!negative(a) || a != T(-1))) return 0;
    }
    if (exponent > 0x10000) return to_integer<T>(::pow((double)a, (double)b));
    return power_by_squaring(a, exponent);
}

template <class T, class E> __device__ __forceinline__ T float_power(T a, E b)
{
    const E exponent = negative(b) ? sub(E(0), b) : b;
    if (exponent > 0x10000) return (T)::pow((double)a, (double)b);
    const T result = power_by_squaring(a, exponent);
    return negative(b) ? (T)(1.0 / (double)result) : result;
}

// round(x, digits)
template <class T> __device__ __forceinline__ T round_digits(T x, long long digits)
{
    if (!(x - x == 0)) return x;
    if (digits < 0) {
        const double scale = float_power(10.0, -digits);
        return (T)((double)nearest_even((T)((double)x / scale)) * scale);
    }
    const double scale = float_power(10.0, digits > 22 ? digits - 22 : digits), more = digits > 22 ? 1e22 : 1.0;
    const double y = (double)x * scale * more;
    if (y - y != 0) return x;
    return (T)((double)nearest_even((T)y) / more / scale);
}

// Iterations of range(start, stop, step).
template <class T> __device__ __forceinline__ T range_count(T start, T stop, T step)
{
    typedef typename Wide<T>::S S;
    const S by = (S)step, way = (S)sub(stop, start);
    if (by == 0 || way == 0 || (way > 0) != (by > 0)) return 0;
    const unsigned long long far = way > 0 ? (unsigned long long)way : sub(0ull, (unsigned long long)way);
    const unsigned long long each = by > 0 ? (unsigned long long)by : sub(0ull, (unsigned long long)by);
    return (T)((far + each - 1) / each);
}

// min and max of Python: the first one unless the second is smaller. np.minimum and np.maximum: NaN if there
// is one; np.fmin and np.fmax: a number if there is one.
template <class T> __device__ __forceinline__ T smaller(T a, T b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T larger(T a, T b) { return b > a ? b : a; }
template <class T> __device__ __forceinline__ T minimum(T a, T b) { return a != a || a <= b ? a : b; }
template <class T> __device__ __forceinline__ T maximum(T a, T b) { return a != a || a >= b ? a : b; }
template <class T> __device__ __forceinline__ T number_minimum(T a, T b) { return b != b || a <= b ? a : b; }
template <class T> __device__ __forceinline__ T number_maximum(T a, T b) { return b != b || a >= b ? a : b; }

template <class T> __device__ __forceinline__ T absolute(T a) { return a < 0 ? sub((T)0, a) : a; }
template <class T> __device__ __forceinline__ T square(T a) { return mul(a, a); }
template <class T> __device__ __forceinline__ T sign_of(T a)  // of an unsigned integer: of its signed bits
{
    typedef typename Wide<T>::S S;
    return (S)a > 0 ? (T)1 : (S)a < 0 ? (T)-1 : a;
}

template <class T> __device__ __forceinline__ bool is_nan(T a) { return a != a; }
template <class T> __device__ __forceinline__ bool is_finite(T a) { return a - a == 0; }
template <class T> __device__ __forceinline__ bool is_infinite(T a) { return a == a && a - a != 0; }

}  // namespace gpop

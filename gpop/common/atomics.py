"""What Numba does not offer: atomic claim, stores and loads in order, prefetch, waiting, a clock.

``fetch_add`` hands out partitions to threads (the only read-modify-write in the engine, a few
nanoseconds each, never inside scatter or gather). ``store_streaming`` writes messages that no cache
would hold until they are read. ``store_release`` and ``load_acquire`` publish
bins between threads in interleaved runs and phases between the threads of a team. ``pause`` and
``yield_core`` are the two steps of waiting; who has nothing to wait for soon sleeps (``sleep_while``, Linux's
futex; elsewhere it naps, and its caller looks again); ``clock_ns`` is the C library's monotonic clock,
``ns_of`` any of its clocks.
"""

from __future__ import annotations

import platform
import sys

from gpop.common.deferred import Later, intrinsic

ir, types, cgutils = Later("llvmlite.ir"), Later("numba.types"), Later("numba.core.cgutils")


def element_pointer(context, builder, signature, args):
    """Address of ``array[index]`` for the first two arguments."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, args[0])
    index = context.cast(builder, args[1], signature.args[1], types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, array, [index], wraparound=False)


@intrinsic
def fetch_add(typingctx, array, index, amount):
    """``old = array[index]; array[index] += amount; return old`` in one atomic step; of any numbers."""
    signature = array.dtype(array, index, array.dtype)
    operation = "fadd" if isinstance(array.dtype, types.Float) else "add"

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        return builder.atomic_rmw(operation, pointer, args[2], "acq_rel")

    return signature, codegen


@intrinsic
def compare_and_swap(typingctx, array, index, expected, value):
    """Store ``value`` if ``array[index] == expected``, in one atomic step; whether it was stored."""
    signature = types.boolean(array, index, array.dtype, array.dtype)

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire"), 1)

    return signature, codegen


@intrinsic
def load_acquire(typingctx, array, index):
    """``array[index]``; what was written before the matching release store is visible after it."""
    signature = array.dtype(array, index)

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        return builder.load_atomic(pointer, "acquire", align=array.dtype.bitwidth // 8)

    return signature, codegen


@intrinsic
def store_release(typingctx, array, index, value):
    """``array[index] = value`` after every earlier write of this thread has become visible."""
    signature = types.void(array, index, array.dtype)

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        builder.store_atomic(args[2], pointer, "release", align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return signature, codegen


# CLOCK_MONOTONIC has another number on Darwin.
_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1


def _read(builder, clock):
    """Nanoseconds of a clock of the C library."""
    timespec = ir.LiteralStructType([ir.IntType(64), ir.IntType(64)])
    slot = cgutils.alloca_once(builder, timespec)
    function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])
    function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
    builder.call(function, [clock, slot])
    seconds = builder.extract_value(builder.load(slot), 0)
    nanoseconds = builder.extract_value(builder.load(slot), 1)
    return builder.add(builder.mul(seconds, ir.Constant(ir.IntType(64), 10**9)), nanoseconds)


@intrinsic
def clock_ns(typingctx):
    """Monotonic time in nanoseconds (int64), about 25 ns a call."""

    def codegen(context, builder, sig, args):
        return _read(builder, ir.Constant(ir.IntType(32), _CLOCK_MONOTONIC))

    return types.int64(), codegen


@intrinsic
def ns_of(typingctx, clock):
    """The same of the clock with this number (int64), such as ``time.CLOCK_THREAD_CPUTIME_ID``."""

    def codegen(context, builder, sig, args):
        return _read(builder, builder.trunc(args[0], ir.IntType(32)))

    return types.int64(types.int64), codegen


_PAUSE = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}.get(platform.machine())


@intrinsic
def pause(typingctx):
    """Tell the core that this is a waiting loop (its other hardware thread may run)."""
    signature = types.void()

    def codegen(context, builder, sig, args):
        if _PAUSE is not None:
            name, constants = _PAUSE
            int32 = ir.IntType(32)
            function_type = ir.FunctionType(ir.VoidType(), [int32 for _ in constants])
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            builder.call(function, [int32(value) for value in constants])
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def yield_core(typingctx):
    """Let another runnable thread have this core (``sched_yield``)."""
    signature = types.void()

    def codegen(context, builder, sig, args):
        function_type = ir.FunctionType(ir.IntType(32), [])
        function = cgutils.get_or_insert_function(builder.module, function_type, "sched_yield")
        builder.call(function, [])
        return context.get_dummy_value()

    return signature, codegen


def _usleep(builder, microseconds):
    function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
    builder.call(cgutils.get_or_insert_function(builder.module, function_type, "usleep"), [microseconds])


@intrinsic
def sleep_us(typingctx, microseconds):
    """Sleep for at least so long (``usleep``)."""
    signature = types.void(types.uint32)

    def codegen(context, builder, sig, args):
        _usleep(builder, args[0])
        return context.get_dummy_value()

    return signature, codegen


FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" else None
"""The system's number of it; None where there is none."""

NAP_US = 500
"""Of who would sleep, where the system cannot be told to wake it; a few percent of a core for all that do."""

_WAIT, _WAKE = 128, 129  # among the threads of a process


def _futex(operation, name, text):
    """Intrinsic: call the system for a word of 32 bits, the lower half of ``array[index]`` (int64)."""

    def futex(typingctx, array, index, number):
        signature = types.void(array, index, types.int64)

        def codegen(context, builder, sig, args):
            if FUTEX is None:
                if operation == _WAIT:
                    _usleep(builder, ir.IntType(32)(NAP_US))
                return context.get_dummy_value()
            word = ir.IntType(64)
            pointer = builder.ptrtoint(element_pointer(context, builder, sig, args), word)
            function_type = ir.FunctionType(word, [word], var_arg=True)
            function = cgutils.get_or_insert_function(builder.module, function_type, "syscall")
            given = builder.and_(args[2], word(0xFFFFFFFF))
            builder.call(function, [word(FUTEX), pointer, word(operation), given, word(0)])
            return context.get_dummy_value()

        return signature, codegen

    futex.__name__, futex.__doc__ = name, text
    return intrinsic(futex)


sleep_while = _futex(
    _WAIT,
    "sleep_while",
    """Sleep until `wake_up` is called for ``array[index]``, or for no reason.

    Not at all if its lower half is not that of the third argument.
    """,
)
wake_up = _futex(_WAKE, "wake_up", """Wake so many of those that sleep for ``array[index]``.""")


@intrinsic
def popcount(typingctx, word):
    """Number of bits that are set in an unsigned integer."""
    signature = word(word)

    def codegen(context, builder, sig, args):
        return builder.ctpop(args[0])

    return signature, codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line of ``array[index]`` before it is read; the index need not be valid."""
    signature = types.void(array, index)

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        int8, int32 = ir.IntType(8), ir.IntType(32)
        pointer = builder.bitcast(pointer, int8.as_pointer())
        function_type = ir.FunctionType(ir.VoidType(), [int8.as_pointer(), int32, int32, int32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [pointer, int32(0), int32(3), int32(1)])  # read, keep in all levels, data
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def store_streaming(typingctx, array, index, value):
    """``array[index] = value`` past the caches: what is written is not fetched first, nor kept.

    Others see it after a `fence` of the writer, or an atomic update.
    """
    signature = types.void(array, index, array.dtype)

    def codegen(context, builder, sig, args):
        pointer = element_pointer(context, builder, sig, args)
        dtype = sig.args[0].dtype
        value = context.data_model_manager[dtype].as_data(builder, args[2])
        if isinstance(value.type, (ir.FloatType, ir.DoubleType)):  # there are such stores of integers only
            bits = ir.IntType(dtype.bitwidth)
            pointer, value = builder.bitcast(pointer, bits.as_pointer()), builder.bitcast(value, bits)
        store = builder.store(value, pointer)
        store.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def fence(typingctx):
    """All stores so far are visible to others before any that follows."""

    def codegen(context, builder, sig, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen

"""Machine instructions on 64-bit words that numba does not expose.

They are numba intrinsics on `uint64`, and functions made of these. PEXT exists only on x86 with
BMI2. `HAS_FAST_PEXT` says whether this machine has a fast one; AMD's Zen 1 and 2 run it in slow
microcode. The environment variable `OBSCURO_NO_PEXT`, set to anything but 0, switches it off.
"""

import os
import platform

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from obscuro.kernels import kernel
from obscuro.target_cpu import target_cpu

SLOW_PEXT_CPUS = frozenset({"znver1", "znver2", "bdver4"})


def _has_fast_pext() -> bool:
    if os.environ.get("OBSCURO_NO_PEXT", "0") not in ("", "0"):
        return False
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    name, features = target_cpu()
    return "bmi2" in features and name not in SLOW_PEXT_CPUS


HAS_FAST_PEXT = _has_fast_pext()


@intrinsic
def lowest_square(typingctx, bits):
    """Index of the lowest set bit of `bits` as int64; undefined for 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def popcount(typingctx, bits):
    """Number of set bits of `bits` as int64."""

    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)])
        return builder.call(function, [args[0]])

    return types.int64(types.uint64), codegen


@intrinsic
def byteswap(typingctx, bits):
    """`bits` with its bytes (the board's ranks) in reverse order."""

    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic("llvm.bswap", [ir.IntType(64)])
        return builder.call(function, [args[0]])

    return types.uint64(types.uint64), codegen


@intrinsic
def pext(typingctx, bits, mask):
    """The bits of `bits` under `mask`, packed into the low end. Needs BMI2: see `HAS_FAST_PEXT`."""

    def codegen(context, builder, signature, args):
        name = "llvm.x86.bmi.pext.64"
        word = ir.IntType(64)
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(word, [word, word]), name)
        return builder.call(function, [args[0], args[1]])

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def multiply_high(typingctx, x, y):
    """The upper 64 bits of the 128-bit product of two words."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@kernel(forceinline=True)
def folded_product(x, y):
    """The upper half of the 128-bit product of two words, xor the lower one. It mixes both well."""
    return (x * y) ^ multiply_high(x, y)


@intrinsic
def prefetch_row(typingctx, rows, index):
    """Ask for row `index` of a C-contiguous uint64[n, k] to be brought into the cache."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        width = builder.extract_value(array.shape, 1)
        index = builder.mul(args[1], width)
        address = builder.bitcast(builder.gep(array.data, [index]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, kind, name)
        # for writing, to be kept in all levels, data
        builder.call(function, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(rows, types.int64), codegen

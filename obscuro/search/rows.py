"""Sums over rows: an infoset's strategy against the values of a node's edges, in vector registers.

Rows have about 31 entries and begin anywhere, so that a loop that the compiler vectorises spends
most of its time on the entries left over. Here the last vector is masked instead. Without AVX-512
or AVX2 (or without compilation, in tests) the same functions are plain loops.

All take whole float32 arrays and where a row begins in each, as slices cost time here.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from obscuro.kernels import kernel
from obscuro.target_cpu import target_cpu

LANES_OF = {"avx512f": 16, "avx2": 8}  # by the CPU's feature, the best one first
_FLOAT, _WORD, _INDEX = ir.FloatType(), ir.IntType(32), ir.IntType(64)
COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]  # set at run time


def _lanes() -> int:
    """Entries of a vector on this machine; 0 where there are no masked loads."""
    if not COMPILED:
        return 0
    _, features = target_cpu()
    return next((lanes for feature, lanes in LANES_OF.items() if feature in features), 0)


LANES = _lanes()


@kernel(fastmath={"reassoc", "contract", "nsz"})
def dot_plain(x, x_first, y, y_first, count):
    """See `dot`."""
    total = x[x_first] * y[y_first]
    for k in range(1, count):
        total += x[x_first + k] * y[y_first + k]
    return total


@kernel(fastmath={"reassoc", "contract", "nsz"})
def dot_and_add_plain(x, x_first, y, y_first, out, out_first, scale, count):
    """See `dot_and_add`."""
    for k in range(count):
        out[out_first + k] += scale * y[y_first + k]
    return dot_plain(x, x_first, y, y_first, count)


@kernel(fastmath={"reassoc", "contract", "nsz"})
def dot_and_set_plain(x, x_first, y, y_first, out, out_first, scale, count):
    """See `dot_and_set`."""
    for k in range(count):
        out[out_first + k] = scale * y[y_first + k]
    return dot_plain(x, x_first, y, y_first, count)


class _Rows:
    """Writes the code of one of the functions: vectors of LANES entries, the last one masked."""

    def __init__(self, context: Any, builder: ir.IRBuilder, count: ir.Value) -> None:
        self.context, self.builder, self.count = context, builder, count
        self.vector = ir.VectorType(_FLOAT, LANES)
        self.words = ir.VectorType(_WORD, LANES)
        self.zero = ir.Constant(self.vector, [0.0] * LANES)
        self.align = ir.Constant(_WORD, 4)

    def row(self, array_type: types.Array, array: ir.Value, first: ir.Value) -> ir.Value:
        """The address of a row."""
        data = self.context.make_array(array_type)(self.context, self.builder, array).data
        return self.builder.gep(data, [first])

    def spread(self, value: ir.Value, vector: ir.VectorType) -> ir.Value:
        """A vector with `value` in all lanes."""
        nothing = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(nothing, value, ir.Constant(_WORD, 0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(self.words, [0] * LANES))

    def call(self, name: str, result: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
        """Call an intrinsic of LLVM on vectors."""
        name = f"llvm.{name}.v{LANES}f32" + (".p0" if name.startswith("masked") else "")
        of = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, of, name)
        reorder = ("reassoc",) if name.startswith("llvm.vector.reduce") else ()
        return self.builder.call(function, arguments, fastmath=reorder)

    def load(self, address: ir.Value, mask: ir.Value) -> ir.Value:
        """The entries at an address, 0 where the mask is."""
        return self.call("masked.load", self.vector, [address, self.align, mask, self.zero])

    def store(self, value: ir.Value, address: ir.Value, mask: ir.Value) -> None:
        """Write the entries under the mask."""
        self.call("masked.store", ir.VoidType(), [value, address, self.align, mask])

    def each(self, step: Callable[[ir.Value, ir.Value], None]) -> None:
        """Run step(index of the vector's first entry, mask) for every vector of the rows."""
        builder = self.builder
        lanes = ir.Constant(_INDEX, LANES)
        last = builder.add(self.count, ir.Constant(_INDEX, LANES - 1))
        with cgutils.for_range(builder, builder.udiv(last, lanes)) as loop:
            first = builder.mul(loop.index, lanes)
            left = builder.trunc(builder.sub(self.count, first), _WORD)
            numbers = ir.Constant(self.words, list(range(LANES)))
            step(first, builder.icmp_signed("<", numbers, self.spread(left, self.words)))

    def at(self, row: ir.Value, first: ir.Value) -> ir.Value:
        """The address of a vector in a row."""
        return self.builder.bitcast(self.builder.gep(row, [first]), self.vector.as_pointer())


def _dot(
    context: Any,
    builder: ir.IRBuilder,
    signature: Any,
    args: Sequence[ir.Value],
    scaled: Callable[[_Rows, ir.Value, ir.Value, ir.Value], None],
) -> ir.Value:
    """Code of the three functions; scaled(rows, index, mask, y's entries): what else is done."""
    rows = _Rows(context, builder, args[-1])
    x = rows.row(signature.args[0], args[0], args[1])
    y = rows.row(signature.args[2], args[2], args[3])
    total = cgutils.alloca_once_value(builder, rows.zero)

    def step(first: ir.Value, mask: ir.Value) -> None:
        entries = rows.load(rows.at(y, first), mask)
        product = builder.fmul(rows.load(rows.at(x, first), mask), entries, flags=("contract",))
        builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        scaled(rows, first, mask, entries)

    rows.each(step)
    start = ir.Constant(_FLOAT, 0.0)
    return rows.call("vector.reduce.fadd", _FLOAT, [start, builder.load(total)])


def _dot_and(
    context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value], *, add: bool
) -> ir.Value:
    """Code of `dot_and_add` and `dot_and_set`."""

    def scaled(rows: _Rows, first: ir.Value, mask: ir.Value, entries: ir.Value) -> None:
        out = rows.row(signature.args[4], args[4], args[5])
        scale = rows.spread(args[6], rows.vector)
        value = builder.fmul(entries, scale, flags=("contract",))
        address = rows.at(out, first)
        if add:
            value = builder.fadd(rows.load(address, mask), value, flags=("contract",))
        rows.store(value, address, mask)

    return _dot(context, builder, signature, args, scaled)


_COUNT = types.int64


@intrinsic
def _dot_vector(typingctx, x, x_first, y, y_first, count):
    def codegen(context, builder, signature, args):
        return _dot(context, builder, signature, args, lambda *_: None)

    return types.float32(x, _COUNT, y, _COUNT, _COUNT), codegen


@intrinsic
def _dot_and_add_vector(typingctx, x, x_first, y, y_first, out, out_first, scale, count):
    def codegen(context, builder, signature, args):
        return _dot_and(context, builder, signature, args, add=True)

    return types.float32(x, _COUNT, y, _COUNT, out, _COUNT, types.float32, _COUNT), codegen


@intrinsic
def _dot_and_set_vector(typingctx, x, x_first, y, y_first, out, out_first, scale, count):
    def codegen(context, builder, signature, args):
        return _dot_and(context, builder, signature, args, add=False)

    return types.float32(x, _COUNT, y, _COUNT, out, _COUNT, types.float32, _COUNT), codegen


dot = _dot_vector if LANES else dot_plain
"""dot(x, x_first, y, y_first, count): Σ x[x_first + k] · y[y_first + k], k < count, float32."""
dot_and_add = _dot_and_add_vector if LANES else dot_and_add_plain
"""dot_and_add(x, x_first, y, y_first, out, out_first, scale, count): `dot` of x and y, and
out[out_first + k] += scale · y[y_first + k]."""
dot_and_set = _dot_and_set_vector if LANES else dot_and_set_plain
"""The same, with = instead of +=."""


@intrinsic
def _prefetch_row(typingctx, array, first):
    def codegen(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), byte)
        of = ir.FunctionType(ir.VoidType(), [byte, _WORD, _WORD, _WORD])
        prefetch = cgutils.get_or_insert_function(builder.module, of, "llvm.prefetch.p0")
        read, keep, data_cache = (ir.Constant(_WORD, number) for number in (0, 3, 1))
        builder.call(prefetch, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, _COUNT), codegen


@kernel
def _no_prefetch(array, first):
    """Do nothing."""


prefetch_row = _prefetch_row if COMPILED else _no_prefetch
"""prefetch_row(array, first): fetch the cache line with array[first], which will be read soon."""

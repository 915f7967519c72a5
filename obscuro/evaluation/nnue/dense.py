"""The network's first layer, which does most of the multiplications: 16 sums over all L1 inputs.

There are four implementations with equal results to the last bit. The import of this module chooses
`first_layer`, the fastest one that this CPU supports. All are public so that tests can compare
them, but only those in `AVAILABLE` compile on this CPU. The environment variable `OBSCURO_SIMD`
names the one to use; a name that the CPU does not support has no effect.

A product has an unsigned factor of at most 126 and a signed weight. The sum of two products fits
into 16 bits, so AVX2's saturating `vpmaddubsw` is exact.
"""

import os
import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from obscuro.evaluation.nnue.network import FC0_OUTPUTS, FC1_INPUTS, FC1_OUTPUTS
from obscuro.kernels import kernel
from obscuro.target_cpu import target_cpu

HIGHEST = 127  # the input of a layer that stands for 1
WEIGHT_SHIFT = 6  # the weight 1 << 6 of a layer stands for 1

# Called with (builder, sums, inputs, weights): adds to each 32-bit sum the products of four inputs
# and four weights.
AddProducts = Callable[[Any, Any, Any, Any], Any]

_BYTE, _SHORT, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))


def _function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Return the LLVM function with this name, and declare it if necessary."""
    found = builder.module.globals.get(name)
    return found or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def _add_products_by_vnni(bits: int) -> AddProducts:
    """Add the products of four bytes to 32-bit sums by one instruction, in vectors of `bits`."""
    sums = ir.VectorType(_WORD, bits // 32)
    # Since LLVM 21 the operands are vectors of bytes; before, they had the type of the sums.
    operand = ir.VectorType(_BYTE, bits // 8) if llvm.llvm_version_info[0] >= 21 else sums

    def add_products(builder: Any, total: Any, inputs: Any, weights: Any) -> Any:
        add = _function(builder, f"llvm.x86.avx512.vpdpbusd.{bits}", sums, [sums, operand, operand])
        inputs, weights = (builder.bitcast(vector, operand) for vector in (inputs, weights))
        return builder.call(add, [total, inputs, weights])

    return add_products


def _add_products_by_avx2(builder: Any, total: Any, inputs: Any, weights: Any) -> Any:
    """Add the products of four bytes to 32-bit sums in three steps, in vectors of 256 bits."""
    octets, shorts, words = (
        ir.VectorType(kind, 256 // kind.width) for kind in (_BYTE, _SHORT, _WORD)
    )
    multiply = _function(builder, "llvm.x86.avx2.pmadd.ub.sw", shorts, [octets, octets])
    add_pairs = _function(builder, "llvm.x86.avx2.pmadd.wd", words, [shorts, shorts])
    pairs = builder.call(multiply, [inputs, weights])
    fours = builder.call(add_pairs, [pairs, ir.Constant(shorts, [1] * (256 // 16))])
    return builder.add(total, fours)


def _make_layer(add_products: AddProducts, bits: int, rows: int) -> Any:
    """Make a first layer that reads inputs in vectors of `bits` and does `rows` sums at once."""
    octets, words = ir.VectorType(_BYTE, bits // 8), ir.VectorType(_WORD, bits // 32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        inputs, weights, sums = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1, 3)
        )
        halves, half = (builder.extract_value(inputs.shape, axis) for axis in (0, 1))
        width = builder.mul(halves, half)
        add_up = _function(builder, f"llvm.vector.reduce.add.v{bits // 32}i32", _WORD, [words])

        def load(array: Any, offset: Any) -> Any:
            address = builder.bitcast(builder.gep(array.data, [offset]), octets.as_pointer())
            return builder.load(address, align=1)

        for first in range(0, FC0_OUTPUTS, rows):
            numbers = [ir.Constant(_LONG, first + row) for row in range(rows)]
            starts = [
                builder.mul(
                    builder.add(builder.mul(args[2], ir.Constant(_LONG, FC0_OUTPUTS)), number),
                    width,
                )
                for number in numbers
            ]
            before = builder.block
            body = builder.append_basic_block("first_layer")
            after = builder.append_basic_block("first_layer_done")
            builder.branch(body)
            builder.position_at_end(body)
            at = builder.phi(_LONG)
            at.add_incoming(ir.Constant(_LONG, 0), before)
            totals = [builder.phi(words) for _ in numbers]
            vector = load(inputs, at)
            added = [
                add_products(builder, total, vector, load(weights, builder.add(start, at)))
                for total, start in zip(totals, starts, strict=True)
            ]
            for total, new in zip(totals, added, strict=True):
                total.add_incoming(ir.Constant(words, [0] * words.count), before)
                total.add_incoming(new, body)
            following = builder.add(at, ir.Constant(_LONG, bits // 8))
            at.add_incoming(following, body)
            builder.cbranch(builder.icmp_unsigned("<", following, width), body, after)
            builder.position_at_end(after)
            for number, new in zip(numbers, added, strict=True):
                address = builder.gep(sums.data, [number])
                total = builder.call(add_up, [new])
                builder.store(builder.add(builder.load(address), total), address)
        return context.get_dummy_value()

    @intrinsic
    def layer(typingctx, inputs, weights, bucket, sums):
        """See `first_layer_plain`."""
        return types.void(inputs, weights, types.int64, sums), codegen

    return layer


@kernel
def first_layer_plain(inputs, weights, bucket, sums):
    """Add the products of inputs and one bucket's weights to the sums.

    inputs: uint8[2, n]. weights: int8[8, 16, 2, n]. sums: int32[16].

    All arrays are C-contiguous, n is a multiple of 32, and inputs are at most 126. This version
    uses plain loops.
    """
    for row in range(FC0_OUTPUTS):
        total = np.int32(0)
        for half in range(2):
            for k in range(inputs.shape[1]):
                total += np.int32(inputs[half, k]) * np.int32(weights[bucket, row, half, k])
        sums[row] += total


# As many rows at a time as fit into the CPU's 32 or 16 vector registers with their operands.
first_layer_avx512 = _make_layer(_add_products_by_vnni(512), 512, 16)
first_layer_avxvnni = _make_layer(_add_products_by_vnni(256), 256, 8)
first_layer_avx2 = _make_layer(_add_products_by_avx2, 256, 8)

LAYERS = {
    "avx512": first_layer_avx512,
    "avxvnni": first_layer_avxvnni,
    "avx2": first_layer_avx2,
    "plain": first_layer_plain,
}
_NEEDS = {
    "avx512": ("avx512f", "avx512bw", "avx512vnni"),
    "avxvnni": ("avx2", "avxvnni"),
    "avx2": ("avx2",),
    "plain": (),
}


def _available() -> tuple[str, ...]:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ("plain",)
    _, features = target_cpu()
    return tuple(name for name in LAYERS if features.issuperset(_NEEDS[name]))


AVAILABLE = _available()
_asked = os.environ.get("OBSCURO_SIMD", "").lower()
CHOSEN = _asked if _asked in AVAILABLE else AVAILABLE[0]
first_layer = LAYERS[CHOSEN]


@intrinsic
def last_layers(typingctx, inputs, fc1_bias, fc1, fc2_bias, fc2, bucket):
    """Return the result, int64, of one bucket's second and third layer for inputs int32[32].

    Inputs are in [0, 127]. The code operates on whole vectors, which LLVM splits for the CPU. LLVM
    does not vectorise loops of 32 steps by itself.
    """
    outputs = ir.VectorType(_WORD, FC1_OUTPUTS)

    def codegen(context, builder, signature, args):
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:-1], args[:-1], strict=True)
        ]
        activations, bias, weights, last_bias, last_weights = (array.data for array in arrays)

        def load(base, rows_before):
            """Load the row of 32 numbers after `rows_before` others."""
            offset = builder.mul(rows_before, _LONG(FC1_OUTPUTS))
            address = builder.bitcast(builder.gep(base, [offset]), outputs.as_pointer())
            return builder.load(address, align=4)

        def splat(number):
            undefined = ir.Constant(outputs, ir.Undefined)
            first = builder.insert_element(undefined, number, _WORD(0))
            return builder.shuffle_vector(
                first, undefined, ir.Constant(outputs, [0] * outputs.count)
            )

        sums = load(bias, args[-1])
        start = builder.mul(args[-1], _LONG(FC1_INPUTS))
        for k in range(2 * (FC0_OUTPUTS - 1)):  # the others are padding
            activation = splat(builder.load(builder.gep(activations, [_LONG(k)])))
            row = load(weights, builder.add(start, _LONG(k)))
            sums = builder.add(sums, builder.mul(activation, row))
        sums = builder.ashr(sums, splat(_WORD(WEIGHT_SHIFT)))
        for limit, beyond in ((0, "<"), (HIGHEST, ">")):
            bound = splat(_WORD(limit))
            sums = builder.select(builder.icmp_signed(beyond, sums, bound), bound, sums)
        products = builder.mul(sums, load(last_weights, args[-1]))
        add_up = _function(builder, "llvm.vector.reduce.add.v32i32", _WORD, [outputs])
        result = builder.add(
            builder.call(add_up, [products]), builder.load(builder.gep(last_bias, [args[-1]]))
        )
        return builder.sext(result, _LONG)

    return types.int64(inputs, fc1_bias, fc1, fc2_bias, fc2, types.int64), codegen

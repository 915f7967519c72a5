"""How threads inside compiled code share out the tasks of a phase, and wait for its end.

A phase has tasks that may run side by side. Each is done by the thread that claims it first, so a
phase waits for nobody who has not begun: where the machine has fewer free cores than there are
threads, those that run do the work. What a phase computes does not depend on who does what.

A thread that waits spins at first, since the others are done within microseconds. Then it sleeps
between two looks, so that its core is free for a thread that has something to do.
"""

import os
import platform
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from obscuro.kernels import kernel

Sync = npt.NDArray[np.int64]

PADDING: Final = 16  # int64 between two counters, so that they do not share a cache line
LOOKS = 4000  # before a waiting thread sleeps: some 100 µs
NAP = 20  # µs

_WORD = ir.IntType(64)
_INT64 = types.int64


def new_sync(tasks: int) -> Sync:
    """What threads need to share out phases of up to so many tasks: int64[(tasks + 1) · PADDING].

    At k · PADDING it holds the last phase in which task k was claimed; then the tasks done so far.
    """
    return np.zeros((tasks + 1) * PADDING, dtype=np.int64)


def _address(context: Any, builder: ir.IRBuilder, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def _atomic(operation: str) -> Any:
    def typed(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _address(context, builder, signature.args[0], *args[:2])
            return builder.atomic_rmw(operation, address, args[2], "acq_rel")

        return _INT64(array, _INT64, _INT64), codegen

    return intrinsic(typed)


_raise = _atomic("max")  # array[index] = max(array[index], value), at once; returns the old one
_add = _atomic("add")


@intrinsic
def _load(typingctx, array, index):
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], *args)
        return builder.load_atomic(address, "acquire", 8)

    return _INT64(array, _INT64), codegen


@intrinsic
def _pause(typingctx):
    """Tell the core that this loop waits, so that its other half runs faster."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            of = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, of, name), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _sleep(typingctx):
    """Sleep for NAP."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if os.name == "posix":
            number = ir.IntType(32)
            of = ir.FunctionType(number, [number])
            sleep = cgutils.get_or_insert_function(builder.module, of, "usleep")
            builder.call(sleep, [ir.Constant(number, NAP)])
        return context.get_dummy_value()

    return types.void(), codegen


@kernel
def claim(sync, task, phase):
    """Whether the calling thread is the one to do this task in this phase; phases count from 1."""
    place = task * PADDING
    return _load(sync, place) < phase and _raise(sync, place, phase) < phase


@kernel
def finish(sync):
    """Note that a claimed task is done."""
    _add(sync, sync.shape[0] - PADDING, 1)


@kernel
def wait_for(sync, tasks):
    """Wait until so many tasks are done, of all phases so far."""
    looks = 0
    while _load(sync, sync.shape[0] - PADDING) < tasks:
        looks += 1
        if looks < LOOKS:
            _pause()
        else:
            _sleep()

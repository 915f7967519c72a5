"""How threads that compute together share out what there is to do, and wait for each other.

A phase has tasks that may run side by side. Each is done by the thread that claims it first, so a
phase waits for no thread that has not begun: where the machine has fewer free cores than there are
threads, those that run do the work. What a phase computes does not depend on who does what.

At the desk one thread, the host, offers phases and leaves to the others, its guests. A guest stands
there until something is offered, and comes back when it is done; it needs Python's lock for none of
that. The host may change what the phases compute on when no guest takes part in them.

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
NAPS = 20, 100  # µs, of the first MANY sleeps and of later ones
MANY = 50

_WORD = ir.IntType(64)
_INT64 = types.int64


def new_sync(tasks: int) -> Sync:
    """What threads need to share out phases of up to `tasks` tasks: int64[(tasks + 1) · PADDING].

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
            return builder.atomic_rmw(operation, address, args[2], "seq_cst")

        return _INT64(array, _INT64, _INT64), codegen

    return intrinsic(typed)


_raise = _atomic("max")  # array[index] = max(array[index], value), at once; returns the old one
_add = _atomic("add")


@intrinsic
def _load(typingctx, array, index):
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], *args)
        return builder.load_atomic(address, "seq_cst", 8)

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
def _sleep(typingctx, microseconds):
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if os.name == "posix":
            number = ir.IntType(32)
            of = ir.FunctionType(number, [number])
            sleep = cgutils.get_or_insert_function(builder.module, of, "usleep")
            builder.call(sleep, [builder.trunc(args[0], number)])
        return context.get_dummy_value()

    return types.void(_INT64), codegen


@kernel
def rest(looks):
    """Wait for a moment, longer after many looks; returns their number with this one."""
    if looks < LOOKS:
        _pause()
    else:
        _sleep(NAPS[0] if looks < LOOKS + MANY else NAPS[1])
    return looks + 1


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
    """Wait until `tasks` tasks are done, of all phases so far."""
    looks = 0
    while _load(sync, sync.shape[0] - PADDING) < tasks:
        looks = rest(looks)


Desk = npt.NDArray[np.int64]

# What is counted at a desk: phases that were opened for guests, and that are closed again; guests
# that take part in them; parts of leaves that were offered, and that were taken; what the phases
# compute on has changed; all is over.
OPENED, CLOSED, GUESTS, OFFERED, TAKEN, CHANGES, ENDED = range(7)
NO_PART = -1
TIRED = -2


def new_desk() -> Desk:
    """A desk where nothing is offered yet: int64[entries · PADDING]."""
    return np.zeros((ENDED + 1) * PADDING, dtype=np.int64)


@kernel
def count(desk, entry, number):
    """Add to one of the desk's entries."""
    _add(desk, entry * PADDING, number)


@kernel
def counted(desk, entry):
    """Return one of the desk's entries."""
    return _load(desk, entry * PADDING)


@kernel
def take_part(desk):
    """Return the number of a part of leaves, from 0, which is the calling guest's then; or NO_PART."""
    while True:
        taken = _load(desk, TAKEN * PADDING)
        if taken >= _load(desk, OFFERED * PADDING):
            return NO_PART
        if _raise(desk, TAKEN * PADDING, taken + 1) == taken:
            return taken


@kernel
def withdraw(desk):
    """Offer no part any longer that nobody has taken."""
    _raise(desk, TAKEN * PADDING, _load(desk, OFFERED * PADDING))


@kernel
def close_phases(desk):
    """End the phases for guests; returns when no guest takes part in them."""
    _add(desk, CLOSED * PADDING, 1)
    looks = 0
    while _load(desk, GUESTS * PADDING) > 0:
        looks = rest(looks)


@kernel
def enter(desk, changes, most):
    """Whether the calling guest may take part in phases now; it must `leave` them then.

    changes: what it has seen of the desk's entry CHANGES. most: so many guests may take part.
    """
    guests, opened, closed = GUESTS * PADDING, OPENED * PADDING, CLOSED * PADDING
    if _load(desk, opened) == _load(desk, closed) or _load(desk, guests) >= most:
        return False
    welcome = _add(desk, guests, 1) < most
    # The host waits for us from now on. It may have closed, or closed and opened again, before.
    if (
        welcome
        and _load(desk, opened) != _load(desk, closed)
        and _load(desk, CHANGES * PADDING) == changes
    ):
        return True
    _add(desk, guests, -1)
    return False


@kernel
def leave(desk):
    """Note that a guest no longer takes part."""
    _add(desk, GUESTS * PADDING, -1)


@kernel
def wait_as_guest(sync, tasks, desk, patience):
    """As `wait_for`, but for `patience` looks, and only while no part of leaves is offered.

    Returns NO_PART when the tasks are done, the number of a part that it has taken, or TIRED: a guest
    sleeps at the desk, where the host does not wait for it.
    """
    looks = 0
    while _load(sync, sync.shape[0] - PADDING) < tasks:
        part = take_part(desk)
        if part != NO_PART:
            return part
        if looks >= patience:
            return TIRED
        looks = rest(looks)
    return NO_PART

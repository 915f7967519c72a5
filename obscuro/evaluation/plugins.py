"""Register, find and make plug-in evaluators. See docs/evaluators.md.

A plug-in is a name and a factory: a callable that takes `tau` (the number of pawns worth tanh(1))
and returns an `Evaluator`. There are three ways to register one:

- an entry point of the group `obscuro.evaluators` in an installed package;
- the environment variable `OBSCURO_EVALUATORS`, `name=module:factory`, several separated by commas;
- `register`, from Python.

So only the user who installs or starts the engine can add plug-ins. The protocol can only choose
among their names.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from obscuro.evaluation.evaluator import ChildValues, Evaluator, EvaluatorFailed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

GROUP = "obscuro.evaluators"
VARIABLE = "OBSCURO_EVALUATORS"
_NAME = re.compile(r"[A-Za-z][\w.-]*")

Factory = Callable[..., Evaluator]
"""Called with `tau=` once for each thread. It may load heavy modules only when called."""

_registered: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Register an evaluator's factory under a name of letters, digits, `.`, `_` and `-`.

    Raises ValueError if the name has other characters, or does not begin with a letter.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid name for an evaluator")
    _registered[name] = factory


def plugin_names() -> tuple[str, ...]:
    """Return the names of all plug-ins, sorted, without loading any of them."""
    return tuple(sorted({*_registered, *_from_environment(), *_installed()}))


def make_plugin(name: str, tau: float) -> Evaluator:
    """Make a wrapper that checks the plug-in of this name.

    The wrapper makes the plug-in when it is first needed, so this function never fails.
    """
    return CheckedEvaluator(name, lambda: _factory(name)(tau=tau))


def _factory(name: str) -> Factory:
    registered = _registered.get(name)
    return registered or _load((_installed() | _from_environment())[name])


def _from_environment() -> dict[str, str]:
    """Parse the environment variable to names and `module:factory`; skip unreadable entries."""
    pairs = (item.partition("=") for item in os.environ.get(VARIABLE, "").split(","))
    return {
        name.strip(): target.strip() for name, _, target in pairs if _NAME.fullmatch(name.strip())
    }


@functools.cache
def _installed() -> dict[str, str]:
    """Return the names and `module:factory` of installed entry points."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes some milliseconds

    return {
        point.name: point.value
        for point in entry_points(group=GROUP)
        if _NAME.fullmatch(point.name)
    }


def _load(target: str) -> Factory:
    module, _, attribute = target.partition(":")
    found: object = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{target} is not callable")
    return found


class CheckedEvaluator:
    """A wrapper that checks a plug-in and turns its errors into EvaluatorFailed.

    make: makes the plug-in; called when the plug-in is first needed.
    """

    def __init__(self, name: str, make: Callable[[], Evaluator]) -> None:
        self.name = name
        self._make = make
        self._made: Evaluator | None = None

    def start(self) -> None:
        """Make and start the plug-in. See `Evaluator`."""
        with self._failures():
            self._evaluator.start()

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the checked values of all children of uint64[n, 8]. See `Evaluator`."""
        with self._failures():
            values = self._evaluator.evaluate(positions)
            _check(values, len(positions))
        return values

    def forget(self) -> None:
        """Let the plug-in forget. See `Evaluator`."""
        if self._made is not None:
            self._made.forget()

    def close(self) -> None:
        """Close the plug-in. See `Evaluator`."""
        if self._made is not None:
            self._made.close()

    @property
    def _evaluator(self) -> Evaluator:
        if self._made is None:
            self._made = self._make()
        return self._made

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except EvaluatorFailed:
            raise
        except Exception as error:
            reason = f"the evaluator {self.name} failed: {type(error).__name__}: {error}"
            raise EvaluatorFailed(reason) from error


def _check(found: ChildValues, positions: int) -> None:
    """Raise ValueError unless `found` has the shapes, types and range for `positions` positions."""
    import numpy as np  # noqa: PLC0415 - the answer to `uci` does not need it

    if found.offsets.shape != (positions + 1,) or found.offsets[0] != 0:
        raise ValueError(f"offsets of {positions} positions have the shape {found.offsets.shape}")
    children = int(found.offsets[-1])
    for field, kind in (("moves", np.uint32), ("values", np.float32), ("terminal", np.uint8)):
        array = getattr(found, field)
        if array.shape != (children,) or array.dtype != kind:
            raise ValueError(f"{field} of {children} children are {array.dtype}{array.shape}")
    if not (np.abs(found.values) <= 1).all():
        raise ValueError("a value is not in [-1, 1]")

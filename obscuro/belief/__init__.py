"""The belief of one side: P, every position that explains what the side did and saw.

Importing this package costs nothing. The names below load at their first use, with their kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obscuro.belief.belief import Belief, ContradictionError, Update, warm_up

__all__ = ["Belief", "ContradictionError", "Update", "warm_up"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from obscuro.belief import belief  # noqa: PLC0415

        return getattr(belief, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

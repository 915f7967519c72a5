"""The rules of Fog of War chess: what a side sees and observes, and when the game ends.

Importing this package costs nothing: the names below load python-chess when they are first used,
and the compiled kernels load only with the modules that hold them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obscuro.rules.board import FogOfWarBoard
    from obscuro.rules.observation import Observation

__all__ = ["FogOfWarBoard", "Observation"]


def __getattr__(name: str) -> object:
    if name == "FogOfWarBoard":
        from obscuro.rules.board import FogOfWarBoard  # noqa: PLC0415

        return FogOfWarBoard
    if name == "Observation":
        from obscuro.rules.observation import Observation  # noqa: PLC0415

        return Observation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

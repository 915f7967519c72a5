"""Who is told a game ply by ply. Importing this loads no package, not even python-chess."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from obscuro.rules.observation import Observation


class PlyListener(Protocol):
    """Receives a game ply by ply, as `obscuro.engine.player.Player` does."""

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Record the own move and the observation after it (None: unknown)."""

    def opponent_move(self, observation: Observation) -> None:
        """Record the observation after the other side's move."""

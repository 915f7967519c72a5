"""Defaults of `obscuro bridge` that are compared with what the user gave."""

from __future__ import annotations

DRAW_SCORE = -100
"""Centipawns for our side at which a draw is taken."""
DRAW_MOVES = 20
"""Moves before which no draw is taken."""

"""Where the true position was in an engine's last search, as the engine itself answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an engine knew of the true position when it chose a move. None: it did not say.

    in_belief: whether the position is in P. in_infoset: whether it is among the positions of the
    search's root infoset. expanded: whether the search expanded it. weight: its probability in the
    search, in [0, 1].
    """

    in_belief: bool | None = None
    in_infoset: bool | None = None
    expanded: bool | None = None
    weight: float | None = None

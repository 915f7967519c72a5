"""The error that tells what is wrong with a caller's game."""

from __future__ import annotations

from collections.abc import Sequence


class GameFaultError(ValueError):
    """A game breaks a promise of `ExtensiveForm`, or what a player was told does not fit it.

    fault: what is wrong, in one sentence without its full stop. histories: the actions, chance's
    included, of the history that shows it; two histories where the fault is a difference.
    """

    def __init__(self, name: str, fault: str, *histories: Sequence[int]) -> None:
        """name: of the game."""
        self.fault = fault
        self.histories = tuple(tuple(history) for history in histories)
        shown = " and after ".join(str(list(history)) for history in self.histories)
        super().__init__(f"{name}: {fault}" + (f": after {shown}" if shown else ""))

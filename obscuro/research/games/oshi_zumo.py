"""Oshi-zumo: both players pay coins to push a wrestler, and see only who has paid more.

The game tree makes simultaneous bids one after the other and hides the first from the second
player.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import MAX, MIN


class OshiZumoState(NamedTuple):
    """One state of `OshiZumo`: the coins that ▲ and ▼ have bid in each round."""

    bids: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


class OshiZumo:
    """Oshi-zumo with imperfect information (Kovařík et al., *Value functions …*, App. C.3).

    Who bids more pushes the wrestler by one location, and wins if that pushes it off the field.
    Who has no coin left while the other has one loses, or suffers the other's pushes. If both have
    none, the wrestler decides: it lies on the loser's side, and in the middle it is a draw. The
    winner gets 1.

    Parameters
    ----------
    coins : int
        N, what each player starts with.
    reach : int
        K: the field has 2 K + 1 locations.
    least : int
        M, the least bid.
    push_on : bool
        Whether a player whose opponent has run out of coins pushes once for each coin of its own,
        in place of winning at once.

    """

    scale = 1.0

    def __init__(
        self, coins: int = 8, reach: int = 1, least: int = 1, *, push_on: bool = False
    ) -> None:
        """Note the rules."""
        self.coins = coins
        self.reach = reach
        self.least = least
        self.push_on = push_on
        self.name = f"oshi_zumo_{coins}_{reach}_{least}" + "_push_on" * push_on

    def start(self) -> OshiZumoState:
        """Return the state before the first bid."""
        return OshiZumoState()

    def player(self, state: OshiZumoState) -> int:
        """Return who moves: ▲ bids, then ▼."""
        mine, theirs = state.bids
        if len(mine) > len(theirs):
            return MIN
        if abs(self._place(state)) > self.reach or not all(self._left(bids) for bids in state.bids):
            return TERMINAL
        return MAX

    def actions(self, state: OshiZumoState) -> Sequence[int]:
        """Return the bids that the player can make; with too few coins for the least one, all."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        left = self._left(state.bids[player])
        return range(min(self.least, left), left + 1)

    def chances(self, state: OshiZumoState) -> Sequence[float]:
        """Return nothing: there is no chance in the game."""
        return []

    def apply(self, state: OshiZumoState, action: int) -> OshiZumoState:
        """Return the state after `action`."""
        mine, theirs = state.bids
        if self.player(state) == MAX:
            return OshiZumoState(((*mine, action), theirs))
        return OshiZumoState((mine, (*theirs, action)))

    def payoff(self, state: OshiZumoState) -> float:
        """Return 1 if ▲ has won, −1 if ▼ has, 0 for a draw."""
        place = self._place(state)
        if abs(place) <= self.reach:
            mine, theirs = map(self._left, state.bids)
            if self.push_on:
                place += mine - theirs  # one of them is 0
            elif mine or theirs:
                return 1.0 if mine else -1.0
        return float((place > 0) - (place < 0))

    def observation(self, state: OshiZumoState, player: int) -> Observation:
        """Return the number of bids, who won each round (1: ▲, −1: ▼, 0: none), and who has none.

        A player sees that the other one has no coin left, because the game is over then.
        """
        made = sum(map(len, state.bids))
        over = self.player(state) == TERMINAL
        return (made, int(over), *self.pushes(state))

    def pushes(self, state: OshiZumoState) -> list[int]:
        """Return who won each round in which both have bid: 1 for ▲, −1 for ▼, 0 for none."""
        return [(a > b) - (a < b) for a, b in zip(*state.bids, strict=False)]

    def _place(self, state: OshiZumoState) -> int:
        """Return where the wrestler is: −K … K on the field, and ▲ pushes upwards."""
        return sum(self.pushes(state))

    def _left(self, bids: tuple[int, ...]) -> int:
        return self.coins - sum(bids)

"""Play OpenSpiel's games by the search: matches against its IS-MCTS and MCCFR, and exploitability.

    python -m tools.play.any_game
    python -m tools.play.any_game --games leduc phantom_ttt --number 20 --seconds 0.1
    python -m tools.play.any_game --games kuhn --rivals --exact 500 2000

Without options this is the whole table of docs/any_game.md: 200 games against each rival, in both
seats by turns, and the exact exploitability of what is played in the small games. A match has one
thread. The rivals:

    ismcts   OpenSpiel's IS-MCTS with random playouts and as many seconds a move as the search. In
             games that OpenSpiel cannot resample it is OpenSpiel's version in Python, and draws its
             worlds from the belief of `obscuro.anygame`.
    mccfr    the average policy of OpenSpiel's MCCFR after `--train` seconds; it needs no time then.
             External sampling in the small games, outcome sampling in the others.

A result is the search's mean payoff with its standard error. Exploitability is the mean loss of the
played strategy to a best response, in the game's units. It is computed for `--exact` iterations of
the solver a turn, and only in games whose players know how many plies were made.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from obscuro.anygame.game_player import GamePlayer
from obscuro.anygame.game_referee import SeatedPlayer, play
from obscuro.anygame.histories import HistoryTable
from obscuro.anygame.history_belief import HistoryBelief
from obscuro.anygame.play_settings import PlaySettings
from obscuro.anygame.played_strategy import played_strategy
from obscuro.games.best_response import exploitability
from obscuro.games.extensive_form import Observation
from obscuro.games.game_tree import enumerate_game
from obscuro.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN
from tools.common import given, publish, say, table, tool_parser

NUMBER: Final = 200
SECONDS: Final = 0.2
TRAIN: Final = 60.0
EXACT: Final = (500, 2000)
EXPLORATION: Final = 2.0  # of IS-MCTS
OUTCOME_EPSILON: Final = 0.6  # of outcome sampling; OpenSpiel's default
FIRST_SIMULATIONS: Final = 100  # of a bot whose speed is not known yet


class SpielGame(NamedTuple):
    """A game of the table."""

    title: str
    text: str
    small: bool  # enumerated, and trained by external sampling
    resampled: bool  # OpenSpiel draws worlds that fit an information state


GAMES: Final[dict[str, SpielGame]] = {
    "kuhn": SpielGame("Kuhn poker", "kuhn_poker", True, True),
    "leduc": SpielGame("Leduc poker", "leduc_poker", True, True),
    "liars_dice_3": SpielGame(
        "Liar's Dice, 3 sides", "liars_dice(numdice=1,dice_sides=3)", True, False
    ),
    "liars_dice_5": SpielGame(
        "Liar's Dice, 5 sides", "liars_dice(numdice=1,dice_sides=5)", True, False
    ),
    "phantom_ttt": SpielGame("Phantom tic-tac-toe", "phantom_ttt", False, False),
    "dark_hex": SpielGame("Dark hex 3×3, classical", "dark_hex(board_size=3)", False, False),
    "abrupt_dark_hex": SpielGame(
        "Dark hex 3×3, abrupt", "dark_hex(board_size=3,gameversion=adh)", False, False
    ),
}


class Onlooker(SeatedPlayer, Protocol):
    """A rival that is one of OpenSpiel's: it is shown the state, and uses its own part of it."""

    spent: list[float]  # seconds of each of its moves

    def see(self, state: Any) -> None:
        """Take in the state of the game."""


class Timed:
    """A player of ours that notes how long it thinks."""

    def __init__(self, player: GamePlayer) -> None:
        self.new_game, self.observe = player.new_game, player.observe
        self._player = player
        self.spent: list[float] = []

    def choose(self) -> int:
        """Return the player's action."""
        begin = time.monotonic()
        action = self._player.choose()
        self.spent.append(time.monotonic() - begin)
        return action


class IsMcts:
    """OpenSpiel's IS-MCTS with a limit of time."""

    def __init__(self, game: OpenSpielGame, seconds: float, resampled: bool) -> None:
        self._game = game
        self._seconds = seconds
        self._resampled = resampled
        self._per_second = FIRST_SIMULATIONS / seconds
        self._state: Any = None
        self.spent: list[float] = []
        self.new_game(MAX, 1)

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game."""
        self._random = np.random.RandomState(seed)
        self._belief = HistoryBelief(HistoryTable(self._game, seat), seed=seed)

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """Follow the belief that worlds are drawn from; nothing to do where OpenSpiel draws them."""
        if not self._resampled:
            self._belief.observe(own_action, observation)

    def see(self, state: Any) -> None:
        """Take in the state, whose information state alone is used."""
        self._state = state

    def choose(self) -> int:
        """Search, and draw an action by the visits."""
        begin = time.monotonic()
        action = self._in_cpp() if self._resampled else self._in_python(begin)
        self.spent.append(time.monotonic() - begin)
        return action

    def _in_cpp(self) -> int:
        seed = int(self._random.randint(1 << 30))
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.ISMCTSBot(
            seed, evaluator, EXPLORATION, 1 << 30, max_wall_clock_time=self._seconds
        )
        return int(bot.step(self._state))

    def _in_python(self, begin: float) -> int:
        legal = self._state.legal_actions()
        if len(legal) == 1:  # the bot would not simulate, and that says nothing of its speed
            return int(legal[0])
        simulations = max(1, int(self._per_second * self._seconds))
        bot = ismcts.ISMCTSBot(
            self._state.get_game(),
            mcts.RandomRolloutEvaluator(1, self._random),
            EXPLORATION,
            simulations,
            random_state=self._random,
        )
        bot.set_resampler(lambda state, player: self._drawn_world())
        action = int(bot.step(self._state))
        took = time.monotonic() - begin
        self._per_second = (self._per_second + simulations / took) / 2
        return action

    def _drawn_world(self) -> Any:
        return self._belief.state(int(self._random.randint(len(self._belief)))).clone()


class Trained:
    """The average policy of OpenSpiel's MCCFR after some seconds of training."""

    def __init__(self, text: str, seconds: float, small: bool) -> None:
        game = pyspiel.load_game(text)
        # OpenSpiel's policy reads the solver's tables without keeping the solver alive.
        if small:
            self._solver = pyspiel.ExternalSamplingMCCFRSolver(game, 1)
        else:
            self._solver = pyspiel.OutcomeSamplingMCCFRSolver(game, OUTCOME_EPSILON, 1)
        end = time.monotonic() + seconds
        self.iterations = 0
        while time.monotonic() < end:
            self._solver.run_iteration()
            self.iterations += 1
        self._policy = self._solver.average_policy()
        self._state: Any = None
        self.spent: list[float] = []

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game."""
        self._random = np.random.default_rng(seed)

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """There is nothing to remember."""

    def see(self, state: Any) -> None:
        """Take in the state, whose information state alone is used."""
        self._state = state

    def choose(self) -> int:
        """Draw an action from the policy; uniformly where it was never trained."""
        begin = time.monotonic()
        known = dict(self._policy.get_state_policy(self._state))
        legal = self._state.legal_actions()
        weights = np.array([known.get(action, 0.0) for action in legal])
        total = weights.sum()
        chances = weights / total if total > 0 else np.full(len(legal), 1 / len(legal))
        action = legal[int(self._random.choice(len(legal), p=chances))]
        self.spent.append(time.monotonic() - begin)
        return int(action)


RIVALS: Final = ("ismcts", "mccfr")


def play_match(name: str, rival: str, number: int, seconds: float, train: float) -> dict[str, Any]:
    """Play `number` games against a rival, in both seats by turns; return the figures."""
    known = GAMES[name]
    game = OpenSpielGame(known.text, remembers=True)
    ours = Timed(GamePlayer(game, PlaySettings(seconds=seconds)))
    quick = PlaySettings(iterations=64)
    play(game, GamePlayer(game, quick), GamePlayer(game, quick))  # loads the kernels
    other: Onlooker
    if rival == "ismcts":
        other = IsMcts(game, seconds, known.resampled)
    else:
        other = Trained(known.text, train, known.small)
    payoffs = []
    for index in range(number):
        seat = MAX if index % 2 == 0 else MIN
        first, second = (ours, other) if seat == MAX else (other, ours)
        played = play(game, first, second, index // 2 + 1, other.see)
        payoffs.append(played.payoff if seat == MAX else -played.payoff)
    say(f"{name} against {rival}: {np.mean(payoffs):+.3f} in {number} games")
    return {
        "game": name,
        "rival": rival,
        "payoffs": payoffs,
        "seconds": float(np.mean(ours.spent)),
        "rival_seconds": float(np.mean(other.spent)),
        "iterations": getattr(other, "iterations", None),
    }


def measure_exactly(name: str, iterations: int) -> dict[str, Any]:
    """Compute the exploitability of what the search plays with so many iterations a turn."""
    game = OpenSpielGame(GAMES[name].text, remembers=True)
    tree = enumerate_game(game)
    player = GamePlayer(game, PlaySettings(iterations=iterations, memory=8))
    begin = time.monotonic()
    found = exploitability(tree, played_strategy(tree, player))
    say(f"{name}, {iterations} iterations a turn: exploitability {found:.4f}")
    return {
        "game": name,
        "iterations": iterations,
        "exploitability": found,
        "uniform": exploitability(tree, {}),
        "infosets": len(tree.infosets.key),
        "seconds": time.monotonic() - begin,
    }


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the tables, in Markdown."""
    matches = figures["matches"]
    if matches:
        head = ["game", "rival", "games", "mean payoff", "s a move", "rival's s a move"]
        rows = []
        for each in matches:
            payoffs = np.array(each["payoffs"])
            error = payoffs.std(ddof=1) / np.sqrt(len(payoffs)) if len(payoffs) > 1 else np.nan
            rival = each["rival"]
            if each["iterations"] is not None:
                rival += f", {each['iterations']:,} iterations"
            cells = [str(len(payoffs)), f"{payoffs.mean():+.3f} ± {error:.3f}"]
            times = [f"{each['seconds']:.3f}", f"{each['rival_seconds']:.3f}"]
            rows.append([GAMES[each["game"]].title, rival, *cells, *times])
        yield from table(head, rows, "llrrrr")
    if matches and figures["exact"]:
        yield ""
    if figures["exact"]:
        head = ["game", "infosets", "iterations a turn", "exploitability", "uniform play"]
        yield from table(
            head,
            (
                [
                    GAMES[each["game"]].title,
                    f"{each['infosets']:,}",
                    f"{each['iterations']:,}",
                    f"{each['exploitability']:.4f}",
                    f"{each['uniform']:.4f}",
                ]
                for each in figures["exact"]
            ),
            "lrrrr",
        )


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.any_game", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=list(RIVALS))
    parser.add_argument("--number", type=int, default=NUMBER, help="of games against each rival")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a move")
    parser.add_argument("--train", type=float, default=TRAIN, help="seconds of MCCFR")
    parser.add_argument(
        "--exact", nargs="*", type=int, default=list(EXACT), metavar="ITERATIONS", help="a turn"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    figures: dict[str, Any] = {"matches": [], "exact": []}
    for name in options.games:
        for rival in options.rivals:
            arguments = (options.number, options.seconds, options.train)
            figures["matches"].append(play_match(name, rival, *arguments))
        if GAMES[name].small:
            figures["exact"] += [measure_exactly(name, count) for count in options.exact]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())

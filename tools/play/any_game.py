"""Play OpenSpiel's games by the search: matches against its IS-MCTS and MCCFR, and exploitability.

    python -m tools.play.any_game
    python -m tools.play.any_game --games leduc phantom_ttt --number 20 --iterations 1000
    python -m tools.play.any_game --games kuhn --rivals --exact 500 2000 --chess-settings
    python -m tools.play.any_game --games leduc --parameters soft_root=0 mixed_prior=1

A match has 400 games, in both seats by turns, and one thread. The search thinks for `--seconds` a
turn, or for so many `--iterations` of its solver, so that other programs on the machine do not
change how it plays. With several numbers it plays a match with each. A leaf is worth the mean of
`--rollouts` random playouts. The rivals:

    ismcts   OpenSpiel's IS-MCTS with random playouts and as much processor time a move as the
             search took on average: what a move took too much, the next one has less. In games
             that OpenSpiel cannot resample it is OpenSpiel's version in Python, and draws its
             worlds from the belief of `obscuro.research.any_game`.
    mccfr    the average policy of OpenSpiel's MCCFR after `--train` seconds of processor time; it
             needs no time then. External sampling in the small games, outcome sampling in the
             others.
    uniform  every action with the same probability, a control.

A result is the search's mean payoff with its standard error, over all games and in each seat. "At
least" is two errors below the mean, as a share of the game's greatest payoff. Exploitability is the
mean loss of the played strategy to a best response, in the game's units. It is computed for
`--exact` iterations of the solver a turn, for each of `--seeds` seeds of the search, and only in
games whose players know how many plies were made. With `--large` no game is enumerated, and all are
followed where the search plays, which takes minutes to hours. Then the search draws one of
`--seeds` seeds for each game, and the best response does not know which. `--exact-ismcts` computes
the exploitability of IS-MCTS with so many simulations a turn. With `--chess-settings` the search
has the parameters that the engine has in chess, and `--parameters` sets single ones.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from statistics import fmean
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from obscuro.research.any_game.best_reply import BestReply, PlayedPolicy
from obscuro.research.any_game.game_player import Decision, GamePlayer, played_strategy
from obscuro.research.any_game.histories import HistoryTable
from obscuro.research.any_game.history_belief import (
    PARAMETERS,
    ROLLOUTS,
    HistoryBelief,
    PlaySettings,
)
from obscuro.research.any_game.solved_game import SeatedPlayer, play
from obscuro.research.games.extensive_form import Observation
from obscuro.research.games.game_tree import (
    GameTree,
    Strategy,
    enumerate_game,
    exploitability,
)
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN
from obscuro.search.parameters import SearchParameters
from tools.common import given, publish, say, table, tool_parser
from tools.results.manifest import Loaded

NUMBER: Final = 400
SECONDS: Final = 0.2
TRAIN: Final = 60.0
EXACT: Final = (500, 2000)
EXPLORATION: Final = 2.0  # of IS-MCTS
OUTCOME_EPSILON: Final = 0.6  # of outcome sampling; OpenSpiel's default
FIRST_SIMULATIONS: Final = 100  # of a bot whose speed is not known yet
CORRECTION: Final = 1.5  # a move takes at most so many times the mean, and at least its inverse
_LEAST_SECONDS: Final = 1e-6


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
    "liars_dice_4": SpielGame(
        "Liar's Dice, 4 sides", "liars_dice(numdice=1,dice_sides=4)", True, False
    ),
    "liars_dice_5": SpielGame(
        "Liar's Dice, 5 sides", "liars_dice(numdice=1,dice_sides=5)", True, False
    ),
    "phantom_ttt": SpielGame("Phantom tic-tac-toe", "phantom_ttt", False, False),
    "dark_hex": SpielGame("Dark hex 3×3, classical", "dark_hex(board_size=3)", False, False),
    "abrupt_dark_hex": SpielGame(
        "Dark hex 3×3, abrupt", "dark_hex(board_size=3,gameversion=adh)", False, False
    ),
    "dark_hex_2": SpielGame("Dark hex 2×2, classical", "dark_hex(board_size=2)", True, False),
    "abrupt_dark_hex_2": SpielGame(
        "Dark hex 2×2, abrupt", "dark_hex(board_size=2,gameversion=adh)", True, False
    ),
}
TABLE: Final = tuple(name for name in GAMES if not name.endswith(("_2", "_4")))
"""The games of docs/results/any_game.md that are played against rivals."""


class Onlooker(SeatedPlayer, Protocol):
    """A rival that is one of OpenSpiel's: it is shown the state, and uses its own part of it."""

    spent: list[float]  # seconds of each of its moves

    def see(self, state: Any) -> None:
        """Take in the state of the game."""


class Timed(GamePlayer):
    """A player of ours that notes how much processor time its searches take, and what they do."""

    def __init__(self, game: OpenSpielGame, settings: PlaySettings) -> None:
        """See `GamePlayer`."""
        self.spent: list[float] = []  # seconds of each search
        self.expanded: list[int] = []  # histories that each search expanded
        super().__init__(game, settings)

    def decide(self) -> Decision:
        """See `GamePlayer.decide`."""
        begin = time.process_time()
        decision = super().decide()
        if decision.progress is not None:
            self.spent.append(time.process_time() - begin)
            self.expanded.append(decision.progress.expansions)
        return decision


def ismcts_in_cpp(simulations: int, random: np.random.RandomState) -> Any:
    """OpenSpiel's IS-MCTS for a game that it can resample."""
    seed = int(random.randint(1 << 30))
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.ISMCTSBot(seed, evaluator, EXPLORATION, simulations)


def ismcts_in_python(
    state: Any, simulations: int, random: np.random.RandomState, draw_world: Callable[[], Any]
) -> Any:
    """OpenSpiel's IS-MCTS in Python. draw_world: returns a state that fits what the mover knows."""
    bot = ismcts.ISMCTSBot(
        state.get_game(),
        mcts.RandomRolloutEvaluator(1, random),
        EXPLORATION,
        simulations,
        random_state=random,
    )
    bot.set_resampler(lambda state, player: draw_world())
    return bot


class IsMcts:
    """OpenSpiel's IS-MCTS with a limit of processor time.

    allowance: returns how many seconds a move may take; 0 if that is not known yet.
    """

    def __init__(
        self, game: OpenSpielGame, allowance: Callable[[], float], resampled: bool
    ) -> None:
        self._game = game
        self._allowance = allowance
        self._resampled = resampled
        self._per_second = 0.0  # simulations; 0 before the first move
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
        legal = self._state.legal_actions()
        if len(legal) == 1:  # the bot would not simulate, and that says nothing of its speed
            return int(legal[0])
        simulations = int(self._per_second * self._seconds()) or FIRST_SIMULATIONS
        begin = time.process_time()
        if self._resampled:
            bot = ismcts_in_cpp(simulations, self._random)
        else:
            bot = ismcts_in_python(self._state, simulations, self._random, self._drawn_world)
        action = int(bot.step(self._state))
        self.spent.append(time.process_time() - begin)
        found = simulations / max(self.spent[-1], _LEAST_SECONDS)
        self._per_second = (self._per_second + found) / 2 if self._per_second else found
        return action

    def _seconds(self) -> float:
        """Return how long this move may take, so that all moves together keep to the allowance."""
        mean = self._allowance()
        owed = mean * (len(self.spent) + 1) - sum(self.spent)
        return min(max(owed, mean / CORRECTION), mean * CORRECTION)

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
        end = time.process_time() + seconds
        self.iterations = 0
        while time.process_time() < end:
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
        begin = time.process_time()
        known = dict(self._policy.get_state_policy(self._state))
        legal = self._state.legal_actions()
        weights = np.array([known.get(action, 0.0) for action in legal])
        total = weights.sum()
        chances = weights / total if total > 0 else np.full(len(legal), 1 / len(legal))
        action = legal[int(self._random.choice(len(legal), p=chances))]
        self.spent.append(time.process_time() - begin)
        return int(action)


class Uniform:
    """Plays every action with the same probability."""

    def __init__(self) -> None:
        self._state: Any = None
        self.spent: list[float] = []
        self.new_game(MAX, 1)

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game."""
        self._random = np.random.default_rng(seed)

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """There is nothing to remember."""

    def see(self, state: Any) -> None:
        """Take in the state, whose legal actions alone are used."""
        self._state = state

    def choose(self) -> int:
        """Draw an action."""
        self.spent.append(0.0)
        return int(self._random.choice(self._state.legal_actions()))


RIVALS: Final = ("ismcts", "mccfr", "uniform")


def play_matches(
    name: str,
    rival: str,
    number: int,
    paces: Sequence[PlaySettings],
    train: float,
) -> Iterator[dict[str, Any]]:
    """Play a match at each pace against a rival, in both seats by turns; yield its figures.

    number: of games. paces: the search's settings. train: seconds of processor time for MCCFR.
    """
    known = GAMES[name]
    game = OpenSpielGame(known.text, remembers=True)
    quick = PlaySettings(iterations=64)
    play(game, GamePlayer(game, quick), GamePlayer(game, quick))  # loads the kernels
    trained = Trained(known.text, train, known.small) if rival == "mccfr" else None
    for pace in paces:
        ours = Timed(game, pace)
        other: Onlooker = trained or (
            Uniform() if rival == "uniform" else IsMcts(game, _mean_of(ours.spent), known.resampled)
        )
        other.spent.clear()
        payoffs = []
        for index in range(number):
            seat = MAX if index % 2 == 0 else MIN
            first, second = (ours, other) if seat == MAX else (other, ours)
            played = play(game, first, second, index // 2 + 1, other.see)
            payoffs.append(played.payoff if seat == MAX else -played.payoff)
        say(f"{name} against {rival}: {np.mean(payoffs):+.3f} in {number} games")
        yield {
            "game": name,
            "rival": rival,
            "payoffs": payoffs,
            "limit": {"seconds": pace.seconds, "iterations": pace.iterations},
            "rollouts": pace.rollouts,
            "parameters": named_parameters(pace),
            "expanded": float(np.mean(ours.expanded)),
            "seconds": float(np.mean(ours.spent)),
            "rival_seconds": float(np.mean(other.spent)),
            "iterations": trained.iterations if trained else None,
        }


def named_parameters(settings: PlaySettings) -> str:
    """Name what differs from a `GamePlayer`'s parameters, as `--parameters` takes it."""
    if settings.parameters == SearchParameters():
        return "chess"
    ours, default = asdict(settings.parameters), asdict(PARAMETERS)
    changed = [f"{name}={value:g}" for name, value in ours.items() if value != default[name]]
    return " ".join(changed) or "default"


def changed_parameters(before: SearchParameters, words: Sequence[str]) -> SearchParameters:
    """Return parameters with some changed. words: NAME=VALUE. Raises ValueError, in one line."""
    known = asdict(before)
    changed: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in known:
            raise ValueError(f"there is no parameter {name!r}; there are {', '.join(known)}")
        changed[name] = type(known[name])(float(value))
    return replace(before, **changed)


def _mean_of(spent: Sequence[float]) -> Callable[[], float]:
    """Return a function that returns the present mean of a growing list; 0 while it is empty."""
    return lambda: sum(spent) / len(spent) if spent else 0.0


def measure_exactly(name: str, settings: PlaySettings, seed: int) -> dict[str, Any]:
    """Compute the exploitability of what the search plays with a limit by iterations."""
    game = OpenSpielGame(GAMES[name].text, remembers=True)
    tree = enumerate_game(game)
    begin = time.process_time()
    player = Timed(game, settings)
    strategy = played_strategy(tree, player, seed)
    return exploited(name, tree, strategy, f"{settings.iterations} iterations", begin) | {
        "seed": seed,
        **_of_search(settings, player),
    }


def measure_large(name: str, settings: PlaySettings, seeds: int) -> dict[str, Any]:
    """Compute it where a game is too large to enumerate, for a search that draws one of the seeds."""
    game = OpenSpielGame(GAMES[name].text, remembers=True)
    player = Timed(game, settings)
    begin = time.process_time()
    lost, infosets = 0.0, 0
    for seat, responder in ((MAX, MIN), (MIN, MAX)):
        policies = [PlayedPolicy(player, seat, seed) for seed in range(1, seeds + 1)]
        lost += BestReply(game, responder, *policies).value() / 2
        infosets += len(set().union(*(each.found for each in policies)))
        say(f"{name}, {settings.iterations} iterations a turn: {infosets} infosets are met")
    return {
        "game": name,
        "exploitability": lost,
        "uniform": None,
        "infosets": None,
        "met": infosets,
        "seconds": time.process_time() - begin,
        "seeds": seeds,
        **_of_search(settings, player),
    }


def _of_search(settings: PlaySettings, player: Timed) -> dict[str, Any]:
    """Return what a row of exploitability says of the search, after its last turn."""
    return {
        "iterations": settings.iterations,
        "rollouts": settings.rollouts,
        "parameters": named_parameters(settings),
        "turn": fmean(player.spent),
    }


def exploited(
    name: str, tree: GameTree[Any], strategy: Strategy, pace: str, begin: float
) -> dict[str, Any]:
    """Compute how exploitable a strategy is. pace: of a turn. begin: processor time, in seconds."""
    found = exploitability(tree, strategy)
    say(f"{name}, {pace} a turn: exploitability {found:.4f}")
    return {
        "game": name,
        "exploitability": found,
        "uniform": exploitability(tree, {}),
        "infosets": len(tree.infosets.key),
        "seconds": time.process_time() - begin,
    }


def drawn(worlds: Sequence[Any], random: np.random.RandomState) -> Any:
    """Return a copy of one of these states."""
    return worlds[int(random.randint(len(worlds)))].clone()


def measure_ismcts(name: str, simulations: int, seed: int) -> dict[str, Any]:
    """Compute the exploitability of IS-MCTS, which draws its worlds evenly from each infoset."""
    tree = enumerate_game(OpenSpielGame(GAMES[name].text, remembers=True))
    random = np.random.RandomState(seed)
    begin = time.process_time()
    strategy: dict[int, list[float]] = {}
    for number, key in enumerate(tree.infosets.key.tolist()):
        worlds = [tree.states[node] for node in np.flatnonzero(tree.infoset == number)]
        legal = worlds[0].legal_actions()
        if len(legal) == 1:
            continue
        if GAMES[name].resampled:
            bot = ismcts_in_cpp(simulations, random)
        else:
            draw_world = partial(drawn, worlds, random)
            bot = ismcts_in_python(worlds[0], simulations, random, draw_world)
        visits = dict(bot.step_with_policy(worlds[0])[0])
        strategy[key] = [visits.get(action, 0.0) for action in legal]
    turn = (time.process_time() - begin) / len(strategy)
    return exploited(name, tree, strategy, f"{simulations} simulations", begin) | {
        "iterations": simulations,
        "rollouts": 1,
        "seed": seed,
        "parameters": "IS-MCTS",
        "turn": turn,
    }


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the tables, in Markdown."""
    if figures["matches"]:
        yield from _match_table(figures["matches"])
    if figures["matches"] and figures["exact"]:
        yield ""
    if figures["exact"]:
        yield from _exact_table(figures["exact"])


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the tables over the rows of several runs, in the order of the games."""
    figures: dict[str, list[dict[str, Any]]] = {"matches": [], "exact": []}
    for run in loaded:
        for name, rows in figures.items():
            rows.extend(run.raw.data[name])
    for rows in figures.values():
        rows.sort(key=lambda each: list(GAMES).index(each["game"]))
    yield from render(figures)


def _parameters(each: dict[str, Any]) -> str:
    """Return the parameters of a stored row; older rows have a root that is not soft."""
    stored: str | None = each.get("parameters")
    return stored or ("chess" if each.get("chess_settings") else "soft_root=0")


def _match_table(matches: Sequence[dict[str, Any]]) -> Iterator[str]:
    head = ["game", "rival", "parameters", "a turn", "playouts", "games", "mean payoff", "at least"]
    head += ["as first", "as second", "expanded a turn", "s a turn", "rival's s a turn"]
    rows = []
    for each in matches:
        payoffs = np.array(each["payoffs"])
        scale = OpenSpielGame(GAMES[each["game"]].text).scale
        error = payoffs.std(ddof=1) / np.sqrt(len(payoffs)) if len(payoffs) > 1 else np.nan
        rival = each["rival"]
        if each["iterations"] is not None:
            rival += f", {each['iterations']:,} iterations"
        iterations = each["limit"]["iterations"]
        limit = f"{each['limit']['seconds']} s" if iterations is None else f"{iterations:,} it."
        cells = [
            _parameters(each),
            limit,
            str(each["rollouts"]),
            str(len(payoffs)),
            f"{payoffs.mean():+.3f} ± {error:.3f}",
            f"{(payoffs.mean() - 2 * error) * scale:+.3f}",
            f"{payoffs[::2].mean():+.3f}",  # the seats alternate
            f"{payoffs[1::2].mean():+.3f}",
        ]
        cells += [f"{each['expanded']:.0f}", f"{each['seconds']:.3f}"]
        rows.append([GAMES[each["game"]].title, rival, *cells, f"{each['rival_seconds']:.3f}"])
    yield from table(head, rows, "lllrrrrrrrrrr")


def _exact_table(measured: Sequence[dict[str, Any]]) -> Iterator[str]:
    head = ["game", "infosets", "parameters", "playouts", "iterations a turn", "seeds"]
    head += ["exploitability", "least to greatest", "uniform play", "s a turn"]
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for each in measured:
        together = each.get("seeds")  # of a row of --large
        kind = (each["game"], _parameters(each), each["rollouts"], each["iterations"], together)
        alike.setdefault(kind, []).append(each)
    rows = []
    for (name, parameters, rollouts, iterations, together), found in alike.items():
        losses = np.array([each["exploitability"] for each in found])
        several = f"{losses.min():.4f} – {losses.max():.4f}" if len(losses) > 1 else ""
        first = found[0]
        cells = [parameters, str(rollouts), f"{iterations:,}", str(together or len(found))]
        cells += [f"{losses.mean():.4f}", several]
        cells.append("" if first["uniform"] is None else f"{first['uniform']:.4f}")
        # Older rows do not say how long a turn took.
        cells.append(f"{fmean(each['turn'] for each in found):.3f}" if "turn" in first else "")
        counted = f"{first['infosets']:,}" if first["infosets"] else f"{first['met']:,} met"
        rows.append([GAMES[name].title, counted, *cells])
    yield from table(head, rows, "lrlrrrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.any_game", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(TABLE), metavar="GAME")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=list(RIVALS))
    parser.add_argument("--number", type=int, default=NUMBER, help="of games against each rival")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--seconds", nargs="+", type=float, default=[SECONDS], help="of a turn")
    pace.add_argument("--iterations", nargs="+", type=int, help="of the solver in a turn")
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="random playouts of a leaf")
    parser.add_argument("--train", type=float, default=TRAIN, help="seconds of MCCFR")
    parser.add_argument(
        "--exact", nargs="*", type=int, default=list(EXACT), metavar="ITERATIONS", help="a turn"
    )
    parser.add_argument(
        "--exact-ismcts", nargs="*", type=int, default=[], metavar="SIMULATIONS", help="a turn"
    )
    parser.add_argument("--large", action="store_true", help="--exact without enumerating games")
    parser.add_argument("--seeds", type=int, default=1, help="of --exact and --exact-ismcts")
    parser.add_argument(
        "--chess-settings", action="store_true", help="the search's parameters are those of chess"
    )
    parser.add_argument(
        "--parameters", nargs="+", default=[], metavar="NAME=VALUE", help="of the search; 1: true"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    settings = PlaySettings(iterations=1, rollouts=options.rollouts)
    if options.chess_settings:
        settings = replace(settings, parameters=SearchParameters())
    try:
        parameters = changed_parameters(settings.parameters, options.parameters)
    except ValueError as error:
        make_parser().error(f"--parameters: {error}")
    settings = replace(settings, parameters=parameters)
    if options.iterations:
        paces = [replace(settings, iterations=count) for count in options.iterations]
    else:
        paces = [replace(settings, iterations=None, seconds=each) for each in options.seconds]
    figures: dict[str, Any] = {"matches": [], "exact": []}
    for name in options.games:
        for rival in options.rivals:
            figures["matches"] += play_matches(name, rival, options.number, paces, options.train)
        exact = [replace(settings, iterations=count, memory=8) for count in options.exact]
        if options.large:
            figures["exact"] += [measure_large(name, each, options.seeds) for each in exact]
        elif GAMES[name].small:
            figures["exact"] += [
                measure_exactly(name, each, seed)
                for each in exact
                for seed in range(1, options.seeds + 1)
            ]
            figures["exact"] += [
                measure_ismcts(name, count, seed)
                for count in options.exact_ismcts
                for seed in range(1, options.seeds + 1)
            ]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Does ZS21 do what the paper says? Play turns, and hold each against a plain reading of the rules.

    python -m tools.proofs.zs21_agent --turns 100 --movetime 5000
    python -m tools.proofs.zs21_agent --turns 40 --movetime 1000 --random-games 20

ZS21 plays itself from the default openings, and every turn is checked:

- Expansions: each leaf was one that the rules let this round expand (K, Alg. 15, and D.3).
- Roots: as many positions of the belief as there are, or 200, unless the last trunk held more.
- Optimality: the gap between what x guarantees and what y concedes, without the linear program.
- Rounds, and how much longer than allowed the turn took.
- The processor's time of a turn. Beside other work it is less than the turn's time.

Then it plays random players, whom it must beat. The exit code is 1 if a rule was broken, the gap is
larger than 1e-6, the median turn has fewer than 2 rounds or is more than 10 % too long, or a game
against the random player is not won.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any, NamedTuple

import chess

from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.matches.openings import default_openings
from obscuro.matches.players import InProcessPlayer, RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.players.roster import ZS21_OPTIONS
from obscuro.research.zs21.blueprint import bound, guaranteed
from obscuro.research.zs21.chess_trunk import information_price
from obscuro.research.zs21.gadget_program import Size
from obscuro.research.zs21.trunk import LEAF, MAX, Trunk
from obscuro.research.zs21.turn_search import Round, TurnSearch
from obscuro.research.zs21.zs21_constants import LEAST_ROOTS
from obscuro.research.zs21.zs21_player import Zs21Player
from obscuro.rules.account import last_ply
from obscuro.rules.position import from_board
from tools.common import given, publish, say, table, tool_parser

GAP = 1e-6
LEAST_ROUNDS = 2
OVERRUN = 0.1


class Checked(NamedTuple):
    """What one turn showed."""

    positions: int  # |P|
    roots: int
    wanted: int  # roots that there must be at least
    broken: list[str]  # expansions against the rules
    gap: float
    rounds: int
    programs: int
    seconds: float
    processor: float  # seconds of the processor
    solving: float  # seconds in building and solving programs
    rows: int
    columns: int
    entries: int


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.zs21_agent", __doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--movetime", type=int, default=5000, metavar="MS")
    parser.add_argument("--random-games", type=int, default=20, metavar="GAMES")
    parser.add_argument("--random-movetime", type=int, default=200, metavar="MS")
    parser.add_argument("--evaluator", default="nnue")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def broken_rules(search: TurnSearch) -> list[str]:
    """Return a line for each expansion of a turn that no rule allows."""
    return [line for each in search.rounds for line in broken_in_round(search.trunk, each)]


def broken_in_round(trunk: Trunk, done: Round) -> list[str]:
    """Read K's rules node by node for the leaves that one round expanded."""
    nodes, x, y = trunk.nodes, done.profile.x, done.profile.y

    def plays(node: int) -> tuple[bool, bool]:
        mine, theirs = nodes.sequence[node]
        return bool(x[mine] > 0.0), bool(y[theirs] > 0.0)

    def was_leaf(node: int) -> bool:
        return bool(nodes.first[node] == LEAF or nodes.first[node] >= done.size)

    def interest(node: int) -> tuple[bool, float]:
        value = float(nodes.value[node])
        mover = nodes.player[nodes.parent[node]]
        return bool(nodes.forcing[node]), value if mover == MAX else -value

    found = []
    for leaf in done.leaves.tolist():
        parent = int(nodes.parent[leaf])
        if leaf >= done.size or not was_leaf(leaf):
            found.append(f"{leaf} was no leaf")
        elif nodes.terminal[leaf] or not nodes.live[leaf]:
            found.append(f"{leaf} ends the game, or ▲'s strategy there is fixed")
        elif not any(plays(leaf)):
            found.append(f"nobody plays to {leaf}")
        elif nodes.depth[leaf] > done.depth and not all(plays(leaf)):
            found.append(f"{leaf} is deeper than {done.depth}, and not both play to it")
        elif not all(plays(parent)):
            first = int(nodes.first[parent])
            rivals = [
                node
                for node in range(first, first + int(nodes.degree[parent]))
                if was_leaf(node)
                and nodes.live[node]
                and not nodes.terminal[node]
                and any(plays(node))
                and (nodes.depth[node] <= done.depth or all(plays(node)))
            ]
            if interest(leaf) < max(map(interest, rivals)):
                found.append(f"{leaf} is not the most interesting child of {parent}")
    return found


def check_turn(player: Zs21Player, seconds: float, processor: float) -> Checked | None:
    """Check the last turn of a player; None if it needed no search.

    seconds, processor: what it took on the clock, and of the processor.
    """
    turn, search = player.last_turn, player.last_search
    if turn is None or not turn.searched or search is None:
        return None
    trunk, result = search.trunk, search.result
    positions = len(player.knowledge.belief)
    gap = 0.0
    if result.solution is not None:
        price = information_price(trunk, positions)
        gap = bound(result.solution, price) - guaranteed(result.solution, price)
    size = result.size or Size(0, 0, 0)
    return Checked(
        positions,
        int(trunk.nodes.live[: trunk.roots].sum()),
        min(positions, LEAST_ROOTS),
        broken_rules(search),
        gap,
        result.rounds,
        result.programs,
        seconds,
        processor,
        search.seconds["build"] + search.seconds["solve"],
        size.rows,
        size.columns,
        size.entries,
    )


def new_player(arguments: argparse.Namespace) -> Zs21Player:
    """Return a player with the tool's options, ready to play."""
    options = Options(ZS21_OPTIONS)
    options.set("Evaluator", arguments.evaluator)
    options.set("Seed", str(arguments.seed))
    player = Zs21Player(options, say)
    player.prepare()
    return player


def checked_turns(arguments: argparse.Namespace) -> Iterator[Checked]:
    """Play ZS21 against itself; yield what each turn with a search showed."""
    players = {color: new_player(arguments) for color in (chess.WHITE, chess.BLACK)}
    for opening in itertools.cycle(default_openings()):
        board = opening.start()
        for color, player in players.items():
            player.new_game(0 if color == chess.WHITE else 1, from_board(board))
        while not board.is_game_over():
            player = players[board.turn]
            player.update()
            begin, processor = time.monotonic(), time.process_time()
            choice = player.search(GoLimits(begin, movetime=arguments.movetime), Event())
            spent = time.monotonic() - begin, time.process_time() - processor
            checked = check_turn(player, *spent)
            if checked is not None:
                yield checked
            board.push_uci(choice.move or "")
            for color, told in players.items():
                last_ply(board, color).tell(told)


def won_against_random(arguments: argparse.Namespace) -> int:
    """Play games against the random player; return how many ZS21 wins."""
    player = InProcessPlayer(new_player(arguments), name="zs21")  # type: ignore[arg-type]  # has what a game uses
    rival = RandomPlayer()
    won = 0
    for number in range(arguments.random_games):
        color = chess.WHITE if number % 2 == 0 else chess.BLACK
        pair = (player, rival) if color == chess.WHITE else (rival, player)
        game = play_game(*pair, control=arguments.random_movetime, seed=arguments.seed + number)
        won += game.winner == color
        say(f"game {number + 1} against random: {'won' if game.winner == color else 'not won'}")
    player.close()
    return won


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run."""
    turns, movetime = [Checked(**turn) for turn in found["turns"]], found["movetime"]

    def middle(name: str) -> float:
        return float(statistics.median(getattr(turn, name) for turn in turns))

    return {
        "milliseconds a turn": movetime,
        "turns": len(turns),
        "expansions against the rules": sum(len(turn.broken) for turn in turns),
        "turns with too few roots": sum(turn.roots < turn.wanted for turn in turns),
        "largest gap": max(turn.gap for turn in turns),
        "median positions in the belief": middle("positions"),
        "median rounds": middle("rounds"),
        "turns with fewer than 2 rounds": sum(turn.rounds < LEAST_ROUNDS for turn in turns),
        "median programs": middle("programs"),
        "median rows": middle("rows"),
        "median columns": middle("columns"),
        "median entries": middle("entries"),
        "median seconds in programs": middle("solving"),
        "median seconds of the processor": middle("processor"),
        "median overrun, percent": 100 * (1000 * middle("seconds") / movetime - 1),
        "largest overrun, percent": 100
        * (1000 * max(turn.seconds for turn in turns) / movetime - 1),
        "games against random": found["random games"],
        "games won against random": found["won"],
    }


def render(found: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the figures."""
    rows = [[name, f"{value:.6g}"] for name, value in summary(found).items()]
    yield from table(["figure", "value"], rows, "lr")


def main(words: Sequence[str] | None = None) -> int:
    """Play and check; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    turns: list[Checked] = []
    for turn in itertools.islice(checked_turns(arguments), arguments.turns):
        turns.append(turn)
        for line in turn.broken:
            say(f"turn {len(turns)}: {line}")
        if len(turns) % 10 == 0:
            say(f"{len(turns)} turns")
    won = won_against_random(arguments)
    found = {
        "movetime": arguments.movetime,
        "turns": [turn._asdict() for turn in turns],
        "random games": arguments.random_games,
        "won": won,
    }
    publish(parser, words, arguments.raw, found, render)
    figures = summary(found)
    return int(
        figures["expansions against the rules"] > 0
        or figures["turns with too few roots"] > 0
        or figures["largest gap"] > GAP
        or figures["median rounds"] < LEAST_ROUNDS
        or figures["median overrun, percent"] > 100 * OVERRUN
        or won < arguments.random_games
    )


if __name__ == "__main__":
    sys.exit(main())

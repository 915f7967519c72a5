"""Find the move that lost each lost game, and say why it was played.

    python -m tools.play.losses games.pgn --player obscuro --movetime 200 --option Threads=1

GAMES is a file of `obscuro match --pgn` or `--log`. The value of a true position is that of its best
child for the side to move, as the evaluator sees it, from -1 to 1. The fall of a turn is this value
less the one at the side's next turn; after the last turn of a lost game that is -1. If the value was
lower one turn earlier, the fall counts from there: a gift that was not taken is not what lost. The
losing turn is the one with the largest fall of all that are at least --fall, had a choice, and were
never made good: the value never came back to the middle of the fall.

The engine then follows the game up to that turn, as in tools.play.replay, and searches. P is followed
without a clock. The first cause that holds is counted:

- a: the true position was not in P, in the recorded search or in this one.
- b: it was in P, but not at the root of the search (in I).
- c: it was in I, but not expanded when the search began.
- d: the opponent's reply to the move in the true position was not thought of: when the search ended
  it was not in the tree, or a leaf that is worth more there than the position was, by --margin.
- e: the reply was expanded, and its value in the tree was too high by --margin.
- f: a search of --again ms prefers another move, or gives the recorded one less than --share.
- g: none of these. The search knew the reply and what it costs, and played the move all the same.
- h: no fall is that large: the game was lost little by little, or before its start.
- i: the rules did not end the game (time, an illegal move, a limit).

What a position was worth is the value at the side's next turn. Searches by the clock are never the
same twice: `share` is the share of the recorded move in the replayed search, `again` in the longer
one. `weight` is that of the true position in the search, `search` its value over the infoset. `seen`
is the evaluator's value of the move in the true position, `tree` the value of the reply in the tree.
All values are in the view of the loser. Ctrl-C shows what there is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import chess
import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import Coverage, GoLimits
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.matches.coverage_table import size_name, size_names
from obscuro.rules.layout import WORDS
from obscuro.rules.make import make_move
from obscuro.rules.position import from_board, legal_moves, move_to_uci
from obscuro.search.solver import refresh_values
from obscuro.search.tree import LEAF, TERMINAL, Tree
from tools.common import publish, table
from tools.play.recorded_games import (
    FiledGame,
    FollowedTurn,
    Judge,
    Row,
    Side,
    Words,
    by_time,
    collect,
    follow,
    prepared,
    read_arguments,
    replay_parser,
    replay_words,
)

CAUSES = {
    "a": "the truth not in P",
    "b": "not in I",
    "c": "not expanded at the start",
    "d": "reply not thought of",
    "e": "reply valued too high",
    "f": "too little time",
    "g": "known, and played",
    "h": "no single fall",
    "i": "not ended by the rules",
}
LOST = -1.0
_NO_TURN = "-"
_OK = "ok"


@dataclass(frozen=True)
class Bounds:
    """The thresholds of the causes, all on values in [-1, 1] but for `share`."""

    fall: float
    margin: float
    share: float


@dataclass(frozen=True)
class Reply:
    """The opponent's reply in the tree, below the true position and our move, as the search ended.

    histories: of our infoset that are the true position. known: in how many of them the reply is in
    the tree, expanded: in how many it is expanded or ends the game. value: their mean by weight,
    our view, under the strategies of the tree; None where it is in none.
    """

    histories: int
    known: int
    expanded: int
    value: float | None


@dataclass(frozen=True)
class Fall:
    """The index of a turn among its side's, and by how much the value fell after it."""

    turn: int
    size: float


# -- the move that lost -------------------------------------------------------------------------


def edges_along(tree: Tree, edge: int, actions: Sequence[int]) -> list[int]:
    """Follow actions from the history that an edge leads to; return their edges in the tree.

    actions: indices in the order of each node's actions. The edges are fewer than the actions where
    a leaf ends the line: nothing below it is in the tree.
    """
    found = []
    for action in actions:
        node = int(tree.edge_child[edge])
        if node == LEAF:
            break
        edge = int(tree.node_first_edge[node]) + action
        found.append(edge)
    return found


def truths(game: FiledGame, side: chess.Color) -> Iterator[tuple[int, chess.Board]]:
    """Yield the side's turns: the plies before each, and the true position."""
    board = game.start.copy()
    for ply, move in enumerate(game.moves):
        if board.turn == side:
            yield ply, board.copy()
        board.push(move)


def losing_turn(values: Sequence[float], choices: Sequence[bool], least: float) -> Fall | None:
    """Find the largest fall that was never made good; None if none is large enough.

    values: of the true position at each turn, and after the last one. choices: whether there was
    more than one move. least: the least fall that counts.
    """
    worst: Fall | None = None
    for turn, after in enumerate(values[1:]):
        # What the opponent gave away in its last move and we did not take is no loss.
        level = min(values[max(turn - 1, 0) : turn + 1])
        fall = Fall(turn, level - after)
        made_good = max(values[turn + 1 :]) > (level + after) / 2
        if not choices[turn] or made_good or fall.size < least:
            continue
        if worst is None or fall.size > worst.size:
            worst = fall
    return worst


# -- what the search knew -----------------------------------------------------------------------


def known_reply(player: Player, truth: Words, move: str, reply: str | None) -> Reply:
    """Look for a line in the tree of the player's last search.

    truth: the true position, uint64[8]. move: ours, in UCI. reply: the opponent's; None: the game
    ended with our move. Brings the values of the tree up to date.
    """
    search = player.equipment.search
    tree = search.tree
    refresh_values(tree, search.gadget)
    after = _after(truth, move)
    actions = [_action(truth, move)] + ([_action(after, reply)] if reply is not None else [])
    histories = search.our_histories()
    same = (histories.states[:, :WORDS] == truth).all(axis=1)
    weights, values, expanded = [], [], 0
    for edge, weight in zip(histories.edges[same], histories.weights[same], strict=True):
        line = edges_along(tree, int(edge), actions)
        if len(line) == len(actions):
            last = line[-1]
            expanded += bool(tree.edge_child[last] != LEAF or tree.edge_status[last] == TERMINAL)
            weights.append(float(weight))
            values.append(float(tree.edge_value[last]))
    value = None
    if values:
        value = float(np.average(values, weights=weights if sum(weights) > 0 else None))
    return Reply(int(same.sum()), len(values), expanded, value)


def _action(words: Words, uci: str) -> int:
    """The index of a move among a node's actions: children are in the generator's order."""
    return [move_to_uci(move) for move in legal_moves(words)].index(uci)


def _after(words: Words, uci: str) -> Words:
    """Return the position after a move."""
    move = legal_moves(words)[_action(words, uci)]
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def cause_in_tree(turn: FollowedTurn, reply: Reply, after: float, margin: float) -> str | None:
    """Return the first of the causes `a` to `e` that holds; None if none does.

    after: what the position turned out to be worth after the reply.
    """
    cause = not_covered(turn.coverage)
    if cause is not None:
        return cause
    if reply.value is None:
        return "d"
    if reply.value - after > margin:
        return "e" if reply.expanded else "d"
    return None


def not_covered(coverage: Coverage) -> str | None:
    """Return the first of the causes `a`, `b` and `c` that holds; None if none does."""
    if not coverage.in_belief:
        return "a"
    if not coverage.in_infoset:
        return "b"
    return None if coverage.expanded else "c"


# -- one game -----------------------------------------------------------------------------------


class Coroner:
    """Explains lost games with one player, which searches by these limits.

    shortly: the limits of a search as in the match; again: those of the longer one. Both begin when
    they are called.
    """

    def __init__(
        self,
        player: Player,
        judge: Judge,
        bounds: Bounds,
        shortly: Callable[[], GoLimits],
        again: Callable[[], GoLimits],
    ) -> None:
        self._player = player
        self._judge = judge
        self._bounds = bounds
        self._shortly = shortly
        self._again = again

    def explain(self, game: FiledGame, side: chess.Color) -> Row:
        """Return the figures of a lost game, with its cause.

        values: of the true positions at the side's turns, and after the last one.
        """
        row: Row = {"game": game.number, "side": chess.COLOR_NAMES[side]}
        row |= {"opponent": game.names[not side], "plies": len(game.moves)}
        if not game.regular:
            return row | {"cause": "i"}
        positions = list(truths(game, side))
        values = [self._judge.value(from_board(board)) for _, board in positions] + [LOST]
        choices = [board.legal_moves.count() > 1 for _, board in positions]
        row["values"] = values
        lost = losing_turn(values, choices, self._bounds.fall)
        if lost is None:
            return row | {"cause": "h"}
        ply, board = positions[lost.turn]
        before, after = values[lost.turn : lost.turn + 2]
        row |= self._position(game, ply, board)
        row |= {"before": before, "after": after, "fall": lost.size}
        return row | self._why(game, side, ply, after)

    def _position(self, game: FiledGame, ply: int, board: chess.Board) -> Row:
        """Describe the losing turn as the true position shows it."""
        move = game.moves[ply]
        worth = self._judge.moves(from_board(board))
        best = max(worth, key=lambda uci: worth[uci])
        row: Row = {"ply": ply, "fen": board.fen(), "uci": move.uci()}
        row |= {"move": board.san(move), "reply": None}
        row |= {"seen": worth[move.uci()], "best": board.san(board.parse_uci(best))}
        if ply + 1 < len(game.moves):
            board = board.copy()
            board.push(move)
            row["reply"] = board.san(game.moves[ply + 1])
        return row

    def _why(self, game: FiledGame, side: chess.Color, ply: int, after: float) -> Row:
        """Follow the game to the losing turn, search, and look for the cause."""
        move = game.moves[ply].uci()
        turn = self._turn(game, side, ply, self._shortly)
        info = turn.info
        row: Row = {"belief": info.belief, **asdict(turn.coverage), "search": info.value}
        row |= {"share": _share(turn, move), "policy": info.policy[:6], "line": info.line}
        row |= {"depth": info.depth, "iterations": info.iterations, "gadget": info.gadget}
        then = game.coverages[ply]
        row["then"] = None if then is None else not_covered(then) or _OK
        if turn.coverage.in_infoset is None:  # a move that needed no thought can't be explained
            return row | {"cause": "h"}
        reply = game.moves[ply + 1].uci() if ply + 1 < len(game.moves) else None
        known = known_reply(self._player, turn.words, move, reply)
        row |= {"tree": known.value, "known": asdict(known)}
        if row["then"] == "a":
            return row | {"cause": "a"}
        cause = cause_in_tree(turn, known, after, self._bounds.margin)
        if cause is not None:
            return row | {"cause": cause}
        longer = self._turn(game, side, ply, self._shortly, self._again)
        share = _share(longer, move)
        top = longer.info.policy[0][0] if longer.info.policy else None
        row |= {"again": share, "again_policy": longer.info.policy[:6]}
        row["again_coverage"] = asdict(longer.coverage)
        return row | {"cause": "g" if top == move and share >= self._bounds.share else "f"}

    def _turn(
        self,
        game: FiledGame,
        side: chess.Color,
        ply: int,
        limits: Callable[[], GoLimits],
        last: Callable[[], GoLimits] | None = None,
    ) -> FollowedTurn:
        """Follow the game to a turn and search there. last: the limits of that search."""

        def limit(now: int) -> GoLimits:
            return last() if now == ply and last is not None else limits()

        *_, turn = follow(self._player, game, side, limit, until=ply)
        return turn


def _share(turn: FollowedTurn, move: str) -> float:
    return dict(turn.info.policy).get(move, 0.0)


# -- tables -----------------------------------------------------------------------------------


def render(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each lost game, and the causes by the size of P."""
    rows = figures["losses"]
    yield f"{figures['player']} lost {figures['lost']} games; {len(rows)} are explained."
    if not rows:
        return
    yield ""
    headings = ["game", "side", "ply", "|P|", "move", "reply", "best", "before", "after", "cp"]
    headings += ["fall", "then", "cause", "share", "again", "weight", "search", "seen", "tree"]
    yield from table(headings, map(_cells, rows), "rlrrlllrrrrllrrrrrr")
    yield ""
    yield from _causes(rows)
    searched = [row for row in rows if row.get("policy")]
    if searched:
        again = sum(row["policy"][0][0] == row["uci"] for row in searched)
        share = fmean(row["share"] for row in searched)
        yield ""
        yield (
            f"The replayed search prefers the recorded move in {again} of {len(searched)} losing "
            f"turns; its mean share is {share:.2f}."
        )


def _cells(row: Row) -> list[object]:
    cells: list[object] = [row["game"], row["side"]]
    if "ply" not in row:
        return cells + ["-"] * 10 + [row["cause"]] + ["-"] * 6
    fall = [centipawns_of_value(row[key]) for key in ("before", "after")]
    cells += [row["ply"], f"{row['belief']:,}", row["move"], row["reply"] or "-", row["best"]]
    cells += [f"{row['before']:+.2f}", f"{row['after']:+.2f}", f"{fall[0]:+} → {fall[1]:+}"]
    cells += [f"{row['fall']:.2f}", row["then"] or "-"]
    cells += [row["cause"], *(_number(row.get(key), ".2f") for key in ("share", "again"))]
    cells += [_number(row.get("weight"), ".4f")]
    return cells + [_number(row.get(key), "+.2f") for key in ("search", "seen", "tree")]


def _causes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of causes: a row for each, a column for each size of P."""
    counts = Counter((row["cause"], _size(row)) for row in rows)
    sizes = [name for name in [*size_names(), _NO_TURN] if any(name == size for _, size in counts)]
    cells = []
    for cause, meaning in CAUSES.items():
        each = [counts[cause, size] for size in sizes]
        if sum(each):
            cells.append([f"{cause}: {meaning}", *each, sum(each)])
    cells.append(["all", *(sum(counts[c, size] for c in CAUSES) for size in sizes), len(rows)])
    yield from table(["cause", *sizes, "all"], cells, "l" + "r" * (len(sizes) + 1))


def _size(row: Row) -> str:
    return size_name(row["belief"]) if "belief" in row else _NO_TURN


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = replay_parser("tools.play.losses", __doc__, 200)
    parser.add_argument("--player", default="obscuro", help="whose losses, by the name in the file")
    parser.add_argument(
        "--again", type=int, default=2000, metavar="MS", help="milliseconds of the longer search"
    )
    parser.add_argument("--fall", type=float, default=0.3, help="the least fall that loses a game")
    parser.add_argument("--margin", type=float, default=0.2, help="by which a value is wrong")
    parser.add_argument(
        "--share", type=float, default=0.3, help="the least share of a move that is still played"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Explain each loss, and print both tables; returns the exit code."""
    words = replay_words(words)
    parser = make_parser()
    told, sides, options = read_arguments(parser, words, "player")
    lost = [(game, side) for game, side in sides if game.result(side) < 0]
    rows, code = collect(_measure(lost, options, told))
    figures = {"player": told.player, "lost": len(lost), "losses": rows}
    publish(parser, words, told.raw, figures, render)
    return code


def _measure(lost: Sequence[Side], options: Options, told: argparse.Namespace) -> Iterator[Row]:
    """Yield the figures of all lost games; see `Coroner.explain`."""
    with prepared(options) as (player, judge), progress(len(lost)) as tell:
        coroner = Coroner(
            player,
            judge,
            Bounds(told.fall, told.margin, told.share),
            lambda: by_time(told.movetime),
            lambda: by_time(told.again),
        )
        for game, side in lost:
            tell(f"game {game.number}, lost as {chess.COLOR_NAMES[side]}", 0)
            yield coroner.explain(game, side)
            tell(None, 1)


if __name__ == "__main__":
    sys.exit(main())

"""Turn a game of a PGN file into the document that its page is drawn from."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import chess
import chess.pgn

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.evaluation.scale import EVALUATION_LIMIT, TAU, centipawns_of_value
from obscuro.matches.pgn import CENTIPAWNS, read_comment
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW
from obscuro.viewer.advice import SCORE_DIGITS, shown_coverage, shown_options
from obscuro.viewer.document import (
    SCHEMA,
    GameDocument,
    ShownAdvice,
    ShownAnalysis,
    ShownBelief,
    ShownHeat,
    ShownLoss,
    ShownMove,
    ShownPosition,
    ShownSide,
    SideName,
)
from obscuro.viewer.game_file import first_board, stalemate_rule
from obscuro.viewer.two_beliefs import HeatMap, SideKnowledge, TwoBeliefs

NAMED = ("White", "Black", "Result", "Termination", "Variant", "PlyCount", "FEN", "SetUp")
"""Headers that have a field of their own, or that the positions tell."""
LEAST_LOSS = 0.1
"""A move that loses less of a game's point is not marked."""
MOST_MARKS = 5
"""The most moves of each side that are marked."""

_COMMAND = re.compile(r"\[%[^\]]*\]")
_MATE = centipawns_of_value(EVALUATION_LIMIT)  # lichess writes `#3` in place of pawns


def make_document(
    game: chess.pgn.Game,
    max_positions: int,
    threads: int = 1,
    on_ply: Callable[[], None] = lambda: None,
    advice: Sequence[ShownAdvice | None] = (),
    analysis: ShownAnalysis | None = None,
) -> GameDocument:
    """Return the document of a game's main line; see `game_file.read_game`.

    max_positions: the greatest size of a belief, at least 1. threads: for large updates. on_ply: is
    called after the start and each ply. advice: for each move, from an analysis; fewer than there
    are moves if it was not finished. analysis: who made it.
    """
    growing = GrowingDocument(game, max_positions, threads)
    try:
        on_ply()
        document = growing.grow(game, on_ply)
    finally:
        growing.close()
    return with_advice(document, game, advice, analysis) if advice else document


class GrowingDocument:
    """The document of a game that may go on; nothing is worked out twice.

    max_positions: the greatest size of a belief, at least 1. A game that goes on needs one with
    which a ply takes no longer than its players do. One thread uses it. Raises ValueError for
    `max_positions` or `threads` below 1.
    """

    def __init__(self, game: chess.pgn.Game, max_positions: int, threads: int = 1) -> None:
        """Start at the first position of a game; see `game_file.read_game`."""
        board = first_board(game)
        self._board = board
        self._max_positions = max_positions
        self._beliefs = TwoBeliefs(board, max_positions, threads)
        self._positions = [_shown_position(board, self._beliefs.known(board))]

    def grow(self, game: chess.pgn.Game, on_ply: Callable[[], None] = lambda: None) -> GameDocument:
        """Return the document of a game that begins as the one before did, with all its moves.

        The documents before stay as they are. on_ply: is called after each new ply. Raises
        ValueError if the game has other moves than the one before.
        """
        moves = list(game.mainline_moves())
        known = len(self._board.move_stack)
        if moves[:known] != self._board.move_stack:
            raise ValueError("the game does not go on from the one before")
        for move in moves[known:]:
            self._board.push(move)
            after = self._beliefs.after_ply(self._board)
            self._positions.append(_shown_position(self._board, after))
            on_ply()
        headers = game.headers
        return GameDocument(
            schema=SCHEMA,
            white=headers["White"],
            black=headers["Black"],
            result=headers["Result"],
            ending=headers.get("Termination"),
            headers=[[name, value] for name, value in headers.items() if name not in NAMED],
            max_positions=self._max_positions,
            tau=TAU,
            least_loss=LEAST_LOSS,
            most_marks=MOST_MARKS,
            analysis=None,
            positions=list(self._positions),
            moves=list(_shown_moves(game)),
        )

    def close(self) -> None:
        """Release the beliefs."""
        self._beliefs.close()


def with_advice(
    document: GameDocument,
    game: chess.pgn.Game,
    advice: Sequence[ShownAdvice | None],
    analysis: ShownAnalysis | None,
) -> GameDocument:
    """Return a game's document with an analysis in the place of the one that it has, if any.

    The arguments are those of `make_document`. The beliefs are not worked out again.
    """
    return {**document, "moves": list(_shown_moves(game, advice)), "analysis": analysis}


def _shown_position(
    board: FogOfWarBoard, known: Mapping[chess.Color, SideKnowledge]
) -> ShownPosition:
    """Describe a moment of a game. known: what each side knows then."""
    return ShownPosition(
        placement=board.board_fen(),
        turn=_side(board.turn),
        white=_shown_side(known[chess.WHITE]),
        black=_shown_side(known[chess.BLACK]),
    )


def _shown_side(known: SideKnowledge) -> ShownSide:
    belief = known.belief
    shown = None
    if belief is not None:
        shown = ShownBelief(
            size=belief.size,
            exact=belief.exact,
            rebuilt=belief.rebuilt,
            even=_shown_heat(belief.even),
            weighted=None if belief.weighted is None else _shown_heat(belief.weighted),
        )
    return ShownSide(seen=known.observation.text(), belief=shown)


def _shown_heat(heat: HeatMap) -> ShownHeat:
    shares = base64.b64encode(heat.shares.tobytes()).decode("ascii")
    return ShownHeat(shares=shares, truth=float(f"{heat.truth:.4g}"))


def _shown_moves(
    game: chess.pgn.Game, advice: Sequence[ShownAdvice | None] = ()
) -> Iterator[ShownMove]:
    """Yield the moves with what their comments tell, and the marks of those that lost most.

    advice: for each move, from an analysis; there may be fewer.
    """
    nodes = list(game.mainline())
    remarks = [read_remark(node) for node in nodes]
    movers = [not node.turn() for node in nodes]
    result = _points(game)
    by_move = dict(enumerate(advice))
    found = losses([remark.pawns for remark in remarks], movers, result)
    found = analysed_losses(found, by_move)
    marked = {loss.move: loss for loss in worst(found, movers)}
    board = first_board(game)
    for index, (node, remark) in enumerate(zip(nodes, remarks, strict=True)):
        yield _shown_move(board, node.move, remark, marked.get(index), by_move.get(index))
        board.push(node.move)


def _shown_move(
    board: FogOfWarBoard,
    move: chess.Move,
    remark: Remark,
    loss: Loss | None,
    advice: ShownAdvice | None,
) -> ShownMove:
    """Describe a move. board: before it."""
    report = remark.report
    return ShownMove(
        uci=move.uci(),
        san=board.san(move),
        mover=_side(board.turn),
        number=board.fullmove_number,
        pawns=remark.pawns,
        policy=shown_options(board, report.policy),
        belief=report.belief,
        belief_exact=report.exact,
        coverage=shown_coverage(remark.coverage),
        seconds=remark.seconds,
        clock=remark.clock,
        nodes=None if report.nodes is None else round(report.nodes),
        depth=report.depth,
        text=remark.text,
        loss=None
        if loss is None
        else ShownLoss(
            before=round(loss.before, SCORE_DIGITS),
            after=round(loss.after, SCORE_DIGITS),
            analysed=loss.analysed,
        ),
        advice=advice,
    )


def _points(game: chess.pgn.Game) -> float | None:
    """Return White's points if the rules ended the game."""
    board = game.end().board()
    outcome = board.outcome()
    if outcome is None:
        return None
    drawn = board.is_stalemate() and stalemate_rule(game) == DRAW
    return 0.5 if drawn or outcome.winner is None else float(outcome.winner)


def _side(color: chess.Color) -> SideName:
    return "white" if color == chess.WHITE else "black"


# -- the comments on moves ------------------------------------------------------------------


class Remark(NamedTuple):
    """What is known of a choice. None: the file does not say so.

    pawns: the mover's evaluation, in White's view. seconds: time for the move. clock: seconds left.
    text: what a person or another program wrote besides.
    """

    pawns: float | None
    seconds: float | None
    clock: float | None
    report: Report
    coverage: Coverage | None
    text: str


def read_remark(node: chess.pgn.ChildNode) -> Remark:
    """Read the comment on a move. What cannot be read in it is left out."""
    mover = not node.turn()
    notes = read_comment(node.comment, mover)
    commands = _COMMAND.search(node.comment)
    understood = commands is None and notes.report is not None
    score = node.eval()
    return Remark(
        pawns=_pawns(notes.report, mover)
        if score is None
        else score.white().score(mate_score=_MATE) / CENTIPAWNS,
        seconds=notes.seconds,
        clock=notes.clock,
        report=notes.report or Report(),
        coverage=notes.coverage,
        text="" if understood else " ".join(_COMMAND.sub(" ", node.comment).split()),
    )


def _pawns(report: Report | None, mover: bool) -> float | None:
    """Return a report's evaluation in White's view."""
    if report is None or report.centipawns is None:
        return None
    return (1 if mover else -1) * report.centipawns / CENTIPAWNS


# -- which moves lost most: an analysis tells it, or else the mover's own expectations ------


class Loss(NamedTuple):
    """What a move lost, in points of the game: a win is 1, a draw ½."""

    move: int  # index in the game, from 0
    before: float  # the score that the mover expected when it chose the move
    after: float  # the score that it expected when it was to move again, or the game's result
    analysed: bool = False  # both are an analysis's: with a better move, and with this one

    @property
    def size(self) -> float:
        """Return how much the move lost; below 0 if things went better than expected."""
        return self.before - self.after


def expected_score(pawns: float) -> float:
    """Return the score, in [0, 1], that a side expects with an evaluation in pawns in its view.

    The engine's value tanh(pawns / τ) is the mean result in [-1, 1]; this is the same in points.
    """
    return (1.0 + math.tanh(pawns / TAU)) / 2.0


def losses(
    pawns: Sequence[float | None], movers: Sequence[chess.Color], result: float | None
) -> list[Loss]:
    """Return what each move lost, where both evaluations are known.

    pawns: each move's evaluation by its mover, in White's view. movers: who made each move. result:
    White's points if the rules ended the game; None if they did not, and then a side's last move is
    not judged.

    A loss is not all the move's own: the answer to it and what the mover then saw are in it too.
    """
    found = []
    for move, (value, mover) in enumerate(zip(pawns, movers, strict=True)):
        if value is None:
            continue
        before = _for(mover, expected_score(value))
        following = pawns[move + 2] if move + 2 < len(pawns) else None
        if following is not None:
            found.append(Loss(move, before, _for(mover, expected_score(following))))
        elif move + 2 >= len(pawns) and result is not None:
            found.append(Loss(move, before, _for(mover, result)))
    return found


def analysed_losses(found: Sequence[Loss], advice: Mapping[int, ShownAdvice | None]) -> list[Loss]:
    """Replace losses by those that an analysis tells, where it has looked at the move.

    found: what the players' own evaluations tell. advice: by move. A move that its mover had to
    make, or that the engine prefers to all others, lost nothing.
    """
    judged = {move: each for move, each in advice.items() if each is not None}
    losses = [loss for loss in found if loss.move not in judged]
    for move, each in judged.items():
        compared = each["comparison"]
        if compared is not None and compared["better"] > compared["played"]:
            losses.append(Loss(move, compared["better"], compared["played"], analysed=True))
    return losses


def turns_to_explain(game: chess.pgn.Game, advice: Sequence[ShownAdvice | None]) -> list[int]:
    """Return the moves of an analysed game whose loss is worth explaining, by number from 0.

    Each side has at most `MOST_MARKS`. A move lost what the analysis says of it, or what the
    analysis expected less at the mover's next turn. The latter finds what nobody could know.
    """
    movers = [not node.turn() for node in game.mainline()]
    pawns = [None if each is None else each["pawns"] for each in advice]
    found = losses(pawns, movers, _points(game))
    found += analysed_losses([], dict(enumerate(advice)))
    largest: dict[int, Loss] = {}
    for loss in sorted(found, key=lambda loss: loss.size):
        largest[loss.move] = loss
    return [loss.move for loss in worst(list(largest.values()), movers)]


def _for(mover: chess.Color, score: float) -> float:
    """Turn White's score into the mover's."""
    return score if mover == chess.WHITE else 1.0 - score


def worst(found: Sequence[Loss], movers: Sequence[chess.Color]) -> list[Loss]:
    """Return the losses to mark: the largest of each side, in the order of play."""
    marked: list[Loss] = []
    for color in chess.COLORS:
        own = [loss for loss in found if movers[loss.move] == color and loss.size >= LEAST_LOSS]
        marked += sorted(own, key=lambda loss: -loss.size)[:MOST_MARKS]
    return sorted(marked, key=lambda loss: loss.move)

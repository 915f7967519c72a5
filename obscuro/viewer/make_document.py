"""Turn a game of a PGN file into the document that its page is drawn from."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence

import chess
import chess.pgn

from obscuro.evaluation.scale import TAU
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW
from obscuro.viewer.advice import SCORE_DIGITS, shown_coverage, shown_options
from obscuro.viewer.document import (
    SCHEMA,
    GameDocument,
    ShownAdvice,
    ShownAnalysis,
    ShownBelief,
    ShownLoss,
    ShownMove,
    ShownPosition,
    ShownSide,
    SideName,
)
from obscuro.viewer.game_file import first_board, stalemate_rule
from obscuro.viewer.losses import LEAST_LOSS, MOST_MARKS, Loss, analysed_losses, losses, worst
from obscuro.viewer.remarks import Remark, read_remark
from obscuro.viewer.two_beliefs import SideKnowledge, replay

NAMED = ("White", "Black", "Result", "Termination", "Variant", "PlyCount", "FEN", "SetUp")
"""Headers that have a field of their own, or that the positions tell."""


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
    called after each ply, of which there may be hundreds that take a second each. advice: for each
    move, from an analysis; fewer than there are moves if it was not finished. analysis: who made it.
    """
    return describe_game(
        game,
        max_positions,
        positions=list(shown_positions(game, max_positions, threads, on_ply)),
        moves=list(shown_moves(game, advice)),
        analysis=analysis,
    )


def describe_game(
    game: chess.pgn.Game,
    max_positions: int,
    positions: list[ShownPosition],
    moves: list[ShownMove],
    analysis: ShownAnalysis | None = None,
) -> GameDocument:
    """Return the document of a game of which the positions and moves are described already."""
    headers = game.headers
    return GameDocument(
        schema=SCHEMA,
        white=headers["White"],
        black=headers["Black"],
        result=headers["Result"],
        ending=headers.get("Termination"),
        headers=[[name, value] for name, value in headers.items() if name not in NAMED],
        max_positions=max_positions,
        tau=TAU,
        least_loss=LEAST_LOSS,
        most_marks=MOST_MARKS,
        analysis=analysis,
        positions=positions,
        moves=moves,
    )


def with_advice(
    document: GameDocument,
    game: chess.pgn.Game,
    advice: Sequence[ShownAdvice | None],
    analysis: ShownAnalysis | None,
) -> GameDocument:
    """Return a game's document with an analysis in the place of the one that it has, if any.

    The arguments are those of `make_document`. The beliefs are not worked out again.
    """
    changed = document.copy()
    changed["moves"] = list(shown_moves(game, advice))
    changed["analysis"] = analysis
    return changed


def shown_positions(
    game: chess.pgn.Game, max_positions: int, threads: int, on_ply: Callable[[], None]
) -> Iterator[ShownPosition]:
    """Yield the start and the position after each move."""
    board = first_board(game)
    for known in replay(board, list(game.mainline_moves()), max_positions, threads):
        yield shown_position(board, known)
        on_ply()


def shown_position(
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
            shares=base64.b64encode(belief.shares.tobytes()).decode("ascii"),
        )
    return ShownSide(seen=known.observation.text(), belief=shown)


def shown_moves(
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

"""Turn a game of a PGN file into the document that its page is drawn from."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import chess
import chess.pgn

from obscuro.arena.move_report import Policy
from obscuro.evaluation.scale import TAU
from obscuro.fog.board import FogOfWarBoard
from obscuro.show.document import (
    SCHEMA,
    GameDocument,
    ShownBelief,
    ShownCoverage,
    ShownLoss,
    ShownMove,
    ShownOption,
    ShownPosition,
    ShownSide,
    SideName,
)
from obscuro.show.losses import LEAST_LOSS, MOST_MARKS, Loss, losses, worst
from obscuro.show.remarks import Remark, read_remark
from obscuro.show.two_beliefs import SideKnowledge, replay

NAMED = ("White", "Black", "Result", "Termination", "Variant", "PlyCount", "FEN", "SetUp")
"""Headers that have a field of their own, or that the positions tell."""

SHARE_DIGITS, SCORE_DIGITS = 4, 4


def make_document(
    game: chess.pgn.Game,
    max_positions: int,
    threads: int = 1,
    on_ply: Callable[[], None] = lambda: None,
) -> GameDocument:
    """Return the document of a game's main line; see `game_file.read_game`.

    max_positions: the greatest size of a belief, at least 1. threads: for large updates. on_ply: is
    called after each ply, of which there may be hundreds that take a second each.
    """
    headers = game.headers
    moves = list(shown_moves(game))
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
        analysis=None,
        positions=list(shown_positions(game, max_positions, threads, on_ply)),
        moves=moves,
    )


def shown_positions(
    game: chess.pgn.Game, max_positions: int, threads: int, on_ply: Callable[[], None]
) -> Iterator[ShownPosition]:
    """Yield the start and the position after each move."""
    board = _start(game)
    for known in replay(board, list(game.mainline_moves()), max_positions, threads):
        yield ShownPosition(
            placement=board.board_fen(),
            turn=_side(board.turn),
            white=_shown_side(known[chess.WHITE]),
            black=_shown_side(known[chess.BLACK]),
        )
        on_ply()


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


def shown_moves(game: chess.pgn.Game) -> Iterator[ShownMove]:
    """Yield the moves with what their comments tell, and the marks of those that lost most."""
    nodes = list(game.mainline())
    remarks = [read_remark(node) for node in nodes]
    movers = [not node.turn() for node in nodes]
    result = _points(game)
    found = losses([remark.pawns for remark in remarks], movers, result)
    marked = {loss.move: loss for loss in worst(found, movers)}
    board = _start(game)
    for index, (node, remark) in enumerate(zip(nodes, remarks, strict=True)):
        yield _shown_move(board, node.move, remark, marked.get(index))
        board.push(node.move)


def _shown_move(
    board: FogOfWarBoard, move: chess.Move, remark: Remark, loss: Loss | None
) -> ShownMove:
    """Describe a move. board: before it."""
    report, coverage = remark.report, remark.coverage
    return ShownMove(
        uci=move.uci(),
        san=board.san(move),
        mover=_side(board.turn),
        number=board.fullmove_number,
        pawns=remark.pawns,
        policy=_options(board, report.policy),
        belief=report.belief,
        belief_exact=report.exact,
        coverage=None
        if coverage is None
        else ShownCoverage(
            belief=coverage.in_belief,
            infoset=coverage.in_infoset,
            expanded=coverage.expanded,
            weight=coverage.weight,
        ),
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
            analysed=False,
        ),
        advice=None,
    )


def _options(board: FogOfWarBoard, policy: Policy) -> list[ShownOption]:
    """Return the policy; what is no legal move in it, or no share, is left out."""
    options = []
    for uci, share in policy:
        try:
            move = board.parse_uci(uci)
        except ValueError:
            continue
        if move and 0.0 < share <= 1.0:
            options.append(
                ShownOption(uci=move.uci(), san=board.san(move), share=round(share, SHARE_DIGITS))
            )
    return sorted(options, key=lambda option: -option["share"])


def _points(game: chess.pgn.Game) -> float | None:
    """Return White's points if the rules ended the game.

    The file says it where a side without a move drew.
    """
    board = game.end().board()
    outcome = board.outcome()
    if outcome is None:
        return None
    drawn = board.is_stalemate() and game.headers["Result"] == "1/2-1/2"
    return 0.5 if drawn or outcome.winner is None else float(outcome.winner)


def _start(game: chess.pgn.Game) -> FogOfWarBoard:
    board = game.board()
    assert isinstance(board, FogOfWarBoard), "`read_game` refuses other variants"
    return board


def _side(color: chess.Color) -> SideName:
    return "white" if color == chess.WHITE else "black"

"""The referee asks the players for moves, checks them, and decides when and how the game ends."""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Mapping, Sequence

import chess

from obscuro.matches.game_record import Contestant, Forfeit, GameRecord, LateForfeit, PlayedPly
from obscuro.matches.pgn import CENTIPAWNS
from obscuro.matches.time_control import ChessClock, TimeControl
from obscuro.rules.board import FogOfWarBoard

ENDINGS = {
    chess.Termination.FIFTY_MOVES: "fifty-move rule",
    chess.Termination.THREEFOLD_REPETITION: "threefold repetition",
    chess.Termination.VARIANT_DRAW: "no king left",
    chess.Termination.STALEMATE: "stalemate",
}

RESIGN_MOVES = 3
"""Moves in a row of each side at which both players must agree on who has won."""

OnPly = Callable[[FogOfWarBoard, PlayedPly], None]
OnLate = Callable[[float], None]


def play_game(
    white: Contestant,
    black: Contestant,
    *,
    control: int | TimeControl | Mapping[chess.Color, TimeControl],
    seed: int = 0,
    max_plies: int | None = None,
    resign: int = 0,
    board: FogOfWarBoard | None = None,
    on_ply: OnPly | None = None,
    on_late: OnLate | None = None,
) -> GameRecord:
    """Play one game to its end and return its record.

    A player loses if it makes an illegal move, makes no move, or runs out of time on its clock.
    control: milliseconds for each move, or a control for both sides, or one for each. seed: the
    game's seed, from which the two players get different seeds. max_plies: the game is a draw after
    this many plies. resign: see `agreed_winner`; 0 plays the game to its end. board: the starting
    position, which both sides know; its class says what a side without a move gets. on_ply: called
    after every move. on_late: called when a player is to lose by its time, with the second of
    `time.monotonic` at which its turn began; it may raise an error in place of the loss.

    Errors of players other than Forfeit (EngineError, BeliefError) pass through.
    """
    board = FogOfWarBoard() if board is None else board
    players = {chess.WHITE: white, chess.BLACK: black}
    plies: list[PlayedPly] = []
    controls = _controls(control)
    clock = ChessClock(controls[chess.WHITE], controls[chess.BLACK])
    started = ""

    def record(winner: chess.Color | None, ending: str, regular: bool = True) -> GameRecord:
        return GameRecord(
            white=white.name,
            black=black.name,
            board=board,
            winner=winner,
            ending=ending,
            regular=regular,
            plies=plies,
            controls=controls,
            told={color: player.told for color, player in players.items()},
            started=started,
        )

    for color, player in players.items():
        player.new_game(board, color, 2 * seed + (color == chess.BLACK))
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    while (outcome := board.outcome()) is None:
        if max_plies is not None and len(plies) >= max_plies:
            return record(None, f"stopped after {max_plies} plies", regular=False)
        if resign and (winner := agreed_winner(plies, resign)) is not None:
            return record(winner, f"both see {chess.COLOR_NAMES[winner]} {resign} pawns ahead")
        mover = board.turn
        begin = time.monotonic()
        try:
            turn = players[mover].choose(board, clock.allowance(mover))
            if not clock.press(mover, turn.seconds):
                raise LateForfeit("lost on time")
            move = _legal_move(board, turn.uci)
        except Forfeit as forfeit:
            if on_late is not None and isinstance(forfeit, LateForfeit):
                on_late(begin)
            return record(not mover, f"{chess.COLOR_NAMES[mover]} {forfeit}", regular=False)
        plies.append(PlayedPly(mover, turn, board.san(move)))
        board.push(move)
        if not board.is_game_over():
            for player in players.values():
                player.after_ply(board)
        if on_ply is not None:
            on_ply(board, plies[-1])
    return record(outcome.winner, ending_words(board, outcome))


def agreed_winner(plies: Sequence[PlayedPly], pawns: int) -> chess.Color | None:
    """Return the side that both players see ahead by this many pawns or more; None: no such side.

    They must have said so at each of their last `RESIGN_MOVES` moves. A player that does not report
    what its moves are worth never agrees.
    """
    last = plies[-2 * RESIGN_MOVES :]
    if len(last) < 2 * RESIGN_MOVES:
        return None
    for winner in chess.COLORS:
        if all(_pawns(ply, winner) >= pawns for ply in last):
            return winner
    return None


def _pawns(ply: PlayedPly, color: chess.Color) -> float:
    """Return what the mover says the position is worth to *color*, in pawns; NaN if it doesn't."""
    report = ply.turn.report
    if report is None or report.centipawns is None:
        return math.nan
    return report.centipawns / CENTIPAWNS * (1 if ply.color == color else -1)


def ending_words(board: FogOfWarBoard, outcome: chess.Outcome) -> str:
    """Return the cause of a game's end in words. board: the final position."""
    return ENDINGS.get(outcome.termination) or _cause_of_loss(board)


def _controls(
    control: int | TimeControl | Mapping[chess.Color, TimeControl],
) -> dict[chess.Color, TimeControl]:
    """Return each side's control."""
    if isinstance(control, Mapping):
        return dict(control)
    own = control if isinstance(control, TimeControl) else TimeControl(control)
    return dict.fromkeys(chess.COLORS, own)


def _legal_move(board: FogOfWarBoard, uci: str) -> chess.Move:
    """Parse a player's move. Raises Forfeit if it is no move, or an illegal one."""
    try:
        move = board.parse_uci(uci)
    except chess.InvalidMoveError:
        raise Forfeit(f"said {uci[:20]!r}, which is not a move") from None
    except chess.IllegalMoveError:
        raise Forfeit(f"made the illegal move {uci}") from None
    if not move:  # python-chess accepts the null move
        raise Forfeit(f"made the illegal move {uci}")
    return move


def _cause_of_loss(board: FogOfWarBoard) -> str:
    return "king captured" if board.is_variant_end() else "no moves left"

"""What a Mistboard server sends, made from a board: our own writing of its docs/engine-protocol.md.

It keeps two habits of the server: an own castling looks as if the rook had been captured, and the
square where the other side's move ended is told for every move that is seen to end, captures or not.
"""

from __future__ import annotations

from typing import Any

import chess

from obscuro.bots.our_view import OurView
from obscuro.rules.board import FogOfWarBoard

Message = dict[str, Any]
ROLES = {"q": "queen", "r": "rook", "b": "bishop", "n": "knight"}


def wire_move(board: chess.Board, move: chess.Move) -> Message:
    """Return a move as the server writes it, before it is made: castling goes to the rook."""
    target = move.to_square
    if board.is_castling(move):
        east = chess.square_file(target) > chess.square_file(move.from_square)
        target = chess.square(7 if east else 0, chess.square_rank(target))
    written = {"from": chess.square_name(move.from_square), "to": chess.square_name(target)}
    if move.promotion:
        written["promotion"] = ROLES[chess.piece_symbol(move.promotion)]
    return written


def observation(board: FogOfWarBoard, side: chess.Color) -> Message:
    """Return what a side observes after the last ply of a board; of the start without one."""
    seen, masked = board.observation(side), board.observation(side).board()
    after = {
        "ply": len(board.move_stack),
        "kind": "initial",
        "own_move": None,
        "visibility_mask": f"0x{seen.seen:016x}",
        "visible_pieces": [
            [square, {"type": piece.symbol().upper(), "color": chess.COLOR_NAMES[piece.color]}]
            for square, piece in sorted(masked.piece_map().items())
        ],
        "own_capture_square": None,
        "opp_capture_landing_square": None,
        "game_over": {"winner": None, "reason": "x"} if board.is_variant_end() else None,
    }
    if not board.move_stack:
        return after
    before = board.copy()
    move = before.pop()
    written = wire_move(before, move)
    gone = before.occupied_co[side] & ~board.occupied_co[side]
    gone &= ~chess.BB_SQUARES[move.from_square]
    if chess.popcount(gone) == 1:
        after["own_capture_square"] = chess.lsb(gone)
    if board.turn == side:
        landing = chess.parse_square(written["to"])
        lands = board.occupied_co[not side] & seen.seen & chess.BB_SQUARES[landing]
        return after | {
            "kind": "opp_move",
            "opp_capture_landing_square": landing if lands else None,
        }
    return after | {"kind": "own_move", "own_move": written}


def transcript(board: FogOfWarBoard, side: chess.Color) -> list[Message]:
    """Return a side's observations from the start of a game on."""
    replayed = board.root()
    told = [observation(replayed, side)]
    for move in board.move_stack:
        replayed.push(move)
        told.append(observation(replayed, side))
    return told


def _address(board: FogOfWarBoard, side: chess.Color, game: str) -> Message:
    """Return the fields that say which side's seat in which game a message is for."""
    return {
        "protocolVersion": "1",
        "gameId": game,
        "engineId": "obscuro",
        "sessionId": f"{game}-{chess.COLOR_NAMES[side]}",
        "color": chess.COLOR_NAMES[side],
        "ply": len(board.move_stack),
    }


def turn(board: FogOfWarBoard, *, game: str = "g", delta: bool = False, **fields: Any) -> Message:
    """Return the request for the move of the side whose turn it is."""
    side = board.turn
    told: Message = (
        {"latestObservationDelta": observation(board, side)}
        if delta
        else {"observationTranscript": transcript(board, side)}
    )
    request = {
        **_address(board, side, game),
        "engineSeed": 7,
        "clock": {"remaining_ms": None, "increment_ms": 0},
        "legalMoves": [wire_move(board, move) for move in board.legal_moves],
    }
    return request | told | fields


def push(board: FogOfWarBoard, *, game: str = "g") -> Message:
    """Return the push after the last ply of a board, to the side that made it."""
    side = not board.turn
    return {
        **_address(board, side, game),
        "observation": observation(board, side),
    }


def played(text: str) -> FogOfWarBoard:
    """Return the board after these moves, in UCI."""
    board = FogOfWarBoard()
    for uci in text.split():
        board.push_uci(uci)
    return board


def told_by_ours(board: FogOfWarBoard, side: chess.Color | None = None) -> str:
    """Return the position command of our own referee; for the side to move unless it is given."""
    view = OurView(board.turn if side is None else side, None)
    view.follow([move.uci() for move in board.move_stack])
    return view.position()


def make(board: FogOfWarBoard, answer: Message) -> None:
    """Make the move of an answer, which must be one of the legal moves as they were written."""
    move = next(m for m in board.legal_moves if wire_move(board, m) == answer["move"])
    board.push(move)

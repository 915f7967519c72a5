"""The browser gets only what its player sees: every message is read, and nothing else is in it.

`tests/leaks` compares games that differ in the fog.
"""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import chess
import pytest
from starlette.websockets import WebSocketDisconnect

from obscuro.client.engine import PlayResult
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.side_view import SideView
from obscuro.web.play.game_setup import UNTIMED_MOVE, GameSetup
from obscuro.web.play.game_store import GameStore
from obscuro.web.play.hosted_game import HostedGame
from obscuro.web.play.player_notes import PlayerNotes, color_name
from tests.bots.movers import QuickMover
from tests.sizes import quick_among
from tests.web.rooms import (
    browser,
    is_over,
    join,
    move,
    my_turn,
    quick_app,
    start_game,
    until,
)

FIELDS = {
    *("type", "game", "version", "you", "status", "turn", "ply", "start", "seen", "moves"),
    *("sheet", "last", "captured", "clocks", "movetime", "level", "takebacks", "stalemate"),
    *("can_take_back", "draw_offered", "note", "engine", "result"),
}
PUBLIC = {
    "note": {None, "the engine declines the draw", "you took your last move back"},
    "engine": {"idle", "thinking", "starting anew"},
    "status": {"preparing", "playing", "over"},
}
"""Words that can say nothing of the other side's pieces."""


def check(message: dict[str, Any], board: FogOfWarBoard, side: chess.Color) -> None:
    """Fail if a message tells more than the side knows. board: the whole game up to the message."""
    assert message.keys() == FIELDS
    account = Account(board, side)
    for name, allowed in PUBLIC.items():
        assert message[name] in allowed
    assert message["turn"] == color_name(board.turn)
    assert message["ply"] == len(account.plies)
    assert message["start"] == board.root().fen()
    assert message["seen"] == account.observation.text().partition(",")[0]

    view, notes = SideView(side, board.root()), PlayerNotes(side, board.root())
    before = view.observation
    for ply, line in zip(account.plies, message["sheet"], strict=True):
        assert ply.observation is not None
        seen = before.seen | ply.observation.seen | ahead(before, side)
        seen |= ahead(ply.observation, side)
        if ply.observation.en_passant is not None:  # then a pawn has come from two squares away
            seen |= chess.BB_FILES[chess.square_file(ply.observation.en_passant)]
        before = ply.observation
        if ply.move is not None:
            assert line["uci"] == ply.move
            assert line["note"] is None
            view.push(ply.move)
            view.see_own_move(ply.observation)
        else:
            words = f"{line['uci'] or ''} {line['note'] or ''} {line['san'] or ''}"
            for name in re.findall(r"[a-h][1-8]", words):
                assert seen >> chess.parse_square(name) & 1
            view.see_other_move(ply.observation)
        notes.take(ply)
    assert message["sheet"] == notes.sheet
    assert set(message["last"]) == {chess.square_name(square) for square in notes.marked}
    own_turn = board.turn == side and message["status"] != "over"
    assert message["moves"] == (list(view.moves()) if own_turn else [])
    assert not own_turn or set(message["moves"]) == {each.uci() for each in board.legal_moves}
    captured = "".join(piece.symbol() for piece in notes.taken)
    assert message["captured"]["you"] == captured
    if message["status"] != "over":
        assert message["result"] is None


def ahead(observation: Any, side: chess.Color) -> int:
    """Return the squares ahead of a side's pawns, where a pawn notices what blocks it."""
    pawns = observation.pieces(0 if side == chess.WHITE else 1) & observation.boards[0]
    once = pawns << 8 if side == chess.WHITE else pawns >> 8
    return int(once | (once << 8 if side == chess.WHITE else once >> 8))


@pytest.mark.parametrize(
    ("seed", "color"),
    quick_among(product(range(3), ["white", "black"]), lambda case: case == (0, "white")),
)
def test_every_message_of_a_game_holds_what_its_player_sees_and_nothing_else(
    tmp_path: Path, seed: int, color: str
) -> None:
    chance = random.Random(seed)
    side = color == "white"
    app = quick_app(tmp_path, lambda: QuickMover(lambda think: chance.choice(think.moves)))
    with browser(app) as client:
        game = start_game(client, color=color, takebacks=True)
        truth = GameStore(tmp_path)  # as another process would see it
        read = 0
        with join(client, game) as socket:
            while True:
                message = socket.receive_json()
                check(message, board_at(truth, game, message["ply"]), side)
                read += 1
                if is_over(message):
                    break
                if my_turn(message):
                    wish = chance.random()
                    if wish < 0.05 and message["can_take_back"]:
                        socket.send_json({"type": "takeback"})
                    elif wish < 0.1 and not message["draw_offered"]:
                        socket.send_json({"type": "draw"})
                    elif message["ply"] > 120:
                        socket.send_json({"type": "resign"})
                    else:
                        socket.send_json(move(message, chance.choice(message["moves"])))
        truth.close()
        assert read > 10


def test_no_other_answer_tells_anything_of_a_game_that_goes_on(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        game = start_game(client)
        with join(client, game) as socket:
            socket.send_json(move(until(socket, my_turn), "e2e4"))
            until(socket, lambda m: my_turn(m) and m["ply"] == 2)
        (row,) = client.get("/api/games").json()
        told = {"game", "you", "status", "result", "ending", "level", "started", "plies"}
        assert row.keys() == told
        for wanted in ("document", "pgn"):
            assert client.get(f"/api/games/{game}/{wanted}").status_code == 409
        for wanted in ("advice", "analysis"):
            answer = client.post(f"/api/games/{game}/{wanted}", json={"ply": 0})
            assert answer.status_code == 409
        with client.websocket_connect(f"ws://localhost/ws/look/{game}", headers={}) as socket:
            assert socket.receive_json().keys() == {"type", "error"}
            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()


def board_at(store: GameStore, game: str, ply: int) -> FogOfWarBoard:
    """Return the true board after so many plies; the file may be further on than a message."""
    stored = store.load(game)
    assert stored is not None
    assert len(stored.plies) >= ply
    board = stored.setup.board()
    for each in stored.plies[:ply]:
        board.push_uci(each.turn.uci)
    return board


def test_the_engine_learns_what_its_side_sees_and_nothing_else() -> None:
    setup = GameSetup(chess.WHITE, UNTIMED_MOVE, dict.fromkeys(chess.COLORS))
    asked = []
    for moves in (("a2a3", "g7g6", "a3a4"), ("h2h3", "g7g6", "h3h4")):  # Black sees neither
        game = HostedGame("abcdefghijkl", setup)
        game.ready(0.0)
        for ply, uci in enumerate(moves):
            think = game.think()
            if think is None:
                game.move(uci, ply, 0.0)
            else:
                game.chosen(think.number, PlayResult(uci), 0.0)
        asked.append(game.think())
    assert asked[0] == asked[1]
    assert "a2a3" not in str(asked[0])

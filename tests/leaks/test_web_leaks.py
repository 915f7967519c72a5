"""The web server tells a player the same bytes of two games that look the same to it."""

from __future__ import annotations

import json
import logging
import random
import re
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import chess
import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from obscuro.client.engine import PlayResult, Think
from obscuro.client.move_report import Report
from obscuro.web.play.game_room import state_message
from obscuro.web.play.game_setup import UNTIMED_MOVE, GameSetup
from obscuro.web.play.hosted_game import HostedGame
from tests.bots.movers import QuickMover
from tests.leaks.twins import STARTS, Twins, named_twins, plies_of, twins
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

RECONNECTS, PROBES, WISHES = 0.1, 0.1, 0.05
"""How often a player does something else before it moves. Wishes are for draws and takebacks."""
NO_ANSWER = {"document", "pgn"}
"""What is asked of a game that goes on, in vain."""


class Played:
    """A game on the real server, and all that its player was told, ids and times left out.

    seed: decides what the player does beside its moves. unsettled: states that a slower player
    misses, by their version.
    """

    def __init__(self, folder: Path, pair: Twins, moves: tuple[str, ...], seed: int) -> None:
        self._pair = pair
        self._moves = moves
        self._chance = random.Random(seed)
        self.told: list[str] = []
        self.unsettled: dict[str, str] = {}
        self._folder = folder
        self._game = ""
        self._cookie = ""

    def run(self) -> Played:
        """Play to the last move, and resign; the server starts anew in the middle."""
        middle = len(self._moves) // 2
        for until_ply in (middle, len(self._moves)):
            app = quick_app(self._folder, lambda: QuickMover(self._choose))
            with browser(app) as client:
                if not self._game:
                    self._game = start_game(
                        client,
                        color=chess.COLOR_NAMES[self._pair.side],
                        fen=self._pair.start,
                        takebacks=True,
                    )
                    self._cookie = client.cookies["obscuro_visitor"]
                client.cookies.set("obscuro_visitor", self._cookie)
                while not self._play(client, until_ply):
                    pass
        return self

    def _choose(self, think: Think) -> str:
        return self._moves[plies_of(think.position)]

    def _play(self, client: TestClient, until_ply: int) -> bool:
        """Play until the connection is lost, or up to a ply; return whether that is reached."""
        with join(client, self._game) as socket:
            state = self._settled(socket)
            while state["ply"] + 1 < until_ply:
                if self._chance.random() < RECONNECTS:
                    return False
                if self._chance.random() < PROBES:
                    self._probe(client, socket, state)
                for deed, allowed in (
                    ("draw", not state["draw_offered"]),
                    ("takeback", state["can_take_back"]),
                ):
                    if allowed and self._chance.random() < WISHES:
                        socket.send_json({"type": deed})
                        state = self._settled(socket, after=state)
                socket.send_json(move(state, self._moves[state["ply"]]))
                state = self._settled(socket, after=state)
            if until_ply == len(self._moves):
                self._probe(client, socket, state)
                self._resign(client, socket)
            return True

    def _pass(self, message: dict[str, Any]) -> bool:
        """Keep a state on the way; its number among the states may differ with the time."""
        key = f"{message['version']} {message['engine']} {message['note']}"
        self.unsettled[key] = self._text(message)
        return True

    def _settled(
        self, socket: WebSocketTestSession, after: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the next state in which the player is to move, and keep it.

        after: the state before; the one that is due is a later one.
        """
        version = 0 if after is None else after["version"]
        found = until(socket, lambda m: self._pass(m) and my_turn(m) and m["version"] > version)
        self.told.append(self._text(found))
        return found

    def _hear(self, socket: WebSocketTestSession) -> dict[str, Any]:
        """Keep the next error and the state after it, and return the state."""
        while True:
            message = socket.receive_json()
            self.told.append(self._text(message))
            if message["type"] == "state":
                return dict(message)

    def _probe(
        self, client: TestClient, socket: WebSocketTestSession, state: dict[str, Any]
    ) -> None:
        """Touch every square, also the other side's pieces; ask for what is kept back."""
        squares = self._chance.sample(chess.SQUARE_NAMES, 12)
        for first, second in pairwise(squares):
            if first + second not in state["moves"]:
                socket.send_json(move(state, first + second))
                self._hear(socket)
        for wanted in sorted(NO_ANSWER):
            self._keep(client.get(f"/api/games/{self._game}/{wanted}"))
        for wanted in ("advice", "analysis"):
            self._keep(client.post(f"/api/games/{self._game}/{wanted}", json={"ply": 0}))
        self._keep(client.get("/api/games"))
        with client.websocket_connect(f"ws://localhost/ws/look/{self._game}") as other:
            self.told.append(self._text(other.receive_json()))
        stranger = TestClient(client.app, base_url="http://localhost")
        self._keep(stranger.get(f"/api/games/{self._game}/pgn"))
        with stranger.websocket_connect(
            f"ws://localhost/ws/play/{self._game}", headers={"origin": "http://localhost"}
        ) as other:
            self.told.append(self._text(other.receive_json()))

    def _keep(self, response: Any) -> None:
        headers = sorted((k, v) for k, v in response.headers.items() if k != "date")
        self.told.append(self._text([response.status_code, headers, response.text]))

    def _resign(self, client: TestClient, socket: WebSocketTestSession) -> None:
        """End the game; the fog is lifted in the result, and nowhere else."""
        socket.send_json({"type": "resign"})
        over = until(socket, is_over)
        placement = over["result"].pop("placement")
        assert placement
        self.told.append(self._text(over))
        self._keep(client.get("/api/games"))

    def _text(self, told: Any) -> str:
        text = json.dumps(told).replace(self._game, "GAME")
        return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+(\+[\d:]+)?", "TIME", text)


def compare(folder: Path, pair: Twins, seed: int, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Play both games on servers of their own; fail where a byte differs. Returns what was told."""
    found, logs = [], []
    for number, moves in enumerate(pair.games):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "obscuro"):
            found.append(Played(folder / str(number), pair, moves, seed).run())
        logs.append([record.getMessage() for record in caplog.records])
    one, other = found
    assert len(one.told) == len(other.told)
    for first, second in zip(one.told, other.told, strict=True):
        assert first == second
    for key in one.unsettled.keys() & other.unsettled.keys():
        assert one.unsettled[key] == other.unsettled[key]
    assert logs[0] == logs[1]
    return one.told


@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_the_server_shows_none_of_the_known_leaks(
    name: str, pair: Twins, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert compare(tmp_path, pair, 0, caplog)


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(
        product(range(8), chess.COLORS, STARTS),
        lambda case: case[0] == 0 and case[1] == (STARTS.index(case[2]) % 2 == 0),
    ),
)
def test_whole_games_on_the_server_are_told_the_same_byte_for_byte(
    seed: int, side: chess.Color, start: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pair = twins(seed, side, start, plies=60)
    told = compare(tmp_path, pair, seed, caplog)
    assert len(told) > len(pair.one) // 2


def messages(pair: Twins, moves: tuple[str, ...]) -> list[str]:
    """Return the message after each ply of a game, without a server around it."""
    levels = dict.fromkeys(chess.COLORS)
    setup = GameSetup(pair.side, UNTIMED_MOVE, levels, start=pair.start, takebacks=True)
    game = HostedGame("abcdefghijkl", setup)
    game.ready(0.0)
    found = [json.dumps(state_message(game, "idle", 0.0))]
    for ply, uci in enumerate(moves):
        think = game.think()
        if think is None:
            game.move(uci, ply, float(ply))
        else:
            game.chosen(think.number, PlayResult(uci, Report(centipawns=10 * ply)), float(ply))
        found.append(json.dumps(state_message(game, "idle", float(ply))))
    return found


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(product(range(60), chess.COLORS, STARTS), lambda case: case[0] < 3),
)
def test_every_state_is_the_same_byte_for_byte(seed: int, side: chess.Color, start: str) -> None:
    pair = twins(1000 + seed, side, start)
    one, other = (messages(pair, moves) for moves in pair.games)
    assert one == other

"""A bot does, says and logs the same in two games that look the same to its side."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import chess
import pytest

from obscuro.bots.bot_settings import GameSettings
from obscuro.bots.events import GameFull, GameState
from obscuro.bots.game_log import PgnArchive
from obscuro.bots.game_messages import (
    Action,
    Connected,
    Disconnected,
    Message,
    Send,
    Sent,
    Thought,
)
from obscuro.bots.server_game import ServerGame
from obscuro.client.engine import Think
from tests.bots.movers import QuickMover
from tests.bots.server import Dialect, serving
from tests.bots.test_bot import living
from tests.leaks.twins import STARTS, Twins, named_twins, plies_of, twins
from tests.sizes import quick_among

BOT, GUEST = frozenset({"bot"}), frozenset({"guest"})
SETTINGS = GameSettings(greeting="Good luck!", farewell="Good game!")


def stream(pair: Twins, moves: tuple[str, ...], seed: int) -> Iterator[Message]:
    """Yield what a server tells of a game: lost connections, moves taken back, offers of draws."""
    chance = random.Random(seed)
    white, black = (BOT, GUEST) if pair.side == chess.WHITE else (GUEST, BOT)

    def state(plies: int, **more: bool) -> GameState:
        return GameState(moves[:plies], 60_000, 60_000, 1000, 1000, "started", **more)

    def full(plies: int) -> GameFull:
        start = None if pair.start == chess.STARTING_FEN else pair.start
        return GameFull("game0001", "fogofwar", white, black, start, state(plies), "a", "b")

    yield Connected()
    yield full(0)
    for plies in range(1, len(moves) + 1):
        yield state(plies)
        deed = chance.random()
        if deed < 0.1:
            yield from (Disconnected(), Connected(), full(plies))
        elif deed < 0.2:
            yield from (state(plies, wdraw=True, bdraw=True), state(plies))
        elif deed < 0.3:
            yield from (state(plies, wtakeback=True, btakeback=True), state(plies))
        elif deed < 0.4 and plies > 2:
            yield from (state(plies - 2), state(plies - 1), state(plies))


def actions(pair: Twins, moves: tuple[str, ...], seed: int) -> list[list[Action]]:
    """Return what the game's state machine does after each message; it plays the game's moves."""
    game = ServerGame("game0001", "Bot", SETTINGS)
    done, now = [], 0.0
    for message in stream(pair, moves, seed):
        waiting: list[Message] = [message]
        while waiting:
            now += 1.0
            found = game.handle(waiting.pop(0), now)
            done.append(found)
            for action in found:
                match action:
                    case Think():
                        plies = plies_of(action.position)
                        if plies < len(moves):
                            waiting.append(Thought(action.number, moves[plies], 10))
                    case Send():
                        waiting.append(Sent(action.number, action.move))
    return done


@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_a_bot_shows_none_of_the_known_leaks(name: str, pair: Twins) -> None:
    for seed in range(3):
        one, other = (actions(pair, moves, seed) for moves in pair.games)
        assert repr(one) == repr(other)


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(product(range(40), chess.COLORS, STARTS), lambda case: case[0] < 2),
)
def test_a_bot_does_the_same_byte_for_byte(seed: int, side: chess.Color, start: str) -> None:
    pair = twins(2000 + seed, side, start, plies=60)
    one, other = (actions(pair, moves, seed) for moves in pair.games)
    assert repr(one) == repr(other)
    assert sum(isinstance(action, Think) for each in one for action in each) > len(pair.one) // 5


def on_a_server(
    dialect: Dialect, pair: Twins, moves: tuple[str, ...], folder: Path
) -> tuple[object, ...]:
    """Play a game over HTTP until the opponent resigns.

    Returns what the engine was asked before that, which moves were sent, and what was asked and
    said besides. A move may be sent twice on a busy machine.
    """
    archive = PgnArchive(folder / "games.pgn", "http://server.example")

    def pick(think: Think) -> str:
        return moves[plies_of(think.position)]

    mover = QuickMover(pick)
    with (
        serving(dialect) as server,
        living(server, mover=mover, settings=SETTINGS, archive=archive) as live,
    ):
        start = None if pair.start == chess.STARTING_FEN else pair.start
        game = server.game(server.challenge(bot=pair.side, fen=start))
        first = game.board.turn
        for ply, uci in enumerate(moves):
            if (ply % 2 == 0) == (first == pair.side):  # it may have been made already
                server.until(lambda ply=ply: len(game.moves) > ply)
            else:
                game.play(uci)
            assert not any(folder.iterdir()), "nothing is on the disk before the end"
            if ply == len(moves) // 2:
                game.drop()
        server.until(lambda: game.said)
        asked = dict.fromkeys((think.position, think.moves) for _, think in mover.asked)
        paths = dict.fromkeys(each.path for each in server.requests if each.method == "POST")
        said = [each["text"] for each in game.said]
        game.end("resign", pair.side)
        server.until(lambda: live.pool.given)
    sent = [path for path in paths if "/move/" in path]
    return list(asked), sent, sorted(paths.keys() - sent), said


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["lichess", "pychess"])
@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_a_bot_on_a_server_tells_nothing_of_the_fog(
    dialect: Dialect, name: str, pair: Twins, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = []
    for number, moves in enumerate(pair.games):
        folder = tmp_path / str(number)
        folder.mkdir()
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "obscuro"):
            told.append(on_a_server(dialect, pair, moves, folder))
        logged = [record.getMessage() for record in caplog.records]
        assert logged
        for ply in range(pair.start.split()[1] == "w" and pair.side == chess.WHITE, len(moves), 2):
            assert not any(moves[ply] in line for line in logged)
    assert told[0] == told[1]

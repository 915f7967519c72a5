"""Whole games on a real HTTP server, with everything that goes wrong on networks."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.bots.bot import (
    EXPECTED_SECONDS,
    MOST_REFUSALS,
    MOST_UNDERWAY,
    OPPONENT_SECONDS,
    AccountInUse,
    Bridge,
    GamesUnderway,
    Opponents,
    RecentIds,
    StateLock,
)
from obscuro.bots.bot_client import BotClient, Patience
from obscuro.bots.bot_settings import GameSettings, Policy
from obscuro.bots.game_log import PgnArchive
from obscuro.client.engine import Mover, Think
from obscuro.client.engine_pool import MoverPool
from obscuro.rules.board import FogOfWarBoard
from tests.bots.fake_time import FakeTime
from tests.bots.movers import QuickMover
from tests.bots.server import (
    BOT,
    TOKEN,
    BotServer,
    Cut,
    Dialect,
    Fault,
    ServerGame,
    serving,
)
from tests.hanging import HANG_SECONDS
from tests.uci.games import random_moves, turns_of

QUICK = Patience(connect=5.0, answer=5.0, silence=5.0, pauses=(0.0, 0.01), between_opens=0.0)


class CountingPool(MoverPool):
    """Tells the server, on which tests wait, how many movers it has taken back."""

    def __init__(self, server: BotServer, make: Callable[[], QuickMover], spare: int) -> None:
        super().__init__(make, spare)
        self.given = 0
        self._server = server

    def give(self, mover: Mover) -> None:
        super().give(mover)
        with self._server.news:
            self.given += 1
            self._server.news.notify_all()


class Live:
    """A bridge that runs, with movers of this process."""

    def __init__(
        self,
        server: BotServer,
        mover: QuickMover | None = None,
        policy: Policy | None = None,
        settings: GameSettings | None = None,
        most_games: int | None = None,
        patience: Patience = QUICK,
        underway: GamesUnderway | None = None,
        archive: PgnArchive | None = None,
    ) -> None:
        self.server = server
        self.movers: list[QuickMover] = []

        def make() -> QuickMover:
            self.movers.append(mover if mover is not None and not self.movers else QuickMover())
            return self.movers[-1]

        self.client = BotClient(server.url, TOKEN, patience=patience)
        self.pool = CountingPool(server, make, spare=4)
        self.bridge = Bridge(
            BOT,
            self.client,
            self.pool,
            policy or Policy(leave_after=most_games),
            settings or GameSettings(),
            underway=underway,
            archive=archive,
        )
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.bridge.run()
        except BaseException as error:
            self.error = error

    def join(self) -> None:
        self.thread.join(HANG_SECONDS)
        assert not self.thread.is_alive()


@contextmanager
def living(server: BotServer, **values: object) -> Iterator[Live]:
    live = Live(server, **values)  # type: ignore[arg-type]
    live.thread.start()
    try:
        server.until(lambda: server.events.queues)
        yield live
    finally:
        live.bridge.leave()
        live.join()
        live.pool.close()
        live.client.close()


@pytest.fixture(params=["lichess", "pychess"])
def server(request: pytest.FixtureRequest) -> Iterator[BotServer]:
    dialect: Dialect = request.param
    with serving(dialect) as running:
        yield running


@pytest.fixture
def lichess() -> Iterator[BotServer]:
    with serving("lichess") as running:
        yield running


def over(server: BotServer, game: ServerGame) -> None:
    server.until(lambda: game.status != "started")


def next_game(server: BotServer, **values: Any) -> ServerGame:
    """Challenge until it is accepted: a game may just be over, and we not have heard of it."""
    while True:
        name = server.challenge(**values)
        server.until(lambda name=name: name in server.games or name in server.declined)
        if name in server.games:
            return server.games[name]


def play_out(server: BotServer, game: ServerGame, seed: int = 0) -> None:
    """Move for the opponent, by chance, to the end of the game."""
    rng = random.Random(seed)
    while True:
        server.until(lambda: game.status != "started" or game.board.turn != game.bot)
        if game.status != "started":
            return
        game.play(rng.choice(sorted(map(str, game.board.legal_moves))))


# -- games ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", chess.COLORS)
def test_a_whole_game(server: BotServer, bot: chess.Color) -> None:
    with living(server, most_games=1) as live:
        game = server.game(server.challenge(bot=bot))
        play_out(server, game, seed=3)
        live.join()
    (mover,) = live.movers
    assert live.error is None
    # The engine has got what its side saw, and nothing else.
    for (name, think), ply in zip(mover.asked, range(0 if bot else 1, 1000, 2), strict=False):
        assert name == game.id
        assert think.side == bot
        assert think.position == told(game, ply)
        assert game.moves[ply] in think.moves
    assert len(mover.asked) == len(game.moves[0 if bot else 1 :: 2])


def test_several_games_in_a_row_with_one_engine(server: BotServer) -> None:
    with living(server, most_games=3) as live:
        for seed in range(3):
            play_out(server, next_game(server, bot=seed % 2 == 0), seed)
            server.until(lambda seed=seed: live.pool.given > seed)
        live.join()
    assert live.error is None
    assert {name for name, _ in live.movers[0].asked} == set(server.games)
    assert len(live.movers) == 1


def test_two_games_at_once_and_no_third(server: BotServer) -> None:
    with living(server, policy=Policy(games=2)) as live:
        first, second = (server.game(server.challenge(bot=chess.BLACK)) for _ in range(2))
        third = server.challenge()
        server.until(lambda: third in server.declined)
        assert server.declined[third] == "later"
        for game in (first, second):
            game.play("e2e4")
        server.until(lambda: len(first.moves) == len(second.moves) == 2)
    assert {name for mover in live.movers for name, _ in mover.asked} == {first.id, second.id}


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"variant": {"key": "atomic"}}, "variant"),
        ({"timeControl": {"type": "clock", "limit": 10, "increment": 0}}, "tooFast"),
    ],
)
def test_other_challenges_are_declined_with_a_reason(
    server: BotServer, over: dict[str, object], reason: str
) -> None:
    with living(server):
        name = server.challenge(over=over)
        server.until(lambda: name in server.declined)
        assert server.declined[name] == reason


def test_a_challenge_heard_twice_is_answered_once(server: BotServer) -> None:
    with living(server) as live:
        with server.news:
            name = server.challenge(bot=chess.BLACK)
            again = {"type": "challenge", "challenge": {"id": name, "variant": {"key": "fogofwar"}}}
            server.events.say(again)
        game = server.game(name)
        with server.news:
            server.events.say(again)
            server.announce(game)
            server.announce(game)
        game.play("e2e4")
        server.until(lambda: len(game.moves) == 2)
        assert len(game.feed.queues) == 1
    assert server.count("/accept") == 1
    assert len(live.movers) == 1


def test_a_challenge_taken_back_leaves_room_for_the_next(server: BotServer) -> None:
    with living(server) as live:
        with server.news:
            name = server.challenge()
            del server.pending[name]  # before we could answer
            server.events.say({"type": "challengeCanceled", "challenge": {"id": name}})
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None


# -- cold starts and lost connections ------------------------------------------------------------


@pytest.mark.parametrize("bot", chess.COLORS)
def test_a_game_is_taken_up_cold_in_its_middle(server: BotServer, bot: chess.Color) -> None:
    game = server.new_game(bot)
    for move in random_moves(4, 30):
        game.board.push_uci(move)
    with living(server) as live:
        if bot == chess.BLACK:
            game.play("a2a3" if "a2a3" in map(str, game.board.legal_moves) else random_move(game))
        server.until(lambda: len(game.moves) == 31 + (not bot))
    ((_, think),) = live.movers[0].asked
    turns = " ".join(turns_of(bot, game.moves[:-1]))
    assert think.position == f"position fog {chess.COLOR_NAMES[bot]} startpos turns {turns}"


def random_move(game: ServerGame) -> str:
    return random.Random(1).choice(sorted(map(str, game.board.legal_moves)))


def test_a_game_from_another_start(server: BotServer) -> None:
    fen = "4k3/8/8/8/8/8/8/4RK2 w - - 0 1"
    with living(server, mover=QuickMover(lambda think: think.moves[0])) as live:
        game = server.game(server.challenge(fen=fen))
        over(server, game)
        assert game.moves == ["e1e8"]  # the king's capture comes first
    assert live.movers[0].asked[0][1].position == f"position fog white fen {fen} turns"


@pytest.mark.parametrize("half", [b"", b'{"type": "gameState", "moves": "e2'])
def test_the_games_connection_is_lost_again_and_again(server: BotServer, half: bytes) -> None:
    rng = random.Random(5)
    with living(server, most_games=1) as live:
        game = server.game(server.challenge())
        while game.status == "started":
            server.until(lambda: game.status != "started" or game.board.turn != game.bot)
            if game.status != "started":
                break
            server.until(lambda: game.feed.queues)
            game.drop(half)
            game.play(rng.choice(sorted(map(str, game.board.legal_moves))))
        live.join()
    assert live.error is None
    # Where the last word was lost, and the server says `started` of all games, we try once more.
    ours = len(game.moves[0::2])
    assert ours <= len(live.movers[0].asked) <= ours + (server.dialect == "pychess")


def test_the_event_streams_connection_is_lost(server: BotServer) -> None:
    with living(server) as live:
        for _ in range(3):
            with server.news:
                server.events.send(Cut(b'{"ty'))
                server.events.queues.clear()
            server.until(lambda: server.events.queues)
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None
    assert server.count("/stream/event") >= 2


def test_a_stream_that_falls_silent_is_opened_again(server: BotServer) -> None:
    server.ping_seconds = 1000.0
    patience = Patience(silence=0.2, pauses=(0.0,), between_opens=0.0)
    with living(server, patience=patience) as live:
        game = server.game(server.challenge(bot=chess.BLACK))
        server.until(lambda: server.count(f"/stream/{game.id}") >= 3)
        game.play("e2e4")
        server.until(lambda: len(game.moves) == 2)
    assert live.error is None


@pytest.fixture
def quick_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bridge look soon for a move of ours that the server has not shown."""
    monkeypatch.setattr("obscuro.bots.game_turns.ECHO_SECONDS", 0.2)


@pytest.mark.usefixtures("quick_echo")
def test_what_is_said_twice_changes_nothing(server: BotServer) -> None:
    rng = random.Random(6)
    with living(server, most_games=1) as live:
        game = server.game(server.challenge())
        while True:
            server.until(lambda: game.status != "started" or game.board.turn != game.bot)
            if game.status != "started":
                break
            with server.news:
                game.play(rng.choice(sorted(map(str, game.board.legal_moves))))
                for _ in range(3):
                    game.feed.say(rng.choice([game.full(), game.state()]))
        live.join()
    assert live.error is None
    asked = [think.position for _, think in live.movers[0].asked]
    played = [told(game, ply) for ply in range(0, len(game.moves), 2)]
    assert asked[: len(played)] == played
    # pychess.org's states never say that the game is over, and its word of the end may be lost.
    unheard = [told(game)] if server.dialect == "pychess" and len(game.moves) % 2 == 0 else []
    assert asked[len(played) :] in ([], unheard)
    assert server.count("/resign") == 0


def test_a_server_is_started_again_in_mid_game(server: BotServer) -> None:
    with living(server, most_games=1) as live:
        game = server.game(server.challenge())
        for seed in range(3):
            server.until(lambda: game.board.turn != game.bot)
            server.restart()
            rng = random.Random(seed)
            game.play(rng.choice(sorted(map(str, game.board.legal_moves))))
        play_out(server, game)
        live.join()
    assert live.error is None
    assert len(live.movers) == 1


# -- what pychess.org does ---------------------------------------------------------------------


@pytest.fixture
def pychess() -> Iterator[BotServer]:
    with serving("pychess") as running:
        yield running


def asked_last(live: Live) -> str:
    return live.movers[0].asked[-1][1].position


def told(game: ServerGame, plies: int | None = None) -> str:
    """What the engine is told when it is to move, after so many plies of the game, or after all."""
    side = chess.COLOR_NAMES[game.bot]
    turns = " ".join(turns_of(game.bot, game.moves[:plies]))
    return f"position fog {side} startpos turns {turns}".rstrip()


@pytest.mark.parametrize("again", ["c7c5", "e7e5"])
def test_a_takeback_on_the_other_sides_turn(pychess: BotServer, again: str) -> None:
    with living(pychess) as live:
        game = pychess.game(pychess.challenge())
        pychess.until(lambda: len(game.moves) == 1)
        game.play("e7e5")
        pychess.until(lambda: len(game.moves) == 3)
        game.take_back()
        assert len(game.moves) == 1
        with pychess.news:
            game.play(again)
            position = told(game)
        pychess.until(lambda: len(game.moves) == 3)
    assert asked_last(live) == position
    assert live.error is None


def test_takebacks_to_the_start_again_and_again(pychess: BotServer) -> None:
    with living(pychess) as live:
        game = pychess.game(pychess.challenge(bot=chess.BLACK))
        for move in ("e2e4", "e2e4", "d2d4"):
            with pychess.news:
                game.play(move)
                position = told(game)
            pychess.until(lambda: len(game.moves) == 2)
            assert asked_last(live) == position
            game.take_back()
            assert game.moves == []
        play_out(pychess, game, seed=4)
        pychess.until(lambda: not live.bridge._games)
    assert live.error is None


class Gate:
    """A mover that answers only while it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.mover = QuickMover(self._pick)

    def _pick(self, think: Think) -> str:
        assert self.open.wait(HANG_SECONDS)
        return think.moves[-1]


def thinking_about(server: BotServer, game: ServerGame, gate: Gate) -> None:
    """Bring a game of the bot's Black to its second move, which does not come yet."""
    game.play("e2e4")
    server.until(lambda: len(game.moves) == 2)
    gate.open.clear()
    gate.mover.thinking.clear()
    game.play("e4e5")
    assert gate.mover.thinking.wait(HANG_SECONDS)
    gate.mover.stopped.clear()


@pytest.mark.parametrize("again", ["e4e5", "b1c3"])
def test_a_takeback_while_we_think(pychess: BotServer, again: str) -> None:
    gate = Gate()
    with living(pychess, mover=gate.mover) as live:
        game = pychess.game(pychess.challenge(bot=chess.BLACK))
        thinking_about(pychess, game, gate)
        game.take_back()
        with pychess.news:
            game.play(again)
            position = told(game)
        if again != "e4e5":  # else nothing has changed for us
            assert gate.mover.stopped.wait(HANG_SECONDS)
        gate.open.set()
        pychess.until(lambda: len(game.moves) == 4)
        assert asked_last(live) == position
    assert live.error is None


@pytest.mark.usefixtures("quick_echo")
def test_a_move_that_is_ignored_after_a_takeback_is_made_again(pychess: BotServer) -> None:
    """The answer is 200, and the move is not made; the other side then plays the same again."""
    gate = Gate()
    with living(pychess, mover=gate.mover) as live:
        game = pychess.game(pychess.challenge(bot=chess.BLACK))
        thinking_about(pychess, game, gate)
        game.take_back()
        gate.open.set()
        pychess.until(lambda: sum("/move/" in request.path for request in pychess.requests) == 2)
        assert len(game.moves) == 2
        game.play("e4e5")
        pychess.until(lambda: len(game.moves) == 4)
    assert live.error is None


def test_a_king_that_we_take_is_known(pychess: BotServer, caplog: pytest.LogCaptureFixture) -> None:
    mover = QuickMover(lambda think: think.moves[0])  # the king's capture
    with caplog.at_level(logging.INFO), living(pychess, mover=mover, most_games=1) as live:
        fen = "4k3/8/8/8/8/8/4r3/R3K3 w Q - 0 1"
        game = pychess.game(pychess.challenge(bot=chess.BLACK, fen=fen))
        game.play("a1a8")  # the bot takes the king first
        live.join()
    assert game.moves == ["a1a8", "e2e1"]
    assert "won: king captured (the board shows it)" in caplog.text


def test_a_king_that_the_other_side_takes_is_known(
    pychess: BotServer, caplog: pytest.LogCaptureFixture
) -> None:
    fen = "4k3/p7/8/8/8/8/8/4RK2 b - - 0 1"
    mover = QuickMover(lambda think: "a7a6")
    with caplog.at_level(logging.INFO), living(pychess, mover=mover, most_games=1) as live:
        game = pychess.game(pychess.challenge(bot=chess.BLACK, fen=fen))
        pychess.until(lambda: len(game.moves) == 1)
        game.play("e1e8")
        live.join()
    assert "lost: king captured (the board shows it)" in caplog.text


def test_resigning_is_said_in_the_chat_since_the_server_does_not(pychess: BotServer) -> None:
    settings = GameSettings(resign_score=-1000, resign_moves=1)
    with living(pychess, mover=QuickMover(score=-2000), settings=settings, most_games=1) as live:
        game = pychess.game(pychess.challenge())
        live.join()
        pychess.until(lambda: game.said)
    assert game.said == [{"room": "player", "text": "I resign."}]


def test_a_rematch_comes_without_a_challenge(pychess: BotServer) -> None:
    with living(pychess) as live:
        game = pychess.game(pychess.challenge())
        pychess.until(lambda: len(game.moves) == 1)
        given, give = threading.Event(), live.pool.give
        live.pool.give = lambda mover: (give(mover), given.set())
        game.end("resign", game.bot)
        assert given.wait(HANG_SECONDS)
        again = pychess.rematch(game)
        again.play("e2e4")
        pychess.until(lambda: len(again.moves) == 2)
    assert live.error is None
    assert len(live.movers) == 1  # the engine was given back before the end was known


def test_a_stream_that_is_refused_after_its_headers_is_opened_in_the_end(
    pychess: BotServer,
) -> None:
    """The server notices late that a stream was closed; until then it breaks off each new one."""
    game = pychess.new_game(chess.BLACK)
    other = BotClient(pychess.url, TOKEN)
    stream = other.game_events(game.id, threading.Event())
    with living(pychess) as live:
        pychess.announce(game)
        pychess.until(lambda: pychess.conflicts >= 2)
        stream.close()
        game.play("e2e4")
        pychess.until(lambda: len(game.moves) == 2)
    other.close()
    assert live.error is None


# -- requests that fail --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=500),
        Fault(status=502, body="<html>Bad gateway</html>"),
        Fault(status=429, headers={"Retry-After": "1"}),
        Fault(drop=True),
        Fault(lost=True),
    ],
    ids=["500", "502", "429", "dropped", "answer lost"],
)
def test_moves_arrive_in_the_end(server: BotServer, fault: Fault) -> None:
    with living(server, most_games=1) as live:
        time = FakeTime()  # which passes as the move waits; the server needs some real time

        def wait(cancel: threading.Event, seconds: float) -> bool:
            time.wait(cancel, seconds)
            return cancel.wait(min(seconds, 0.02))

        live.client._clock, live.client._wait = time.clock, wait
        server.fail("/move/", fault, fault, fault)
        game = server.game(server.challenge())
        play_out(server, game, seed=8)
        live.join()
    assert live.error is None
    assert live.movers[0].asked  # and every move was chosen once
    assert len(live.movers[0].asked) == len(game.moves[0::2])


def test_a_move_refused_because_the_game_is_over(lichess: BotServer) -> None:
    mover = QuickMover()
    with living(lichess, mover=mover) as live:
        game = lichess.game(lichess.challenge(bot=chess.BLACK))
        lichess.until(lambda: game.feed.queues)
        with lichess.news:
            # It ends as our move is on its way, and we are not told.
            feed, game.feed = game.feed, type(game.feed)()
            game.board.push_uci("e2e4")
            feed.say(game.state())
            game.status = "resign"
            game.winner = "black"
            game.feed = feed
        second = next_game(lichess)
        lichess.until(lambda: len(second.moves) == 1)
    assert live.error is None
    assert lichess.count("/resign") == 0


def test_a_move_that_the_server_does_not_know_is_replaced_by_another(server: BotServer) -> None:
    server.fail("/move/", Fault(status=400, body='{"error": "no"}'))
    with living(server):
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
        moves = [r.path.rsplit("/", 1)[1] for r in server.requests if "/move/" in r.path]
        assert len(set(moves)) == 2
        assert game.moves == [moves[1]]


def test_a_server_that_refuses_every_move_is_left(server: BotServer) -> None:
    server.fail("/move/", *[Fault(status=400)] * 100)
    with living(server):
        game = server.game(server.challenge())
        over(server, game)
        assert game.status == "resign"


def test_accepting_fails_and_the_next_challenge_is_accepted(server: BotServer) -> None:
    server.fail("/accept", Fault(status=404))
    with living(server):
        server.challenge()
        server.until(lambda: server.count("/accept") == 1)
        game = next_game(server)  # there is room for it again
        server.until(lambda: len(game.moves) == 1)


def cut_the_event_stream(server: BotServer) -> None:
    with server.news:
        server.events.send(Cut())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_an_event_stream_that_is_refused_again_and_again_is_the_end(
    server: BotServer, status: int
) -> None:
    with living(server) as live:
        server.fail("/stream/event", *[Fault(status=status, body="no such header")] * 10)
        cut_the_event_stream(server)
        live.join()
    assert f"{status} no such header" in str(live.error)
    assert server.count("/stream/event") == 1 + MOST_REFUSALS


def test_games_are_played_to_their_end_when_the_event_stream_is_refused(
    server: BotServer,
) -> None:
    with living(server) as live:
        game = server.game(server.challenge())
        server.fail("/stream/event", *[Fault(status=400)] * 10)
        cut_the_event_stream(server)
        server.until(lambda: server.count("/stream/event") == 1 + MOST_REFUSALS)
        play_out(server, game, seed=2)
        live.join()
    assert "400" in str(live.error)


def test_an_event_stream_that_is_refused_twice_is_opened_in_the_end(server: BotServer) -> None:
    with living(server) as live:
        server.fail("/stream/event", *[Fault(status=409)] * (MOST_REFUSALS - 1))
        cut_the_event_stream(server)
        server.until(lambda: server.count("/stream/event") == 1 + MOST_REFUSALS)
        game = next_game(server)
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None


def test_a_game_that_the_server_has_forgotten(server: BotServer) -> None:
    with living(server) as live:
        with server.news:
            server.events.say({"type": "gameStart", "game": {"id": "nowhere1"}})
        game = next_game(server)  # there is room for it again
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None


# -- what else happens in games --------------------------------------------------------------------


def test_the_other_side_resigns_while_we_think(server: BotServer) -> None:
    mover = QuickMover()
    mover.hold = True
    with living(server, mover=mover, most_games=1) as live:
        game = server.game(server.challenge())
        assert mover.thinking.wait(HANG_SECONDS)
        game.end("resign", game.bot)
        live.join()
    assert live.error is None
    assert game.moves == []


def test_draw_offers_and_takebacks_are_answered(lichess: BotServer) -> None:
    with living(lichess) as live:
        game = lichess.game(lichess.challenge())
        lichess.until(lambda: len(game.moves) == 1)
        with lichess.news:
            game.extra = {"bdraw": True, "btakeback": True}
            game.feed.say(game.state())
            game.feed.say(game.state())
        lichess.until(lambda: lichess.count("/draw/no") and lichess.count("/takeback/no"))
        assert game.status == "started"
        game.play("e7e5")
        lichess.until(lambda: len(game.moves) == 3)
    assert live.error is None
    assert lichess.count("/draw/no") == lichess.count("/takeback/no") == 1


def test_clocks_of_both_dialects(server: BotServer) -> None:
    with living(server) as live:
        game = server.game(server.challenge(bot=chess.BLACK, clock=90_000))
        game.play("e2e4")
        server.until(lambda: len(game.moves) == 2)
        game.play("d2d4")
        server.until(lambda: len(game.moves) == 4)
    first, second = (think for _, think in live.movers[0].asked)
    assert first.movetime == 4500  # no clock runs before both have moved
    assert second.clocks == (90_000, 90_000, 2000, 2000)


def test_a_game_without_a_clock(server: BotServer) -> None:
    policy = Policy(unlimited=True)
    with living(server, policy=policy, settings=GameSettings(movetime=77)) as live:
        over_ = {"timeControl": {"type": "unlimited"}}
        game = server.game(server.challenge(over=over_, clock=None))
        server.until(lambda: len(game.moves) == 1)
    assert live.movers[0].asked[0][1].movetime == 77


def test_the_engine_hears_how_the_game_stands_after_our_move(server: BotServer) -> None:
    mover = QuickMover()
    with living(server, mover=mover):
        game = server.game(server.challenge())
        assert mover.told.wait(HANG_SECONDS)
    name, position = mover.watched[0]
    turns = " ".join(turns_of(chess.WHITE, game.moves[:1]))
    assert (name, position) == (game.id, f"position fog white startpos turns {turns}")


# -- leaving ------------------------------------------------------------------------------------


def test_leaving_at_once_and_coming_back(server: BotServer) -> None:
    underway = GamesUnderway(None)
    mover = QuickMover()
    mover.hold = True
    with living(server, mover=mover, underway=underway) as live:
        game = server.game(server.challenge())
        assert mover.thinking.wait(HANG_SECONDS)
        live.bridge.leave()
        live.join()
    assert mover.closed
    assert (game.status, game.moves) == ("started", [])
    assert underway.ids() == (game.id,)
    with living(server, most_games=1, underway=underway) as live:
        play_out(server, game)
        live.join()
    assert live.error is None
    assert underway.ids() == ()


def test_a_game_that_is_gone_is_looked_for_once(server: BotServer) -> None:
    underway = GamesUnderway(None)
    underway.add("gone1234")
    with living(server, underway=underway) as live:
        game = next_game(server)  # there is room for it again
        server.until(lambda: len(game.moves) == 1)
        assert underway.ids() == (game.id,)
    assert live.error is None


def test_a_game_whose_beginning_was_not_told_is_asked_for(server: BotServer) -> None:
    clock = [0.0]
    with living(server) as live:
        live.bridge._clock = lambda: clock[0]
        server.mute = True  # the event that tells of the game is lost
        game = server.game(server.challenge())
        server.until(lambda: live.bridge._expected.get(game.id) == 0.0)
        clock[0] = EXPECTED_SECONDS
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None


def test_games_are_written_down_with_their_end(server: BotServer, tmp_path: Path) -> None:
    archive = PgnArchive(tmp_path / "games.pgn", server.url)
    with living(server, most_games=1, archive=archive) as live:
        game = server.game(server.challenge(fen="4k3/8/8/8/8/8/8/4RK2 w - - 0 1", bot=chess.BLACK))
        game.play("e1e8")
        live.join()
    pgn = (tmp_path / "games.pgn").read_text()
    assert '[Result "1-0"]' in pgn and "Rxe8" in pgn


def test_people_are_greeted_in_the_chat(server: BotServer) -> None:
    settings = GameSettings(greeting="Hello", farewell="Bye")
    with living(server, settings=settings, most_games=1) as live:
        ended, say = threading.Event(), live.client.say

        def say_late(game: str, text: str, cancel: threading.Event) -> None:
            if text == "Hello":  # it arrives before the farewell all the same
                assert ended.wait(HANG_SECONDS)
            say(game, text, cancel)

        live.client.say = say_late
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
        (played,) = live.bridge._games.values()
        game.play("e7e5")
        server.until(lambda: len(game.moves) == 3)
        game.end("resign", game.bot)
        server.until(lambda: len(played._asks) == 2)  # both lines are on their way
        ended.set()
        live.join()
        server.until(lambda: len(game.said) == 2)
    assert [line["text"] for line in game.said] == ["Hello", "Bye"]


def test_finishing_plays_on_but_accepts_nothing(server: BotServer) -> None:
    with living(server) as live:
        game = server.game(server.challenge(bot=chess.BLACK))
        server.until(lambda: game.feed.queues)
        live.bridge.finish()
        late = server.challenge()
        server.until(lambda: late in server.declined)
        play_out(server, game)
        live.join()
    assert live.error is None
    assert server.declined[late] == "later"


def test_the_token_is_nowhere_but_in_the_header(
    server: BotServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fail("/move/", Fault(status=500), Fault(status=400), Fault(drop=True))
    with caplog.at_level(logging.DEBUG), living(server) as live:
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
    assert live.error is None
    assert caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(vars(live.client)) + str(live.client._http.headers)


def test_boards_of_the_server_are_ours() -> None:
    """The test server has the same rules, so that what it refuses is refused for a reason."""
    assert type(ServerGame(BotServer(), "x", chess.WHITE).board) is FogOfWarBoard


# -- nothing makes a move late -------------------------------------------------------------------


def test_a_chat_that_is_refused_makes_no_move_late(server: BotServer) -> None:
    settings = GameSettings(greeting="Hello")
    with living(server, settings=settings, most_games=1) as live:
        server.fail("/chat", Fault(status=429, headers={"Retry-After": "3000"}))
        game = server.game(server.challenge())
        play_out(server, game, seed=9)
        live.join()
        assert server.count("/chat") == 1
    assert live.error is None


def test_a_decline_that_hangs_holds_nothing_up(server: BotServer) -> None:
    with living(server, policy=Policy(games=2)) as live:
        hangs, decline = threading.Event(), live.client.decline

        def hang(challenge: str, reason: str, cancel: threading.Event) -> None:
            assert hangs.wait(HANG_SECONDS)
            decline(challenge, reason, cancel)

        live.client.decline = hang
        first = [server.challenge(over={"variant": {"key": "atomic"}}) for _ in range(3)]
        game = server.game(server.challenge())
        server.until(lambda: len(game.moves) == 1)
        assert server.declined == {}
        hangs.set()
        server.until(lambda: len(server.declined) == 3)
    assert set(server.declined) == set(first)


def test_a_last_word_that_hangs_delays_no_other_game(lichess: BotServer) -> None:
    with living(lichess, settings=GameSettings(farewell="Bye")) as live:
        hangs = threading.Event()
        live.client.say = lambda game, text, cancel: hangs.wait(HANG_SECONDS)
        game = lichess.game(lichess.challenge())
        lichess.until(lambda: len(game.moves) == 1)
        game.end("resign", game.bot)
        again = next_game(lichess)
        lichess.until(lambda: len(again.moves) == 1)
        lichess.until(lambda: any(ended.busy for ended in live.bridge._ended))
        hangs.set()
    assert live.error is None


def test_more_games_than_any_account_has_are_left_alone(
    server: BotServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obscuro.bots.bot.MOST_AT_ONCE", 3)
    with living(server) as live:
        games = [server.new_game(chess.BLACK) for _ in range(5)]
        for game in games:
            server.announce(game)
        server.until(lambda: sum(bool(game.feed.queues) for game in games) == 3)
        name = server.challenge()  # which is heard after all of them
        server.until(lambda: name in server.declined)
        assert len(live.bridge._games) == 3
    assert live.error is None


def test_a_stream_that_ends_at_once_is_opened_ever_more_rarely(server: BotServer) -> None:
    """It says one line and ends, 40 times in a row; real pauses, in a time that is not."""
    time, opened = FakeTime(), list[float]()
    with living(server) as live:
        client = BotClient(server.url, TOKEN, wait=time.wait, clock=time.clock)
        bridge = Bridge(BOT, client, live.pool, Policy(), GameSettings())

        class OneLine:
            age = 0.0

            def __iter__(self) -> Iterator[dict[str, str] | None]:
                yield None

        def events(cancel: threading.Event) -> OneLine:
            opened.append(time.clock())
            if len(opened) == 40:
                bridge._cancel.set()
            return OneLine()

        client.events = events  # type: ignore[assignment, method-assign]
        bridge._read()
        client.close()
    gaps = [later - earlier for earlier, later in pairwise(opened)]
    assert len(gaps) == 39 and min(gaps) >= 0.5 and min(gaps[7:]) >= 20.0


# -- whom we play --------------------------------------------------------------------------------


def test_a_blocked_player_is_declined_and_gets_no_rematch(server: BotServer) -> None:
    policy = Policy(games=5, block=("someone", "GUEST"))
    with living(server, policy=policy) as live:
        name = server.challenge()
        server.until(lambda: name in server.declined)
        game = server.new_game()
        server.announce(game)
        over(server, game)
        assert (game.status, game.moves) == ("aborted", [])
    assert live.error is None


def test_one_opponent_gets_so_many_games_a_day(server: BotServer) -> None:
    with living(server, policy=Policy(opponent_games=2)) as live:
        for _ in range(2):
            game = next_game(server)
            server.until(lambda game=game: len(game.moves) == 1)
            game.end("resign", game.bot)
        server.until(lambda: live.pool.given == 2)
        again = server.rematch(game)  # which needs no challenge
        over(server, again)
        assert again.status == "aborted"
        name = server.challenge()
        server.until(lambda: name in server.declined)
        other = server.game(server.challenge(over={"challenger": {"name": "Other"}}))
        assert other.id in server.games
    assert live.error is None


def test_games_of_an_opponent_are_counted_for_a_day() -> None:
    time = FakeTime()
    opponents = Opponents(Policy(opponent_games=2), time.clock)
    assert opponents.refuse("Guest", "1") is None
    time.pass_by(10.0)
    assert opponents.refuse("GUEST", "2") is None
    assert opponents.refuse("guest", "2") is None  # it is the same one
    assert opponents.refuse("guest", "3") == "2 games with this opponent within a day"
    assert opponents.refuse("another", "4") is None
    opponents.forget("2")  # it did not begin
    assert opponents.refuse("guest", "5") is None
    time.pass_by(OPPONENT_SECONDS - 5.0)
    assert opponents.refuse("guest", "6") is None
    assert opponents.refuse("guest", "7")
    for number in range(10):
        assert Opponents(Policy(), time.clock).refuse("?", str(number)) is None


# -- one bridge an account -----------------------------------------------------------------------


def test_a_lock_is_for_one_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "state" / "lock"
    lock = StateLock(path)
    with pytest.raises(AccountInUse, match="lock"):
        StateLock(path)
    lock.release()
    lock.release()
    StateLock(path).release()


def test_a_lock_that_cannot_be_made_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    StateLock(tmp_path / "file" / "lock").release()
    assert "a second bridge would go unnoticed" in caplog.text


# -- what is remembered ---------------------------------------------------------------------


def test_games_are_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state" / "games.json"
    games = GamesUnderway(path)
    for name in ("one", "two", "one", "three"):
        games.add(name)
    games.remove("two")
    games.remove("nothing")
    assert GamesUnderway(path).ids() == ("one", "three")
    assert [file.name for file in path.parent.iterdir()] == ["games.json"]


def test_not_more_than_enough_are_kept() -> None:
    games = GamesUnderway(None)
    for number in range(MOST_UNDERWAY + 5):
        games.add(str(number))
    assert games.ids()[0] == "5" and len(games.ids()) == MOST_UNDERWAY


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"games": 3}', '{"other": []}', "[" * 5000])
def test_a_file_that_cannot_be_read_is_no_obstacle(tmp_path: Path, text: str) -> None:
    path = tmp_path / "games.json"
    path.write_text(text)
    games = GamesUnderway(path)
    assert games.ids() == ()
    games.add("one")
    assert GamesUnderway(path).ids() == ("one",)


def test_a_place_that_cannot_be_written_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    games = GamesUnderway(tmp_path / "file" / "games.json")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        games.add("one")
        games.add("two")
    assert len(caplog.records) == 1 and games.ids() == ("one", "two")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef"))), st.integers(1, 4))
def test_it_holds_the_ids_added_last(steps: list[tuple[bool, str]], most: int) -> None:
    recent, expected = RecentIds(most), list[str]()
    for adds, name in steps:
        if adds:
            assert recent.add(name) == (name not in expected)
            expected = (expected if name in expected else [*expected, name])[-most:]
        else:
            recent.discard(name)
            expected = [each for each in expected if each != name]
        assert [each for each in "abcdef" if each in recent] == sorted(expected)

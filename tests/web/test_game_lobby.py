"""Games that nobody looks at sleep, those of two engines go on, and nothing stays in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.matches.time_control import TimeControl
from obscuro.web.play.game_engines import GameEngines
from obscuro.web.play.game_lobby import GameLobby, is_game_id
from obscuro.web.play.game_room import GameRoom, GameServices
from obscuro.web.play.game_setup import UNTIMED_MOVE, GameSetup
from obscuro.web.play.game_store import GameStore
from obscuro.web.play.hosted_game import HostedGame, Status
from obscuro.web.web_limits import WebError
from obscuro.web.web_server import game_options
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.web.rooms import QUICK, run_alone

NO_LEVELS = dict.fromkeys(chess.COLORS)
GAME = GameSetup(chess.WHITE, UNTIMED_MOVE, NO_LEVELS)
CLOCKS = GameSetup(chess.WHITE, TimeControl(None, 60_000, 0), NO_LEVELS)
MATCH = GameSetup(None, TimeControl(1), NO_LEVELS)


class Hours:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def in_lobby(
    folder: Path,
    test: Callable[[GameLobby, Hours], Coroutine[None, None, None]],
    pause: float = 0.0,
    games: int = QUICK.games,
) -> list[QuickMover]:
    """Run a test with a lobby; return the engines that it made. games: how many have one at once."""
    made: list[QuickMover] = []

    def make() -> QuickMover:
        made.append(QuickMover(lambda think: think.moves[0]))
        return made[-1]

    async def run() -> None:
        hours = Hours()
        store = GameStore(folder)
        pool = GameEngines(make, games)
        limits = replace(QUICK, sleep_after=600.0, pause=pause)
        lobby = GameLobby(GameServices(store, pool, game_options, limits, hours))
        try:
            await asyncio.wait_for(test(lobby, hours), HANG_SECONDS)
        finally:
            lobby.close()
            await pool.close()
            store.close()

    run_alone(run())
    return made


async def until(room: GameRoom, is_so: Callable[[HostedGame], bool]) -> None:
    """Wait until something is so in a game."""
    changed = asyncio.Event()

    def look(game: HostedGame) -> None:
        changed.set()

    room.listen(look)
    while not is_so(room.game):
        changed.clear()
        await changed.wait()
    room.unlisten(look)


def plays(game: HostedGame) -> bool:
    return game.status == Status.PLAYING


def test_a_game_that_nobody_looks_at_sleeps_and_wakes(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(GAME, "visitor")
        await until(room, plays)
        hours.now = 599.0
        lobby.sweep()
        assert lobby.is_awake(room.game.id)
        hours.now = 601.0
        lobby.sweep()
        assert not lobby.is_awake(room.game.id)
        again = lobby.room(room.game.id, "visitor")
        assert again is not room
        await until(again, plays)

    made = in_lobby(tmp_path, test)
    assert len(made) <= 2


def test_a_game_with_a_running_clock_does_not_sleep(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(CLOCKS, "visitor")
        await until(room, plays)
        room.change(lambda now: room.game.move("e2e4", 0, now))
        await until(room, lambda game: game.human_turn)
        hours.now = 601.0
        lobby.sweep()
        assert lobby.is_awake(room.game.id)

    in_lobby(tmp_path, test)


def test_a_game_that_is_looked_at_does_not_sleep(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(GAME, "visitor")
        box = room.attach()
        await until(room, plays)
        hours.now = 6000.0
        lobby.sweep()
        assert lobby.is_awake(room.game.id)
        room.detach(box)
        hours.now = 6601.0
        lobby.sweep()
        assert not lobby.is_awake(room.game.id)

    in_lobby(tmp_path, test)


@pytest.mark.parametrize("setup", [GAME, CLOCKS])
def test_a_game_that_is_looked_at_keeps_no_engine_while_nothing_happens(
    tmp_path: Path, setup: GameSetup
) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(setup, "visitor")
        room.attach()
        await until(room, plays)
        assert room.may_yield  # it has its engine
        hours.now = 599.0
        lobby.sweep()
        assert room.may_yield
        hours.now = 6000.0
        lobby.sweep()
        assert not room.may_yield
        room.change(lambda now: room.game.move("e2e4", 0, 0.0))
        await until(room, lambda game: game.human_turn)
        assert room.may_yield  # and got it back for its move

    in_lobby(tmp_path, test)


def test_games_that_are_looked_at_leave_a_place_for_another_address(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        for number in range(3):
            room = lobby.create(GAME, "visitor", "1.1.1.1")
            room.attach()
            if number < 2:
                await until(room, plays)
        other = lobby.create(replace(GAME, human=chess.BLACK), "other", "2.2.2.2")
        other.attach()
        await until(other, lambda game: game.human_turn)  # so an engine has moved

    in_lobby(tmp_path, test, games=2)


def test_a_finished_game_leaves_the_memory_with_its_last_browser(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(GAME, "visitor")
        box = room.attach()
        room.change(room.game.resign)
        lobby.leave(room)
        assert lobby.is_awake(room.game.id)
        room.detach(box)
        lobby.leave(room)
        assert not lobby.is_awake(room.game.id)

    in_lobby(tmp_path, test)


def test_a_match_goes_on_where_it_was_left_when_somebody_looks(tmp_path: Path) -> None:
    ids: list[str] = []

    async def begin(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(MATCH, "visitor")
        ids.append(room.game.id)
        await until(room, lambda game: len(game.plies) >= 3)

    async def go_on(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.room(ids[0], None)
        assert len(room.game.plies) >= 3
        await until(room, lambda game: game.result is not None)

    in_lobby(tmp_path, begin)
    in_lobby(tmp_path, go_on)


def test_each_side_of_a_match_has_an_engine_of_its_own(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        await until(lobby.create(MATCH, "visitor"), lambda game: len(game.plies) >= 4)

    made = in_lobby(tmp_path, test)
    assert [{think.side for _, think in mover.asked} for mover in made] == [{True}, {False}]


@pytest.mark.parametrize(
    ("setup", "seconds"),
    [
        (replace(GAME, human=chess.BLACK), 0.5),
        (replace(CLOCKS, human=chess.BLACK), 0.5),
        (replace(MATCH, control=TimeControl(200)), 0.2),
        (replace(MATCH, control=TimeControl(5000)), 0.5),
    ],
)
def test_people_have_time_to_see_an_engines_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setup: GameSetup, seconds: float
) -> None:
    waited: list[float] = []
    sleep = asyncio.sleep

    async def note(delay: float) -> None:
        waited.append(delay)
        await sleep(0)

    monkeypatch.setattr("obscuro.web.play.game_room.asyncio.sleep", note)

    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(setup, "visitor")
        if setup.human is not None:
            room.attach()
        await until(room, lambda game: len(game.plies) >= 1)

    in_lobby(tmp_path, test, pause=0.5)
    assert seconds in waited


def test_a_flag_falls_though_nobody_does_anything(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room = lobby.create(CLOCKS, "visitor")
        await until(room, plays)
        room.change(lambda now: room.game.move("e2e4", 0, now))
        await until(room, lambda game: game.human_turn)
        hours.now = 59.999
        room.change(lambda now: room.game.remark("the timer is set by this time"))
        hours.now = 61.0
        await until(room, lambda game: game.result is not None)
        assert room.game.result is not None
        assert room.game.result.ending == "white lost on time"

    in_lobby(tmp_path, test)


def test_a_stranger_gets_no_game_of_a_player(tmp_path: Path) -> None:
    async def test(lobby: GameLobby, hours: Hours) -> None:
        room, match = lobby.create(GAME, "visitor"), lobby.create(MATCH, "visitor")
        for stranger in (None, "another"):
            for get in (lobby.room, lobby.stored, lobby.finished):
                with pytest.raises(WebError) as caught:
                    get(room.game.id, stranger)
                assert caught.value.status == 404
            assert lobby.finished(match.game.id, stranger).id == match.game.id
        with pytest.raises(WebError) as caught:
            lobby.finished(room.game.id, "visitor")
        assert caught.value.status == 409

    in_lobby(tmp_path, test)


@pytest.mark.parametrize(
    "text", ["", "a", "a" * 13, "A" * 12, "a" * 11 + "/", "../../../..a", "ä" * 12]
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_game_id(text)

"""A seat plays games of an event, and says what became of them. No Ray is needed for that."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil

from obscuro.matches.event import Entrant, Event, match_games
from obscuro.matches.game_record import record_from_json
from obscuro.matches.openings import PLAIN
from obscuro.matches.ray_seat import RaySeat
from obscuro.matches.time_control import TimeControl
from tests.matches.engine_orders import DEADLY, Orders

RANDOM = Entrant("random", "random")


@contextmanager
def seat_of(*entrants: Entrant) -> Iterator[RaySeat]:
    tasks = match_games(2, [PLAIN], seed=1)
    seat = RaySeat(Event("match", entrants, tasks, TimeControl(1000), max_plies=10).to_json())
    yield seat
    seat.leave()


def test_a_seat_arrives_prepares_and_plays() -> None:
    with seat_of(RANDOM, Entrant("other", "random")) as seat:
        assert seat.arrive()
        assert seat.prepare() == {"ready": True, "warnings": []}
        first, second = seat.play(0), seat.play(1)
        assert (first["record"]["white"], second["record"]["white"]) == ("random", "other")
        assert len(record_from_json(first["record"]).plies) == 10


def test_a_player_that_the_node_lacks_is_named() -> None:
    with seat_of(RANDOM, Entrant("gone", "/nowhere/gone")) as seat:
        answer = seat.prepare()
    assert "'/nowhere/gone' is neither a built-in player" in answer["engine"]


def test_a_player_that_cannot_be_started_ends_the_event(tmp_path: Path) -> None:
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    mute.chmod(0o755)
    with seat_of(RANDOM, Entrant("mute", str(mute))) as seat:
        assert "exited with code 3" in seat.prepare()["engine"]
        assert "exited with code 3" in seat.play(0)["engine"]


def test_warnings_of_players_come_with_the_answer() -> None:
    fake = Path(__file__).with_name("fake_engine.py")
    engine = Entrant("fake", shlex.join([sys.executable, str(fake), "orthodox"]))
    with seat_of(RANDOM, engine) as seat:
        warnings = seat.prepare()["warnings"]
        assert any("does not offer Fog of War chess" in text for text in warnings)
        assert seat.play(0).keys() == {"record", "warnings"}


def test_leaving_breaks_a_game_off_and_ends_its_engine(tmp_path: Path) -> None:
    orders = Orders(tmp_path)
    orders.give("hang")
    with (
        ThreadPoolExecutor(1) as executor,
        seat_of(Entrant("deadly", shlex.join([*DEADLY, str(tmp_path)])), RANDOM) as seat,
    ):
        game = executor.submit(seat.play, 0)
        engines = orders.hanging(1)
        seat.leave()
        assert game.result().keys() == {"left", "warnings"}
    orders.close()
    _, alive = psutil.wait_procs(engines, 60)
    assert not alive

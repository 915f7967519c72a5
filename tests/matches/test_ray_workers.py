"""What a match says and decides before it comes to a Ray cluster."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator

import pytest

from obscuro.engine.options import OPTIONS
from obscuro.matches.event import Entrant, Event, match_games
from obscuro.matches.openings import PLAIN
from obscuro.matches.ray_workers import (
    ClusterError,
    check_cores,
    check_ray,
    cores_of_a_game,
    with_threads,
)
from obscuro.matches.time_control import TimeControl

DEFAULT = next(int(option.default) for option in OPTIONS if option.name == "Threads")
RANDOM = Entrant("random", "random")
FOREIGN = Entrant("foreign", "/opt/engine --uci", {"threads": "3"})


def obscuro(**options: str) -> Entrant:
    return Entrant("obscuro", "obscuro", options)


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:  # bound, but nobody listens
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize(("missing", "address"), [("ray", "auto"), ("grpc", "ray://host:10001")])
def test_a_missing_package_names_the_extra(
    missing: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else find(name)
    )
    with pytest.raises(ClusterError, match=r"pip install 'obscuro\[cluster\]'"):
        check_ray(address)


@pytest.mark.parametrize("address", ["", "host", "host:", ":6379", "ray://host", "host:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match=r"is not auto, local, HOST:PORT or ray://HOST:PORT"):
        check_ray(address)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_closed_port_is_refused_at_once(scheme: str, closed_port: int) -> None:
    with pytest.raises(ClusterError, match=r"no Ray cluster answers at .*: Connection refused"):
        check_ray(f"{scheme}127.0.0.1:{closed_port}")


@pytest.mark.parametrize(
    ("entrants", "cores"),
    [
        ([RANDOM, RANDOM], 1),
        ([obscuro(Threads="2"), RANDOM], 2),
        ([obscuro(Threads="2"), FOREIGN], 3),  # one side thinks at a time
        ([obscuro(), RANDOM], DEFAULT),
        ([obscuro(Threads="2", Ponder="true"), FOREIGN, obscuro(Threads="1")], 5),  # both think
        ([Entrant("foreign", "/opt/engine"), RANDOM], 1),
    ],
)
def test_a_game_gets_the_cores_that_its_players_use(entrants: list[Entrant], cores: int) -> None:
    assert cores_of_a_game(entrants) == cores


def test_more_threads_than_cores_are_refused() -> None:
    check_cores([FOREIGN, RANDOM], 3)
    with pytest.raises(ValueError, match="foreign has Threads 3, but a game has 2"):
        check_cores([RANDOM, FOREIGN], 2)


def test_all_nodes_play_with_the_same_number_of_threads() -> None:
    event = Event(
        "match",
        (obscuro(Hash="64"), obscuro(threads="1"), RANDOM, FOREIGN),
        match_games(2, [PLAIN], 1),
        TimeControl(100),
        400,
    )
    told = [dict(entrant.options) for entrant in with_threads(event, cores=DEFAULT).entrants]
    assert told == [
        {"Hash": "64", "Threads": str(DEFAULT)},
        {"threads": "1"},
        {},
        {"threads": "3"},
    ]
    assert with_threads(event, cores=1).entrants[0].options["Threads"] == "1"

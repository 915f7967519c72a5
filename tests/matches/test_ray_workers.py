"""What of games on a Ray cluster needs no cluster: addresses, cores, seats, nodes."""

from __future__ import annotations

import importlib.util
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from obscuro import __version__
from obscuro.engine.options import OPTIONS
from obscuro.matches.event import Entrant, Event, match_games
from obscuro.matches.game_record import RecordData
from obscuro.matches.openings import PLAIN
from obscuro.matches.ray_seat import (
    Installed,
    NodeFacts,
    RaySeat,
    alive_nodes,
    difference,
    make_inspector,
)
from obscuro.matches.ray_workers import (
    ClusterError,
    check_cores,
    check_ray,
    cores_of_a_game,
    with_threads,
)
from obscuro.matches.time_control import TimeControl
from tests.matches.engine_orders import DEADLY, Orders

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
    with pytest.raises(ClusterError, match=r"pip install 'ray\[client\]>="):
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
        assert len(msgspec.convert(first["record"], RecordData).record().plies) == 10


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


@pytest.mark.slow
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


HERE = Installed("1.0", "abc")


def test_only_nodes_that_are_alive_count() -> None:
    listed = [
        {"NodeID": "1", "NodeManagerAddress": "a", "Alive": True, "Resources": {"CPU": 7.0}},
        {"NodeID": "2", "NodeManagerAddress": "b", "Alive": False, "Resources": {"CPU": 8.0}},
        {"NodeID": "3", "NodeManagerAddress": "c", "Alive": True, "Resources": {}},
    ]
    assert alive_nodes(listed) == [NodeFacts("1", "a", 7.0), NodeFacts("3", "c", 0.0)]


@pytest.mark.parametrize(("cores", "games"), [(1, 7), (2, 3), (4, 1), (8, 0)])
def test_a_node_holds_as_many_games_as_it_has_cores_for(cores: int, games: int) -> None:
    assert NodeFacts("1", "a", 7.0).games(cores) == games


@pytest.mark.parametrize(
    ("there", "problem"),
    [
        (HERE, None),
        (Installed(None, ""), "node a has no obscuro in Ray's Python"),
        (Installed("0.9", "abc"), "node a has obscuro 0.9, and this machine 1.0"),
        (Installed("1.0", "abd"), "node a has another state of obscuro 1.0 than this machine"),
    ],
)
def test_what_differs_is_one_clear_line(there: Installed, problem: str | None) -> None:
    said = difference("a", there, HERE)
    if problem is None:
        assert said is None
    else:
        assert said is not None and said.startswith(problem) and "\n" not in said


def test_the_inspector_works_on_a_node_without_obscuro(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")  # as Ray has it
    sent = tmp_path / "inspector"
    sent.write_bytes(cloudpickle.dumps(make_inspector()))
    node = (
        "import sys; sys.modules['obscuro'] = None; import pickle, pathlib;"
        f"print(pickle.loads(pathlib.Path({str(sent)!r}).read_bytes())())"
    )
    told = subprocess.run([sys.executable, "-c", node], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "(None, '')"


def test_the_inspector_finds_this_package() -> None:
    version, digest = make_inspector()()
    assert version == __version__
    assert len(digest) == 16

"""Games on a Ray cluster: workers die, the match is killed or stopped, and no game is lost."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from obscuro.matches.event import Entrant, Event, GameTask, match_games
from obscuro.matches.game_record import GameRecord
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.journal import Journal
from obscuro.matches.openings import default_openings
from obscuro.matches.play_event import EventResult, play_event
from obscuro.matches.ray_workers import ENVIRONMENT, ClusterError, RayWorkers
from obscuro.matches.time_control import TimeControl
from tests.matches.engine_orders import DEADLY, SECONDS, Orders

pytest.importorskip("ray")

GAMES = 12
WORKERS = 3


def free_ports(count: int) -> list[int]:
    with ExitStack() as bound:
        sockets = [bound.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster of one node, which holds three games at a time."""
    head_port, client_port, agent_port = free_ports(3)
    # The names of Ray's sockets must be short, and nobody else may use the cluster.
    directory = tempfile.mkdtemp(prefix="ray-")
    quick = {"RAY_prestart_worker_first_driver": "0", "RAY_enable_autoscaler_v2": "0"}
    access = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    command = [
        *(sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--head"),
        *("--block", f"--port={head_port}", f"--num-cpus={WORKERS}", "--include-dashboard=false"),
        *("--object-store-memory=80000000", f"--temp-dir={directory}", "--disable-usage-stats"),
        # Another cluster on this machine, and other tests, may have Ray's usual ports.
        *(f"--ray-client-server-port={client_port}", f"--dashboard-agent-listen-port={agent_port}"),
        *("--min-worker-port=0", "--max-worker-port=0"),
    ]
    head = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **ENVIRONMENT, **quick, **access},
    )
    assert head.stdout is not None
    said = []
    for line in head.stdout:
        said.append(line)
        if "Ray runtime started" in line:
            break
    else:
        pytest.fail("".join(said))
    before = {name: os.environ.get(name) for name in access}
    os.environ.update(access)
    yield f"127.0.0.1:{head_port}"
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    processes = [psutil.Process(head.pid), *psutil.Process(head.pid).children(recursive=True)]
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, SECONDS)
    head.stdout.close()
    head.wait()
    shutil.rmtree(directory)


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    orders = Orders(tmp_path)
    yield orders
    orders.close()


def make_event(orders: Orders) -> Event:
    command = shlex.join([*DEADLY, str(orders.directory)])
    return Event(
        name="match",
        entrants=(Entrant("deadly", command), Entrant("random", "random")),
        tasks=match_games(GAMES, default_openings(), seed=1),
        control=TimeControl(1000),
        max_plies=20,
    )


def moves(result: EventResult) -> dict[int, list[str]]:
    return {n: [ply.turn.uci for ply in game.plies] for n, game in result.games.items()}


def summary(result: EventResult) -> dict[int, tuple[str, str, str, str, str]]:
    """What a game's record says, but for its times."""
    return {
        number: (game.white, game.black, game.result, game.ending, game.opening)
        for number, game in result.games.items()
    }


@pytest.mark.slow
def test_a_killed_match_is_resumed_and_games_of_a_killed_worker_are_played_again(
    address: str, orders: Orders
) -> None:
    event = make_event(orders)
    alone = play_event(event, LocalWorkers(1, print))
    assert len(alone.games) == GAMES

    # Some games are played on this machine, as the match was begun.
    path = orders.directory / "journal.jsonl"
    with Journal.open(path, event) as journal:
        play_event(
            event,
            LocalWorkers(1, print),
            journal,
            stop_rule=lambda: "enough" if len(journal.games) == 4 else None,
        )

    # On the cluster all engines hang, and the process of the match is killed.
    orders.give("hang")
    script = (
        "import sys; from pathlib import Path;"
        "from obscuro.matches.journal import Journal, read_journal;"
        "from obscuro.matches.play_event import play_event;"
        "from obscuro.matches.ray_workers import RayWorkers;"
        "path = Path(sys.argv[1]); event = read_journal(path).event;"
        "play_event(event, RayWorkers(sys.argv[2], 1, print), Journal.open(path, event))"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(path), address]) as match:
        engines = orders.hanging(WORKERS)
        driver = psutil.Process(match.pid).children()
        match.kill()
    assert driver
    _, alive = psutil.wait_procs([*engines, *driver], SECONDS)
    assert not alive

    # The match goes on, and loses a worker on the way.
    orders.take_back("hang")
    orders.give("kill")
    faults: list[str] = []
    with Journal.open(path, event) as journal:
        assert len(journal.games) == 4
        result = play_event(
            event,
            RayWorkers(address, 1, print),
            journal,
            on_fault=lambda task, fault: faults.append(fault),
        )
    assert result.complete
    assert len(faults) == result.store.faults == 1
    assert "lost" in faults[0]
    assert moves(result) == moves(alone)
    assert summary(result) == summary(alone)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum('"kind":"game"' in line for line in lines) == GAMES  # none twice


@pytest.mark.slow
def test_an_interrupted_match_keeps_its_games_and_leaves_no_engine(
    address: str, orders: Orders
) -> None:
    engines: list[psutil.Process] = []

    def let_hang(task: GameTask, record: GameRecord) -> None:
        orders.give("hang")

    def interrupt() -> None:
        engines.extend(orders.hanging(2))
        os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor(1) as executor:
        ended = executor.submit(interrupt)
        workers = RayWorkers(address, 1, print, most=2)
        result = play_event(make_event(orders), workers, on_game=let_hang)
        ended.result()
    assert isinstance(result.failure, KeyboardInterrupt)
    assert not result.complete
    assert 1 <= len(result.games) < GAMES
    assert all(game.regular or "stopped after" in game.ending for game in result.games.values())
    assert not any(engine.is_running() for engine in engines)


@pytest.mark.slow
def test_a_game_that_no_node_can_hold_is_one_clear_line(address: str, orders: Orders) -> None:
    result = play_event(make_event(orders), RayWorkers(address, WORKERS + 1, print))
    assert isinstance(result.failure, ClusterError)
    assert str(result.failure) == (
        f"no node of the Ray cluster has the {WORKERS + 1} cores of a game (the largest lends "
        f"{WORKERS}); give a smaller --cores-per-game"
    )

"""The server as a process: it is killed, its engines are killed, and the games go on."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import ConnectionClosed

from obscuro.web.web_server import ListenError, WebService
from tests.hanging import HANG_SECONDS
from tests.processes import all_end, is_running
from tests.sizes import quick_among
from tests.web.server_process import (
    ServerProcess,
    WebPlayer,
    my_turn_at,
    scripted_engine,
    send_move,
    server_process,
)


def engines(server: ServerProcess) -> list[int]:
    """Return the processes of the server's engines."""
    return [child.pid for child in psutil.Process(server.process.pid).children(recursive=True)]


def test_a_killed_server_goes_on_with_the_game_when_it_is_started_again(tmp_path: Path) -> None:
    engine, player = scripted_engine(tmp_path), WebPlayer()
    with server_process(tmp_path, engine) as first:
        game = player.start(first.url, time={"base": 600, "increment": 0})
        with player.join(first.url, game) as tab:
            send_move(tab, my_turn_at(tab, 0), "e2e4")
            before = my_turn_at(tab, 2)
            started = engines(first)
            assert started
            first.end()
            with pytest.raises(ConnectionClosed):
                tab.recv(HANG_SECONDS)
    assert all_end(started)
    with server_process(tmp_path, engine) as second, player.join(second.url, game) as tab:
        after = my_turn_at(tab, 2)
        same = ("seen", "sheet", "moves", "captured", "start", "you")
        assert {name: after[name] for name in same} == {name: before[name] for name in same}
        # White's clock runs, from what was stored with the last move on; Black's stands.
        assert after["clocks"]["black"] == before["clocks"]["black"]
        assert after["clocks"]["white"] <= 600_000
        send_move(tab, after, after["moves"][0])
        my_turn_at(tab, 4)


def test_an_engine_killed_in_the_middle_of_a_move_is_replaced(tmp_path: Path) -> None:
    # One process belongs to the game. Another may be the one that is kept ready.
    engine, player = scripted_engine(tmp_path, "hang", "hang"), WebPlayer()
    with server_process(tmp_path, engine) as server:
        game = player.start(server.url, color="white")
        with player.join(server.url, game) as tab:
            state = my_turn_at(tab, 0)
            first = engines(server)
            send_move(tab, state, "e2e4")
            while True:
                state = json.loads(tab.recv(HANG_SECONDS))
                if state["engine"] == "thinking":
                    break
            for pid in first:
                os.kill(pid, signal.SIGKILL)
            state = my_turn_at(tab, 2)
            assert len(state["sheet"]) == 2
            assert not any(is_running(pid) for pid in first)


@pytest.mark.parametrize(
    "number", quick_among([signal.SIGTERM, signal.SIGINT], lambda number: number == signal.SIGTERM)
)
def test_a_signal_ends_the_server_and_its_engines(tmp_path: Path, number: signal.Signals) -> None:
    player = WebPlayer()
    with server_process(tmp_path, scripted_engine(tmp_path)) as server:
        game = player.start(server.url)
        with player.join(server.url, game) as tab:
            my_turn_at(tab, 0)
            started = engines(server)
            server.process.send_signal(number)
            assert server.process.wait(HANG_SECONDS) == 0
    assert started
    assert all_end(started)


def test_messages_that_are_too_long_end_the_socket_and_nothing_else(tmp_path: Path) -> None:
    player = WebPlayer()
    with server_process(tmp_path, scripted_engine(tmp_path)) as server:
        game = player.start(server.url)
        with player.join(server.url, game) as tab:
            my_turn_at(tab, 0)
            tab.send("x" * 5000)
            with pytest.raises(ConnectionClosed) as caught:
                tab.recv(HANG_SECONDS)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1009
        with player.join(server.url, game) as tab:
            send_move(tab, my_turn_at(tab, 0), "e2e4")
            my_turn_at(tab, 2)


def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ListenError) as caught:
            WebService("127.0.0.1", port)
    assert f"port {port}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_address_that_is_none_is_one_line() -> None:
    with pytest.raises(ListenError):
        WebService("no.such.host.invalid", 0)

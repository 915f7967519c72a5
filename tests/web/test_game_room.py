"""A player's browser: it plays, loses its connection, opens a second tab, and sends nonsense."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.websockets import WebSocketDisconnect

from obscuro.client.engine import NO_ENGINE, STARTING_ANEW, Think
from obscuro.client.uci_process import EngineError
from obscuro.engine.strength import LEVELS
from obscuro.web.data_folder import StoreError
from obscuro.web.play import game_room
from obscuro.web.play.game_room import Mailbox
from obscuro.web.play.game_store import GameStore
from obscuro.web.play.play_routes import read_player_wish
from obscuro.web.web_limits import WebError
from obscuro.web.web_requests import LOST, TOO_BUSY, TOO_MANY_FAULTS, UNKNOWN_GAME, first_of
from obscuro.web.web_server import make_app
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.web.rooms import (
    ORIGIN,
    QUICK,
    browser,
    is_error,
    is_over,
    join,
    move,
    my_turn,
    quick_app,
    run_alone,
    scripted,
    start_game,
    until,
)


def answers(*moves: str) -> QuickMover:
    return QuickMover(scripted(list(moves)))


class TestAGame:
    def test_is_played_to_its_end(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path, lambda: answers("f7f6", "a7a6"))
        with browser(app) as client:
            game = start_game(client)
            with join(client, game) as socket:
                for uci in ("e2e4", "d1h5", "h5e8"):
                    socket.send_json(move(until(socket, my_turn), uci))
                over = until(socket, is_over)
            assert over["result"]["winner"] == "white"
            assert over["result"]["ending"] == "king captured"
            assert over["result"]["placement"] == "rnbqQbnr/1pppp1pp/p4p2/8/4P3/8/PPPP1PPP/RNB1KBNR"
            assert over["captured"] == {"you": "k", "enemy": ""}
            listed = client.get("/api/games").json()
        assert [(row["game"], row["status"], row["result"]) for row in listed] == [
            (game, "over", "1-0")
        ]

    def test_goes_on_after_a_lost_connection(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path, lambda: answers("e7e5", "a7a6"))) as client:
            game = start_game(client)
            with join(client, game) as socket:
                socket.send_json(move(until(socket, my_turn), "e2e4"))
                before = until(socket, lambda m: my_turn(m) and m["ply"] == 2)
            with join(client, game) as socket:
                after = until(socket, my_turn)
                assert after == before
                socket.send_json(move(after, "d2d4"))
                assert until(socket, lambda m: my_turn(m) and m["ply"] == 4)["ply"] == 4

    def test_the_engines_move_comes_though_nobody_looks(self, tmp_path: Path) -> None:
        mover = answers("e7e5")
        mover.hold = True
        with browser(quick_app(tmp_path, lambda: mover)) as client:
            game = start_game(client)
            with join(client, game) as socket:
                socket.send_json(move(until(socket, my_turn), "e2e4"))
                assert mover.thinking.wait(HANG_SECONDS)
            mover.stop()
            with join(client, game) as socket:
                assert until(socket, my_turn)["ply"] == 2

    def test_two_tabs_show_the_same_and_an_old_tab_is_told_so(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path, lambda: answers("e7e5"))) as client:
            game = start_game(client)
            with join(client, game) as one, join(client, game) as other:
                old = until(one, my_turn)
                until(other, my_turn)
                one.send_json(move(old, "e2e4"))
                states = [
                    until(tab, lambda m: my_turn(m) and m["ply"] == 2) for tab in (one, other)
                ]
                assert states[0] == states[1]
                other.send_json(move(old, "d2d4"))
                assert until(other, is_error)["error"] == "it is not your turn"
                assert other.receive_json() == states[0]

    def test_two_games_at_once_do_not_touch_each_other(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path)) as client:
            games = [start_game(client, color=color) for color in ("white", "black")]
            with join(client, games[0]) as one, join(client, games[1]) as other:
                states = [until(one, my_turn), until(other, my_turn)]
                assert [state["you"] for state in states] == ["white", "black"]
                one.send_json(move(states[0], "e2e4"))
                other.send_json({"type": "resign"})
                assert until(other, is_over)["result"]["winner"] == "white"
                assert until(one, lambda m: my_turn(m) and m["ply"] == 2)["status"] == "playing"

    def test_a_rematch_changes_the_sides_and_both_tabs_find_the_same_one(
        self, tmp_path: Path
    ) -> None:
        with browser(quick_app(tmp_path)) as client:
            game = start_game(client, takebacks=True, level=3)
            with join(client, game) as one, join(client, game) as other:
                one.send_json({"type": "resign"})
                until(other, is_over)
                one.send_json({"type": "rematch"})
                other.send_json({"type": "rematch"})
                ids = {
                    until(tab, lambda m: is_over(m) and bool(m["result"]["rematch"]))["result"][
                        "rematch"
                    ]
                    for tab in (one, other)
                }
            assert len(ids) == 1
            with join(client, ids.pop()) as socket:
                state = until(socket, my_turn)
                assert (state["you"], state["takebacks"], state["level"]) == ("black", True, 3)

    def test_another_visitor_gets_nothing(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path)
        with browser(app) as client:
            game = start_game(client)
            client.cookies.clear()
            assert client.get("/api/games").json() == []
            assert client.get(f"/api/games/{game}/pgn").status_code == 404
            start_game(client)  # as another visitor
            for wanted in (game, "a" * 12, "A" * 12, "x"):
                with join(client, wanted) as socket:
                    assert socket.receive_json()["error"] == "there is no such game"
                    with pytest.raises(WebSocketDisconnect) as caught:
                        socket.receive_json()
                    assert caught.value.code == UNKNOWN_GAME

    def test_the_moves_of_a_game_that_goes_on_are_a_secret(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path)) as client:
            game = start_game(client)
            assert client.get(f"/api/games/{game}/pgn").status_code == 409
            with join(client, game) as socket:
                socket.send_json({"type": "resign"})
                until(socket, is_over)
            pgn = client.get(f"/api/games/{game}/pgn")
            assert pgn.status_code == 200
            assert '[Result "0-1"]' in pgn.text


class TestTheEngine:
    def test_is_given_level_and_rule_of_the_game(self, tmp_path: Path) -> None:
        mover = QuickMover()
        with (
            browser(quick_app(tmp_path, lambda: mover)) as client,
            join(client, start_game(client, level=1, stalemate="draw")) as socket,
        ):
            until(socket, my_turn)
        # The engine that is kept ready is given its options too.
        assert {"Stalemate": "draw", **LEVELS[0].settings} in mover.configured

    def test_a_takeback_stops_its_search(self, tmp_path: Path) -> None:
        mover = answers("e7e5", "d7d5")
        mover.hold = True
        with (
            browser(quick_app(tmp_path, lambda: mover)) as client,
            join(client, start_game(client, takebacks=True)) as socket,
        ):
            socket.send_json(move(until(socket, my_turn), "e2e4"))
            assert mover.thinking.wait(HANG_SECONDS)
            socket.send_json({"type": "takeback"})
            state = until(socket, my_turn)
            assert state["ply"] == 0
            mover.hold = False
            socket.send_json(move(state, "d2d4"))
            state = until(socket, lambda m: my_turn(m) and m["ply"] == 2)
        assert len(mover.asked) == 2

    def test_its_failure_is_shown_while_another_process_starts(self, tmp_path: Path) -> None:
        movers: list[QuickMover] = []
        gate = threading.Event()

        def pick(think: Think) -> str:
            for mover in movers:  # one of them is of the engine that is kept ready
                mover.on_warning(f"Obscuro was killed by SIGKILL; {STARTING_ANEW}")
            assert gate.wait(HANG_SECONDS)
            return "e7e5"

        def make() -> QuickMover:
            movers.append(QuickMover(pick))
            return movers[-1]

        with (
            browser(make_app(make, tmp_path, limits=QUICK)) as client,
            join(client, start_game(client)) as socket,
        ):
            socket.send_json(move(until(socket, my_turn), "e2e4"))
            until(socket, lambda m: m["engine"] == "starting anew")
            gate.set()
            assert until(socket, my_turn)["ply"] == 2

    def test_a_move_that_no_engine_chose_is_called_so(self, tmp_path: Path) -> None:
        movers: list[QuickMover] = []

        def pick(think: Think) -> str:
            for mover in movers:
                mover.on_warning(NO_ENGINE)
            return think.moves[0]

        def make() -> QuickMover:
            movers.append(QuickMover(pick))
            return movers[-1]

        with (
            browser(make_app(make, tmp_path, limits=QUICK)) as client,
            join(client, start_game(client)) as socket,
        ):
            socket.send_json(move(until(socket, my_turn), "e2e4"))
            state = until(socket, lambda m: my_turn(m) and m["ply"] == 2)
            assert state["note"] == "the engine failed, and makes any move"

    @pytest.mark.parametrize("error", [EngineError("can't run it"), OSError("no"), KeyError("a")])
    def test_one_that_does_not_start_is_tried_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        monkeypatch.setattr(game_room, "RETRY_SECONDS", 0.0)
        failures = [error] * 3

        class LateMover(QuickMover):
            def prepare(self) -> None:
                if failures:
                    raise failures.pop()

        with (
            browser(quick_app(tmp_path, LateMover)) as client,
            join(client, start_game(client)) as socket,
        ):
            assert until(socket, my_turn)["note"] == "the engine does not start; trying again"

    def test_one_that_fails_in_any_way_is_asked_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(game_room, "RETRY_SECONDS", 0.0)
        failures = [EngineError("gone"), OSError("no"), KeyError("a"), ValueError("b")]

        def pick(think: Think) -> str:
            if failures:
                raise failures.pop()
            return "e7e5"

        with (
            browser(quick_app(tmp_path, lambda: QuickMover(pick))) as client,
            join(client, start_game(client)) as socket,
        ):
            socket.send_json(move(until(socket, my_turn), "e2e4"))
            state = until(socket, lambda m: my_turn(m) and m["ply"] == 2)
            assert state["note"] == "the engine failed; trying again"
        assert not failures


class TestTheFile:
    def test_a_move_that_can_not_be_saved_is_not_shown_and_the_game_is_as_before(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = quick_app(tmp_path, lambda: answers("e7e5"))
        store = app.state.lobby.store
        with browser(app) as client:
            game = start_game(client)
            with join(client, game) as socket:
                before = until(socket, my_turn)
                with monkeypatch.context() as broken:
                    broken.setattr(store, "save", fail_to_save)
                    socket.send_json(move(before, "e2e4"))
                    assert until(socket, is_error)["error"] == "can't save the game: disk full"
                    with pytest.raises(WebSocketDisconnect) as caught:
                        socket.receive_json()
                    assert caught.value.code == LOST
            with join(client, game) as socket:
                state = until(socket, my_turn)
                assert state["ply"] == 0
                socket.send_json(move(state, "e2e4"))
                assert until(socket, lambda m: my_turn(m) and m["ply"] == 2)


def fail_to_save(game: object, now: float) -> None:
    raise StoreError("can't save the game: disk full")


JUNK = st.one_of(
    st.text(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["type", "uci", "ply", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    ).map(json.dumps),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["move", "MOVE", "state", "", "quit", "setoption", "__init__"]),
            "uci": st.sampled_from(["e2e5", "e7e5", "0000", "a1a8q", "../..", "e2e4q", "\0"]),
            "ply": st.sampled_from([0, 0.0, True, None, -1, 10**30, "0"]),
        }
    ).map(json.dumps),
    st.sampled_from(["[" * 2000, '{"type":"move"', '{"type":"move","uci":"e2e4","ply":NaN}', ""]),
)


class TestNonsense:
    @settings(
        max_examples=100,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(messages=st.lists(JUNK, min_size=1, max_size=5))
    def test_random_and_broken_messages_change_nothing(
        self, messages: list[str], nonsense: Any
    ) -> None:
        socket, state, store = nonsense
        before = store.load(state["game"])
        for text in messages:
            socket.send_text(text)
        seen = 0
        while seen < len(messages):
            message = socket.receive_json()
            if message["type"] == "error":
                seen += 1
                assert "\n" not in message["error"]
            else:
                assert message == state
        assert store.load(state["game"]) == before

    def test_bytes_are_an_error_and_the_game_goes_on(self, nonsense: Any) -> None:
        socket, state, _ = nonsense
        socket.send_bytes(b"\xff\x00")
        assert until(socket, is_error)["error"] == "a message is text"
        socket.send_json(move(state, "e2e4"))
        assert until(socket, lambda m: my_turn(m) and m["ply"] == 2)

    @pytest.fixture
    def nonsense(self, tmp_path: Path) -> Any:
        limits = replace(QUICK, strikes=1_000_000)
        with browser(quick_app(tmp_path, limits=limits)) as client:
            game = start_game(client)
            store = GameStore(tmp_path)
            with join(client, game) as socket:
                yield socket, until(socket, my_turn), store
            store.close()

    @pytest.mark.parametrize("text", ['{"type":"resign","x":1}', '"resign"', "[]", '{"type":1}'])
    def test_only_exact_messages_are_read(self, text: str) -> None:
        with pytest.raises(WebError):
            read_player_wish(text)


class TestLimits:
    def test_too_many_messages_are_refused(self, tmp_path: Path) -> None:
        limits = replace(QUICK, message_burst=3, message_rate=0)
        with (
            browser(quick_app(tmp_path, limits=limits)) as client,
            join(client, start_game(client)) as socket,
        ):
            until(socket, my_turn)
            for _ in range(4):
                socket.send_text("{}")
            errors = [until(socket, is_error)["error"] for _ in range(4)]
        assert errors[-1] == "too many messages; wait a little"

    def test_many_bad_messages_in_a_row_close_the_socket(self, tmp_path: Path) -> None:
        with (
            browser(quick_app(tmp_path, limits=replace(QUICK, strikes=3))) as client,
            join(client, start_game(client)) as socket,
        ):
            for _ in range(3):
                socket.send_text("{}")
            with pytest.raises(WebSocketDisconnect) as caught:
                while True:
                    socket.receive_json()
        assert caught.value.code == TOO_MANY_FAULTS

    @pytest.mark.parametrize("limit", ["sockets", "game_sockets"])
    def test_sockets_are_limited(self, tmp_path: Path, limit: str) -> None:
        limits = replace(QUICK, **{limit: 1})
        with browser(quick_app(tmp_path, limits=limits)) as client:
            game = start_game(client)
            with join(client, game) as one:
                until(one, my_turn)
                with join(client, game) as other:
                    assert other.receive_json()["type"] == "error"
                    with pytest.raises(WebSocketDisconnect) as caught:
                        other.receive_json()
                    assert caught.value.code == TOO_BUSY
            with join(client, game) as again:
                assert until(again, my_turn)["game"] == game

    def test_a_socket_of_another_site_is_refused(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path)) as client:
            game = start_game(client)
            for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
                with pytest.raises(WebSocketDisconnect):
                    join(client, game, **({"origin": ORIGIN} | headers)).__enter__()


# -- what waits for a browser: never more than the last state and some answers ---------------


def emptied(box: Mailbox) -> list[str]:
    """Close a mailbox and return what was in it."""

    async def take() -> list[str]:
        texts = []
        while (text := await box.next()) is not None:
            texts.append(text)
        return texts

    box.close()
    return run_alone(take())


def test_a_slow_browser_gets_the_last_state_only() -> None:
    box = Mailbox()
    for number in range(1000):
        box.put_state(str(number))
    assert emptied(box) == ["999"]


def test_answers_are_not_lost_to_states_but_they_are_not_kept_without_end() -> None:
    box = Mailbox()
    for number in range(1000):
        box.put_answer(f"answer {number}")
        box.put_state("state")
    texts = emptied(box)
    assert texts[-2:] == ["answer 999", "state"]
    assert len(texts) < 50


def test_who_waits_gets_what_comes() -> None:
    async def wait() -> str | None:
        box = Mailbox()
        asyncio.get_running_loop().call_soon(box.put_state, "state")
        return await box.next()

    assert run_alone(wait()) == "state"


def test_the_first_work_that_ends_ends_the_others() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")

    async def short() -> None:
        await asyncio.sleep(0)

    run_alone(first_of(endless(), short()))
    assert ended == ["endless"]

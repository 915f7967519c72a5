"""The file of the games: what is saved is there again, and a change is whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import chess
import pytest

from obscuro.client.engine import PlayResult
from obscuro.client.move_report import Report
from obscuro.matches.time_control import TimeControl
from obscuro.web.data_folder import StoreError
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.game_store import FILE, GameStore
from obscuro.web.play.hosted_game import HostedGame
from obscuro.web.web_limits import WebError

SETUP = GameSetup(
    chess.WHITE, TimeControl(None, 60_000, 0), dict.fromkeys(chess.COLORS), takebacks=True
)


def saved_game(store: GameStore, game_id: str = "abcdefghijkl") -> HostedGame:
    """Return a new game with one move of each side, which the file has."""
    game = HostedGame(game_id, SETUP)
    store.add(game, "visitor", "2026-01-01T00:00:00+00:00")
    game.ready(0.0)
    game.move("e2e4", 0, 1.0)
    think = game.think()
    assert think is not None
    report = Report(
        depth=3.0, centipawns=12, belief=20, exact=True, policy=(("e7e5", 0.75), ("a7a6", 0.25))
    )
    game.chosen(think.number, PlayResult("e7e5", report), 2.0)
    store.save(game, 2.0)
    return game


def test_a_game_comes_back_as_it_was(tmp_path: Path) -> None:
    game = saved_game(GameStore(tmp_path))
    stored = GameStore(tmp_path).load(game.id)
    assert stored is not None
    assert (stored.visitor, stored.setup, stored.version) == ("visitor", SETUP, game.version)
    assert stored.plies == tuple(game.plies)
    again = stored.game()
    assert again.board.fen() == game.board.fen()
    assert again.notes is not None and game.notes is not None
    assert again.notes.sheet == game.notes.sheet


def test_a_takeback_is_in_the_file_too(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    game = saved_game(store)
    game.take_back(3.0)
    game.move("d2d4", 0, 4.0)
    store.save(game, 4.0)
    stored = GameStore(tmp_path).load(game.id)
    assert stored is not None
    assert [ply.turn.uci for ply in stored.plies] == ["d2d4"]


def test_the_clocks_are_kept_as_they_stood(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    game = saved_game(store)
    game.move("d2d4", 2, 12.0)
    store.save(game, 15.0)
    stored = store.load(game.id)
    assert stored is not None
    assert stored.left == {chess.WHITE: 50_000, chess.BLACK: 57_000}


def test_a_store_opened_in_the_middle_goes_on_with_a_game(tmp_path: Path) -> None:
    saved_game(GameStore(tmp_path))
    store = GameStore(tmp_path)
    stored = store.load("abcdefghijkl")
    assert stored is not None
    game = stored.game()
    game.move("d2d4", 2, 0.0)
    store.save(game, 0.0)
    reloaded = store.load(game.id)
    assert reloaded is not None
    assert reloaded.plies == tuple(game.plies)


def test_the_result_and_the_rematch_are_kept(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    game = saved_game(store)
    assert store.count_unfinished("visitor") == 1
    game.resign(3.0)
    game.set_rematch("b" * 12)
    store.save(game, 3.0)
    stored = store.load(game.id)
    assert stored is not None
    assert stored.result == game.result
    assert store.count_unfinished("visitor") == 0
    (row,) = store.summaries("visitor", 10)
    assert (row["status"], row["result"], row["plies"]) == ("over", "0-1", 2)
    assert store.summaries("somebody else", 10) == []


def finished_game(store: GameStore, letter: str, visitor: str = "visitor") -> None:
    """Keep a game that is over, under an id of this letter."""
    game = HostedGame(letter * 12, SETUP)
    store.add(game, visitor, "2026-01-01T00:00:00+00:00")
    game.ready(0.0)
    game.resign(1.0)
    store.save(game, 1.0)


def ids_of(store: GameStore, visitor: str) -> str:
    """Return the letters of a visitor's games, the newest first."""
    return "".join(str(row["game"])[0] for row in store.summaries(visitor, 100))


def make_place(store: GameStore, visitor: str, kept: set[str] | None = None, **limits: int) -> bool:
    most = {"most": 100, "own": 100, "size": 1 << 30, **limits}
    return store.make_place(visitor, kept or set(), **most)


def test_a_visitors_own_old_games_make_place_first(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    finished_game(store, "x", "another")
    for letter in "abcd":
        finished_game(store, letter)
    assert make_place(store, "visitor", own=3, kept={"a" * 12})
    assert ids_of(store, "visitor") == "da"
    assert ids_of(store, "another") == "x"


def test_a_game_under_way_never_makes_place_for_another_visitors(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    for letter in "abc":
        saved_game(store, letter * 12)  # both sides have moved
    finished_game(store, "d")
    for letter in "efghi":
        finished_game(store, letter, "flooder")
    assert make_place(store, "flooder", most=5)
    assert set("abc") <= set(ids_of(store, "visitor"))
    assert not make_place(store, "flooder", most=3), "nothing is left that may go"
    assert ids_of(store, "visitor") == "cba"


def test_the_visitor_with_the_most_games_loses_some(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    finished_game(store, "a")
    for letter in "bcd":
        finished_game(store, letter, "flooder")
    assert make_place(store, "third", most=4)
    assert ids_of(store, "visitor") == "a"
    assert ids_of(store, "flooder") == ""


def test_a_file_that_is_too_large_makes_place(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    finished_game(store, "a")
    assert not make_place(store, "visitor", size=1)
    assert ids_of(store, "visitor") == ""


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE games SET setup = '{'",
        "UPDATE games SET state = '[]'",
        "UPDATE games SET setup = json_set(setup, '$.human', 'red')",
        "UPDATE plies SET said = 'x'",
        "DELETE FROM plies WHERE ply = 0",
    ],
)
def test_a_damaged_game_is_left_out_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    saved_game(GameStore(tmp_path))
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute(damage)
    file.close()
    store = GameStore(tmp_path)
    saved_game(store, "b" * 12)
    assert store.load("abcdefghijkl") is None
    assert "b" in ids_of(store, "visitor")
    told = [each.getMessage() for each in caplog.records if each.name == "obscuro.web"]
    assert len(told) == 1
    assert told[0].startswith("game abcdefghijkl is damaged in the file, and left out: ")


def test_a_stored_move_that_is_not_legal_is_no_game(tmp_path: Path) -> None:
    saved_game(GameStore(tmp_path))
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("UPDATE plies SET said = replace(said, 'e7e5', 'e7e8') WHERE ply = 1")
    file.close()
    stored = GameStore(tmp_path).load("abcdefghijkl")
    assert stored is not None
    for use in (stored.game, stored.pgn):
        with pytest.raises(WebError, match="is damaged"):
            use()


def test_a_folder_that_can_not_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(StoreError, match="can't keep games in"):
            GameStore(folder)


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("this is a letter to my aunt, " * 100)
    with pytest.raises(StoreError) as caught:
        GameStore(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_store_that_fails_says_so(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    game = saved_game(store)
    store.close()
    game.resign(3.0)
    with pytest.raises(StoreError, match="can't save the game"):
        store.save(game, 3.0)

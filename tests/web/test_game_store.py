"""The file of the games: what is saved is there again, and a change is whole or not at all."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from obscuro.client.engine import PlayResult
from obscuro.client.move_report import Report
from obscuro.matches.time_control import TimeControl
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.data_folder import StoreError
from obscuro.web.play.game_store import FILE, GameStore
from obscuro.web.play.hosted_game import HostedGame

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


def test_only_the_newest_games_stay(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    for letter in "abcd":
        saved_game(store, letter * 12)
    store.prune(2, kept={"a" * 12})
    assert store.load("b" * 12) is None
    assert GameStore(tmp_path).load("b" * 12) is None
    left = [row["game"] for row in store.summaries("visitor", 10)]
    assert left == ["d" * 12, "c" * 12, "a" * 12]


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

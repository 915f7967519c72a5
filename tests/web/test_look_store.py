"""Games of files and documents in a file: whose they are, and how many are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.make_document import make_document
from obscuro.web.data_folder import StoreError
from obscuro.web.look import look_store
from obscuro.web.look.look_store import FILE, FileGame, LookStore
from tests.viewer.recorded import SHORT_GAME

GAME = FileGame("a" * 12, "visitor", "2026-11-22T10:00:00", "A", "B", "1-0", 5, "1. e4 *")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LookStore]:
    store = LookStore(tmp_path)
    yield store
    store.close()


def test_a_game_is_its_visitors_alone(store: LookStore) -> None:
    store.add_games([GAME])
    assert store.game(GAME.id, "visitor") == GAME
    assert store.game(GAME.id, "other") is None
    assert store.game(GAME.id, None) is None
    assert store.games_of("visitor", 10) == [replace(GAME, pgn="")]
    assert store.games_of("other", 10) == []


def test_the_newest_files_come_first_and_their_games_in_order(store: LookStore) -> None:
    later = "2026-11-22T11:00:00"
    store.add_games([GAME])
    store.add_games([replace(GAME, id=name * 12, opened=later) for name in "bc"])
    assert [each.id[0] for each in store.games_of("visitor", 10)] == ["b", "c", "a"]
    assert len(store.games_of("visitor", 2)) == 2


def test_old_games_make_place(store: LookStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_store, "MOST_FILE_GAMES", 2)
    store.add_games([replace(GAME, id=name * 12) for name in "abc"])
    assert store.game("a" * 12, "visitor") is None
    assert store.game("b" * 12, "visitor") is not None


def test_a_document_is_kept_as_it_is(store: LookStore, tmp_path: Path) -> None:
    document = make_document(games_of_text(SHORT_GAME).games[0], 100)
    assert store.document("x") is None
    store.save_document("x", document)
    assert store.document("x") == document
    store.close()
    again = LookStore(tmp_path)
    assert again.document("x") == document
    again.close()


def test_a_document_of_an_old_form_is_made_anew(store: LookStore) -> None:
    document = make_document(games_of_text(SHORT_GAME).games[0], 100)
    store.save_document("x", {**document, "schema": 1})
    assert store.document("x") is None


def test_a_file_that_cannot_be_used_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="can't keep games in"):
        LookStore(tmp_path / "data")
    (tmp_path / FILE).write_text("this is no database" * 100)
    with pytest.raises(StoreError, match="can't keep games in"):
        LookStore(tmp_path)

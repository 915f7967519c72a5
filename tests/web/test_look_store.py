"""Games of files and documents in a file: whose they are, and how many are kept."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.make_document import make_document
from obscuro.viewer.worst_moments import Moment, worst_move
from obscuro.web.data_folder import StoreError
from obscuro.web.look import look_store
from obscuro.web.look.look_store import FILE, FileGame, LookStore
from tests.viewer.recorded import SHORT_GAME

GAME = FileGame("a" * 12, "visitor", "2026-11-22T10:00:00", "A", "B", "1-0", 5, "1. e4 *")
FALLEN = (Moment(2, "2. Bxb8 captured"), Moment(4, "3. Qxe8 captured"))


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


def test_the_worst_move_of_a_document_comes_before_what_the_fog_did(
    store: LookStore, tmp_path: Path
) -> None:
    other = replace(GAME, id="b" * 12, moments=FALLEN[:1])
    store.add_games([replace(GAME, moments=FALLEN), other])
    assert [each.moments for each in store.games_of("visitor", 2)] == [FALLEN, FALLEN[:1]]
    document = make_document(games_of_text(SHORT_GAME).games[0], 100)
    worst = worst_move(document)
    assert worst is not None
    for name in (GAME.id, GAME.id, "of no file"):
        store.save_document(name, document)
    (found,) = [each for each in (store.game(GAME.id, "visitor"),) if each is not None]
    assert found.moments == (worst, *FALLEN)


def test_moments_go_with_their_game(
    store: LookStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_store, "OWN_FILE_GAMES", 1)
    store.add_games([replace(GAME, id=name * 12, moments=FALLEN) for name in "ab"])
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        assert file.execute("SELECT DISTINCT game FROM moments").fetchall() == [("b" * 12,)]


def test_old_games_make_place(store: LookStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_store, "MOST_FILE_GAMES", 2)
    store.add_games([replace(GAME, id=name * 12) for name in "abc"])
    assert store.game("a" * 12, "visitor") is None
    assert store.game("b" * 12, "visitor") is not None


def of_visitor(visitor: str, name: str, size: int) -> FileGame:
    """Return a game whose PGN has a size in bytes; its letters have two bytes each."""
    return replace(GAME, id=name * 12, visitor=visitor, pgn="é" * (size // 2))


def test_a_visitors_games_take_so_many_bytes_at_most(
    store: LookStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_store, "OWN_FILE_BYTES", 1000)
    store.add_games([of_visitor("other", "x", 900)])
    store.add_games([of_visitor("visitor", name, 400) for name in "abc"])
    assert [each.id[0] for each in store.games_of("visitor", 10)] == ["b", "c"]
    assert store.game("x" * 12, "other") is not None
    store.add_games([of_visitor("visitor", "d", 2000)])  # a game alone is kept
    assert [each.id[0] for each in store.games_of("visitor", 10)] == ["d"]


def test_all_games_of_files_take_so_many_bytes_at_most(
    store: LookStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_store, "MOST_FILE_BYTES", 2000)
    store.add_games([of_visitor("small", "x", 200)])
    for name in "abcdef":
        store.add_games([of_visitor("large", name, 400)])
    assert store.game("x" * 12, "small") is not None, "who has most makes place"
    assert [each.id[0] for each in store.games_of("large", 10)] == list("cdef")


def test_documents_take_so_many_bytes_at_most(
    store: LookStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = make_document(games_of_text(SHORT_GAME).games[0], 100)
    size = len(zlib.compress(json.dumps(document, separators=(",", ":")).encode()))
    monkeypatch.setattr(look_store, "MOST_DOCUMENT_BYTES", 2 * size)
    for name in "abc":
        store.save_document(name, document)
    assert [store.document(name) is not None for name in "abc"] == [False, True, True]


@pytest.mark.parametrize(
    "body", [b"", b"x", zlib.compress(b"{"), zlib.compress(b"[]"), zlib.compress(b'{"a":1}')]
)
def test_a_damaged_document_is_made_anew(
    store: LookStore, tmp_path: Path, caplog: pytest.LogCaptureFixture, body: bytes
) -> None:
    store.save_document("x", make_document(games_of_text(SHORT_GAME).games[0], 100))
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE documents SET body = ?", (body,))
    assert store.document("x") is None
    assert "the document of game x is damaged" in caplog.text


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

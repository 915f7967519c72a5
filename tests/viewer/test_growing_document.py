"""A document that grows with its game is the one that is made of the whole game."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import chess.pgn
import pytest

from obscuro.viewer.make_document import GrowingDocument, make_document
from tests.viewer.recorded import SHORT_GAME, game_of


@pytest.fixture
def game(tmp_path: Path) -> chess.pgn.Game:
    return game_of(SHORT_GAME, tmp_path)


@pytest.fixture
def growing(game: chess.pgn.Game) -> Iterator[GrowingDocument]:
    growing = GrowingDocument(game, 1000)
    yield growing
    growing.close()


def first_plies(game: chess.pgn.Game, plies: int) -> chess.pgn.Game:
    """Return a game as it was after so many plies."""
    shorter = copy.deepcopy(game)
    node: chess.pgn.GameNode = shorter
    for _ in range(plies):
        node = node.variations[0]
    node.variations.clear()
    shorter.headers["Result"] = "*"
    return shorter


def test_it_is_the_document_of_the_whole_game_at_every_ply(
    game: chess.pgn.Game, growing: GrowingDocument
) -> None:
    for plies in range(5):
        part = first_plies(game, plies)
        assert growing.grow(part) == make_document(part, 1000)
    assert growing.grow(game) == make_document(game, 1000)


def test_only_new_plies_are_worked_out(game: chess.pgn.Game, growing: GrowingDocument) -> None:
    called: list[int] = []
    before = growing.grow(first_plies(game, 2), lambda: called.append(1))
    growing.grow(game, lambda: called.append(2))
    assert called == [1, 1, 2, 2, 2]
    assert len(before["positions"]) == 3  # the one before stays as it was


def test_another_game_is_refused(
    game: chess.pgn.Game, growing: GrowingDocument, tmp_path: Path
) -> None:
    growing.grow(game)
    with pytest.raises(ValueError, match="does not go on"):
        growing.grow(game_of("1. d4 *", tmp_path))

"""The PGN file of an event: each game once, and nothing that belongs to others is lost."""

import io
from pathlib import Path

import chess.pgn
import pytest

from obscuro.matches.event import Event
from obscuro.matches.game_record import GameRecord
from obscuro.matches.pgn import PgnFile, PgnFileError
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from tests.matches.events import match_event, scripted_workers


@pytest.fixture
def event() -> Event:
    return match_event(4)


@pytest.fixture
def games(event: Event) -> dict[int, GameRecord]:
    return play_event(event, scripted_workers(RandomPlayer)).games


def rounds(path: Path) -> list[str]:
    stream, found = io.StringIO(path.read_text()), []
    while (headers := chess.pgn.read_headers(stream)) is not None:
        found.append(headers["Round"])
    return found


def derive(path: Path, event: Event, games: dict[int, GameRecord]) -> None:
    PgnFile.derive(path, event, games).close()


def test_it_is_derived_from_the_games_and_goes_on(
    tmp_path: Path, event: Event, games: dict[int, GameRecord]
) -> None:
    path = tmp_path / "games.pgn"
    for known in (0, 1, 3):
        with PgnFile.derive(path, event, {n: games[n] for n in range(known)}) as file:
            assert rounds(path) == [str(n + 1) for n in range(known)]
            file.add(3, games[3])
        assert rounds(path) == [*(str(n + 1) for n in range(known)), "4"]
        if known == 0:
            path.unlink()  # a new event refuses a file that is there
    assert [each.name for each in tmp_path.iterdir()] == ["games.pgn"]


def test_a_torn_game_is_written_anew(
    tmp_path: Path, event: Event, games: dict[int, GameRecord]
) -> None:
    path = tmp_path / "games.pgn"
    derive(path, event, games)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    derive(path, event, games)
    assert path.read_text() == whole


def test_other_games_are_never_replaced(
    tmp_path: Path, event: Event, games: dict[int, GameRecord]
) -> None:
    path, other = tmp_path / "games.pgn", match_event(4, seed=9)
    for text in ("my notes\n", '[Event "Wijk aan Zee"]\n\n1. e4 *\n'):
        path.write_text(text)
        with pytest.raises(PgnFileError, match="holds other games"):
            derive(path, event, games)
        assert path.read_text() == text
    path.unlink()
    derive(path, other, games)
    before = path.read_text()
    with pytest.raises(PgnFileError, match="holds other games"):
        derive(path, event, games)
    with pytest.raises(PgnFileError, match="holds other games"):
        derive(path, other, {})  # a journal that was begun anew
    assert path.read_text() == before


def test_without_a_journal_games_are_added(
    tmp_path: Path, event: Event, games: dict[int, GameRecord]
) -> None:
    path = tmp_path / "games.pgn"
    for _ in range(2):
        with PgnFile.append(path, event) as file:
            file.add(0, games[0])
    assert rounds(path) == ["1", "1"]


@pytest.mark.parametrize("name", ["nowhere/games.pgn", "."])
def test_a_file_that_cannot_be_made(
    tmp_path: Path, event: Event, games: dict[int, GameRecord], name: str
) -> None:
    for make in (
        lambda path: PgnFile.append(path, event),
        lambda path: PgnFile.derive(path, event, games),
    ):
        with pytest.raises(PgnFileError, match=r"^can't write "):
            make(tmp_path / name)


def test_an_error_while_it_is_made_leaves_the_old_file(
    tmp_path: Path, event: Event, games: dict[int, GameRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.pgn"
    derive(path, event, games)
    before = path.read_text()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("obscuro.matches.atomic_file.os.fsync", full)
    with pytest.raises(PgnFileError, match="No space left on device"):
        derive(path, event, games)
    assert path.read_text() == before
    assert [each.name for each in tmp_path.iterdir()] == ["games.pgn"]

"""The PGN of games on a server."""

from __future__ import annotations

import errno
import io
import threading
from pathlib import Path

import chess
import chess.pgn
import pytest

from obscuro.bots.bot_settings import GameSettings
from obscuro.bots.events import GameFull, GameState
from obscuro.bots.game_end import OurResult, Verdict, left
from obscuro.bots.game_log import GameLog, PgnArchive
from obscuro.bots.game_messages import Connected, Sent, Thought
from obscuro.bots.our_view import OurView
from obscuro.bots.server_game import ServerGame
from obscuro.client.engine import Think
from obscuro.client.move_report import Report
from obscuro.matches.pgn import read_comment
from obscuro.viewer.game_file import read_game
from obscuro.viewer.make_document import make_document

WON = Verdict(OurResult.WON, "king captured", "the board shows it")


def played() -> ServerGame:
    """Return a game in which a move was taken back, and its end."""
    game = ServerGame("abc", "Me", GameSettings())

    def state(*moves: str, left: int) -> GameState:
        return GameState(moves, left, left + 1000, 2000, 2000)

    names = {"white": frozenset({"me"}), "black": frozenset({"you"})}
    start = GameFull(
        "abc", "fogofwar", **names, start=None, state=state(left=60_000), white_name="Me"
    )
    (think,) = (a for a in game.handle(Connected(), 0) + game.handle(start, 0) if type(a) is Think)
    game.handle(Thought(think.number, "a2a3", 10, Report(centipawns=10.0)), 1.0)
    game.handle(Sent(think.number, "a2a3"), 1.0)
    game.handle(state("a2a3", left=59_000), 1.0)
    game.handle(state("a2a3", "e7e5", left=58_000), 2.0)
    (again,) = (a for a in game.handle(state("e2e4", "f7f6", left=57_000), 3.0) if type(a) is Think)
    report = Report(centipawns=-31.0, nodes=5.0, belief=7, exact=True)
    game.handle(Thought(again.number, "d1h5", -31, report), 5.5)
    game.handle(Sent(again.number, "d1h5"), 5.5)
    game.handle(state("e2e4", "f7f6", "d1h5", left=55_000), 6.0)
    return game


def save(archive: PgnArchive, verdict: Verdict = WON) -> None:
    game = played()
    assert game.view is not None
    archive.save(game.id, game.view, game.log, verdict)


def test_a_game_is_written_with_what_the_engine_said(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    archive = PgnArchive(path, "https://server.example")
    save(archive)
    save(archive, left("over"))
    stream = io.StringIO(path.read_text())
    first, second = (chess.pgn.read_game(stream) for _ in range(2))
    assert first is not None and second is not None and chess.pgn.read_game(stream) is None
    assert [move.uci() for move in first.mainline_moves()] == ["e2e4", "f7f6", "d1h5"]
    assert first.headers["Result"] == "1-0" and second.headers["Result"] == "*"
    assert first.headers["Site"] == "https://server.example/abc"
    assert first.headers["Termination"] == "won: king captured (the board shows it)"
    assert (first.headers["White"], first.headers["Black"]) == ("Me", "you")
    assert first.headers["TimeControl"] == "60+2"
    last = first.end()
    notes = read_comment(last.comment, chess.WHITE)
    assert notes.report == Report(centipawns=-31.0, nodes=5.0, belief=7, exact=True)
    assert (notes.seconds, notes.clock) == (2.5, 55.0)


def test_a_game_on_a_server_can_be_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    save(PgnArchive(path, "https://server.example"))
    document = make_document(read_game(path), 100)
    assert (document["white"], document["ending"]) == (
        "Me",
        "won: king captured (the board shows it)",
    )
    own = document["moves"][2]
    assert (own["san"], own["pawns"], own["belief"], own["clock"]) == ("Qh5", -0.31, 7, 55.0)
    assert document["moves"][1]["pawns"] is None  # nobody knows what the opponent thought


def test_a_folder_gets_a_file_for_each_game(tmp_path: Path) -> None:
    archive = PgnArchive(tmp_path, "x")
    save(archive)
    (file,) = tmp_path.iterdir()
    assert file.name.endswith("-abc.pgn")
    archive.save("never", OurView(chess.WHITE, None), GameLog(), WON)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(PgnArchive(tmp_path / "nowhere" / "x.pgn", "x"))
    assert "game abc: its PGN was not written" in caplog.text


def test_two_bridges_may_write_one_file(tmp_path: Path) -> None:
    """Each writes as if it were alone; before, each put its own games in place of the other's."""
    path = tmp_path / "games.pgn"
    archives = [PgnArchive(path, f"https://server{number}.example") for number in range(2)]
    threads = [
        threading.Thread(target=lambda archive=archive: [save(archive) for _ in range(5)])
        for archive in archives
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sites = [game.headers["Site"] for game in games_of(path)]
    assert sorted(sites) == [
        f"https://server{number}.example/abc" for number in (0,) * 5 + (1,) * 5
    ]


@pytest.mark.parametrize("torn", ['[Event "Bot game"]\n[White "M', "1. e4 e5", "1. e4 *\n"])
def test_a_game_follows_one_that_was_cut_off(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(torn)
    save(PgnArchive(path, "https://server.example"))
    assert games_of(path)[-1].headers["Site"] == "https://server.example/abc"
    assert path.read_text().startswith(torn)


def test_a_full_disk_leaves_no_half_of_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "games.pgn"
    path.write_text("before\n\n")
    monkeypatch.setattr("obscuro.bots.game_log.os.fsync", full)
    save(PgnArchive(path, "https://server.example"))
    assert path.read_text() == "before\n\n"
    assert "its PGN was not written" in caplog.text


def games_of(path: Path) -> list[chess.pgn.Game]:
    with path.open() as stream:
        return list(iter(lambda: chess.pgn.read_game(stream), None))

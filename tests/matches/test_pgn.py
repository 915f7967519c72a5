"""Games as PGN: read back by python-chess; comments of moves; the file of an event."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage, RootReport
from obscuro.matches.builtin_players import make_contestant
from obscuro.matches.event import Entrant, Event
from obscuro.matches.game_record import GameRecord, Turn, record_data
from obscuro.matches.openings import draft_openings
from obscuro.matches.pgn import (
    MoveNotes,
    PgnFile,
    PgnFileError,
    read_comment,
    to_pgn,
    write_comment,
    write_pgn,
)
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import first_board, games_of_text
from tests.matches.events import match_event, scripted_workers
from tests.matches.scripted import Scripted


def test_games_are_read_back_move_by_move() -> None:
    text = io.StringIO()
    records = [play_game(RandomPlayer(), RandomPlayer(), control=7, seed=n) for n in range(5)]
    for number, record in enumerate(records):
        write_pgn(text, record, event="Test", round_=number + 1)
    text.seek(0)
    for number, record in enumerate(records):
        game = chess.pgn.read_game(text)
        assert game is not None
        assert game.errors == []
        assert isinstance(game.board(), FogOfWarBoard)
        assert list(game.mainline_moves()) == record.board.move_stack
        assert game.end().board().result() == record.result
        expected = {
            "Event": "Test",
            "Round": str(number + 1),
            "Variant": "Fog of War",
            "White": "random",
            "Result": record.result,
            "Termination": record.ending,
            "MoveTime": "7 ms",
        }
        assert expected.items() <= dict(game.headers).items()
    assert chess.pgn.read_game(text) is None


def test_a_forfeit_keeps_its_result() -> None:
    record = play_game(Scripted(["e2e4", "e4e6"]), Scripted(["e7e5"]), control=1)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.headers["Result"] == "0-1"
    assert game.headers["Termination"] == "white made the illegal move e4e6"


def test_a_game_from_a_position_keeps_it() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=1, board=board)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.board().fen() == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def test_headers_say_what_each_side_was_told_and_where_the_game_began() -> None:
    board = FogOfWarBoard()
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=1, board=board)
    record = replace(record, opening="start, again")
    headers = to_pgn(record, event="Cup", round_="3.1", fingerprint="abc").headers
    assert headers["Opening"] == "start, again"
    assert (headers["WhiteTold"], headers["BlackTold"]) == ("own observations", "own observations")
    assert (headers["Round"], headers["Fingerprint"]) == ("3.1", "abc")
    assert headers["Date"] == record.started[:10].replace("-", ".")


@pytest.mark.parametrize(
    ("white", "black", "expected"),
    [
        (TimeControl(50), TimeControl(50), {"MoveTime": "50 ms"}),
        (TimeControl(None, 60_000, 500), TimeControl(None, 60_000, 500), {"TimeControl": "60+0.5"}),
        (
            TimeControl(50),
            TimeControl(None, 60_000, 0),
            {"WhiteTime": "50 ms", "BlackTime": "60+0"},
        ),
    ],
)
def test_headers_say_the_time_of_each_side(
    white: TimeControl, black: TimeControl, expected: dict[str, str]
) -> None:
    controls = {chess.WHITE: white, chess.BLACK: black}
    headers = to_pgn(play_game(Scripted(["e2e4"]), Scripted([]), control=controls)).headers
    assert {name: text for name, text in headers.items() if "Time" in name} == expected


def test_a_clock_is_in_the_comments() -> None:
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=TimeControl(None, 60_000, 500))
    (node,) = to_pgn(record).mainline()
    assert node.comment == "[%clk 0:01:00.5]"
    assert node.clock() == 60.5


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


REPORT = Report(
    belief=312,
    exact=True,
    nodes=20522,
    depth=4.1,
    centipawns=-34,
    policy=(("e4d5", 0.61), ("d2d4", 0.385), ("a2a3", 0.004)),
)
ROOT = RootReport(0.75, 0.125, 0.5, 0.25, 0.0625, -0.5, 0.375)
TURN = Turn("e4d5", 0.98, REPORT, 0, Coverage(True, True, False, 0.0031, 12.5, ROOT))


def test_a_comment_is_a_row_of_commands() -> None:
    assert write_comment(TURN, chess.BLACK, 598_400) == (
        "[%eval 0.34] [%clk 0:09:58.4] [%emt 0:00:00.98] [%belief 312 exact] "
        "[%coverage belief=1 infoset=1 expanded=0 weight=0.0031 rank=12.5 p_max=0.75 "
        "entered=0.125 fresh=0.5 mean=0.25 gap=0.0625 star=-0.5 slack=0.375] "
        "[%nodes 20522] [%depth 4.1] "
        "[%policy e4d5:0.61 d2d4:0.385]"
    )


@pytest.mark.parametrize("color", chess.COLORS)
def test_what_is_written_is_read_back(color: chess.Color) -> None:
    notes = read_comment(write_comment(TURN, color, 598_400), color)
    assert notes == MoveNotes(
        0.98,
        598.4,
        Report(
            belief=312,
            exact=True,
            nodes=20522,
            depth=4.1,
            centipawns=-34,
            policy=REPORT.policy[:2],
        ),
        TURN.coverage,
    )


def test_python_chess_reads_evaluation_and_times() -> None:
    game = chess.pgn.Game()
    node = game.add_variation(chess.Move.from_uci("e2e4"))
    node.comment = write_comment(TURN, chess.WHITE, 598_400)
    score = node.eval()
    assert score is not None and score.white() == chess.engine.Cp(-34)
    assert (node.clock(), node.emt()) == (598.4, 0.98)


def test_a_move_of_which_nothing_is_known_has_no_comment() -> None:
    assert write_comment(Turn("e2e4"), chess.WHITE) == ""
    assert read_comment("", chess.WHITE) == MoveNotes()


def test_the_coverage_of_a_forced_move_is_that_of_the_belief_alone() -> None:
    text = write_comment(Turn("e2e4", coverage=Coverage(True)), chess.WHITE)
    assert text == "[%coverage belief=1]"
    assert read_comment(text, chess.WHITE).coverage == Coverage(True)


def test_comments_of_earlier_versions_are_read() -> None:
    text = "|P| 12 inexact, nodes 345, depth 4.5, cp -20, 0.250 s"
    report = Report(belief=12, exact=False, nodes=345, depth=4.5, centipawns=-20)
    assert read_comment(text, chess.BLACK) == MoveNotes(0.25, None, report)
    assert read_comment("|P| 3, 1.000 s", chess.WHITE).report == Report(belief=3, exact=True)


def test_commands_that_make_no_sense_are_left_out() -> None:
    text = "good! [%eval #3] [%emt soon] [%belief many] [%policy e2e4] [%depth x] [%cal Ge2e4]"
    assert read_comment(text, chess.WHITE) == MoveNotes()


@given(st.text())
def test_no_comment_is_an_error(text: str) -> None:
    read_comment(text, chess.WHITE)
    read_comment(f"[%eval {text}] [%emt {text}] [%belief {text}] [%coverage {text}]", chess.WHITE)


@given(st.floats(0.001, 1e6))
def test_times_keep_their_milliseconds(seconds: float) -> None:
    notes = read_comment(write_comment(Turn("e2e4", seconds), chess.WHITE), chess.WHITE)
    assert notes.seconds == pytest.approx(seconds, abs=0.0006)


def test_a_game_of_chess960_is_read_back_by_python_chess() -> None:
    for number in (356, 518):
        board = FogOfWarBoard.from_chess960_pos(number)
        start = board.copy()
        record = play_game(Scripted([]), Scripted([]), board=board, control=TimeControl(100))
        game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
        assert game is not None and not game.errors
        assert game.board().board_fen() == start.board_fen()
        assert game.board().clean_castling_rights() == start.clean_castling_rights()
    castling = FogOfWarBoard("rk2r3/8/8/8/8/8/8/RK2R3 w EAea - 0 1", chess960=True)
    record = play_game(
        Scripted(["b1e1"]), Scripted(["b8a8"]), board=castling, control=TimeControl(100)
    )
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None and not game.errors
    assert [move.uci() for move in game.mainline_moves()][:2] == ["b1e1", "b8a8"]
    data = record_data(record)
    assert record_data(data.record()) == data


def test_a_draft_is_read_back_as_one() -> None:
    opening = draft_openings()[356]
    players = [make_contestant(Entrant(name, "random"), print) for name in "ab"]
    record = play_game(*players, board=opening.start(), control=TimeControl(100), max_plies=30)
    assert record.plies and record.board.hidden_start
    assert record_data(record_data(record).record()) == record_data(record)
    (game,) = games_of_text(str(to_pgn(record))).games
    start = first_board(game)
    assert start.hidden_start and start.chess960 and start.fen() == opening.start().fen()
    assert list(game.mainline_moves()) == record.board.move_stack
    usual = str(to_pgn(record)).replace(start.fen(), FogOfWarBoard.starting_fen)
    (other,) = games_of_text(f"{usual.partition('1. ')[0]}1. e4 *\n").games
    assert first_board(other).hidden_start and first_board(other).chess960
    no_draft = '[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]\n[HiddenStart "yes"]\n\n*\n'
    (other,) = games_of_text(no_draft).games
    assert not first_board(other).hidden_start

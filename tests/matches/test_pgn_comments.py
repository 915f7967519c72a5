"""Comments of moves: what is written is read back, by us and by python-chess."""

import chess
import chess.engine
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import MoveNotes, read_comment, write_comment

REPORT = Report(
    belief=312,
    exact=True,
    nodes=20522,
    depth=4.1,
    centipawns=-34,
    policy=(("e4d5", 0.61), ("d2d4", 0.385), ("a2a3", 0.004)),
)
TURN = Turn("e4d5", 0.98, REPORT, 0, Coverage(True, True, False, 0.0031))


def test_a_comment_is_a_row_of_commands() -> None:
    assert write_comment(TURN, chess.BLACK, 598_400) == (
        "[%eval 0.34] [%clk 0:09:58.4] [%emt 0:00:00.98] [%belief 312 exact] "
        "[%coverage belief=1 infoset=1 expanded=0 weight=0.0031] [%nodes 20522] [%depth 4.1] "
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

"""The tool that tells how recorded games used their time."""

from pathlib import Path

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import write_pgn
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import TimeControl
from tests.matches.scripted import Scripted
from tools.speed.time_report import main, read_games


class Timed(Scripted):
    """Plays its moves in the times of a script."""

    def __init__(self, script: dict[str, float]) -> None:
        super().__init__(list(script))
        self._seconds = script

    def choose(self, *arguments: object) -> Turn:
        """The next move, and the time it is said to have taken."""
        turn = super().choose(*arguments)  # type: ignore[arg-type]
        return Turn(turn.uci, self._seconds[turn.uci], Report(depth=1))


WHITE = {"e2e4": 0.1, "f1c4": 0.15, "d1h5": 0.128, "h5f7": 0.1, "f7e8": 0.002}
BLACK = {"e7e5": 0.1, "b8c6": 0.1, "g8f6": 0.131, "a7a6": 0.1}


def recorded(
    path: Path,
    control: TimeControl,
    white: dict[str, float] = WHITE,
    black: dict[str, float] = BLACK,
) -> Path:
    record = play_game(Timed(white), Timed(black), control=control)
    with path.open("a", encoding="utf-8") as stream:
        write_pgn(stream, record)
    return path


def cells(out: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in out.splitlines()]


def test_overruns_of_a_movetime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "fast.pgn", TimeControl(100))
    assert main([str(file), "--overhead", "30"]) == 0
    (row,) = cells(capsys.readouterr().out)[2:]
    assert row[:5] == ["fast", "100 ms a move", "1", "9", "0"]
    assert row[5] == "+0" and row[8] == "+50"
    assert row[9] == "66.67% / 77.78%"  # 6 of 9 in 100 ms, 7 in 130


def test_what_is_left_on_clocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "clock.pgn", TimeControl(None, 1000, 10))
    (game,) = read_games(file)
    assert game.remaining(chess.WHITE).tolist() == pytest.approx([0.9, 0.76, 0.642, 0.552, 0.56])
    assert game.remaining(chess.BLACK).tolist() == pytest.approx([0.9, 0.81, 0.689, 0.599])
    assert main([str(file)]) == 0
    assert cells(capsys.readouterr().out)[2][-1] == "0.55 s"


def test_a_loss_on_time_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "lost.pgn", TimeControl(None, 200))
    assert main([str(file)]) == 1
    row = cells(capsys.readouterr().out)[2]
    assert row[2:5] == ["1", "2", "1"]  # the move that was too late is not in the PGN


def test_a_game_is_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = recorded(tmp_path / "clock.pgn", TimeControl(None, 1000, 10))
    assert main([str(file), "--plot", str(tmp_path / "clock.png")]) == 0
    assert (tmp_path / "clock.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "text", ["", '[Variant "Fog of War"]\n\n1. e4 *\n', '[MoveTime "9 ms"]\n\n*\n']
)
def test_other_files_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "other.pgn"
    file.write_text(text)
    with pytest.raises(SystemExit):
        main([str(file)])
    assert "other.pgn" in capsys.readouterr().err

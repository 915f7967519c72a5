"""The tool that plays won endings: who plays what, its table, and runs that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.rules.board import FogOfWarBoard
from tests.tables import rows
from tools.play import endings
from tools.play.won_starts import WonStart, bare_starts
from tools.results import raw

PLAYERS = ["--strong", "random", "--weak", "random", "--movetime", "10"]


def game(kind: str, score: float, ending: str, plies: int) -> dict[str, Any]:
    turns = [["a1a2", 3, 900 if ply % 2 == 0 else -900] for ply in range(plies)]
    fen = "8/8/8/4k3/8/4K3/4R3/8 w - - 0 1"
    return {"kind": kind, "fen": fen, "score": score, "ending": ending, "turns": turns} | {
        "strong": "white",
        "regular": True,
    }


GAMES = [
    *(game("KRK", 1, "king captured", plies) for plies in (4, 6, 8, 10, 12)),
    game("KRK", 0.5, "fifty-move rule", 100),
    game("KQK", 0, "king captured", 5),
]


def test_the_table_counts_in_the_view_of_the_strong_side() -> None:
    found = rows("\n".join(endings.render({"games": GAMES})))
    assert found == [
        ["KQK", "1", "0", "0", "1", "lost, king captured 1", "-", "-", "-"],
        ["KRK", "6", "5", "1", "0", "fifty-move rule 1", "8", "11", "12"],
    ]
    assert list(endings.render({"games": []})) == ["No games were played."]


def test_how_the_lone_king_fell() -> None:
    fen = "8/8/8/8/8/k6K/6q1/8 w - - 0 1"
    stepped = game("KQK", 1, "king captured", 0) | {"fen": fen, "strong": "black"}
    stayed = stepped | {"fen": fen.replace(" w ", " b ")}
    stepped["turns"] = [["h3h4", 40, -9], ["g2g6", 3, 9], ["h4g3", 50, -9], ["g6g3", 1, 9]]
    stayed["turns"] = [["g2d2", 1, 9], ["h3h4", 30, -9], ["d2d4", 2, 9], ["h4g4", 9, -9]]
    stayed["turns"] += [["d4g4", 5, 9]]
    assert not endings.stood_attacked(stepped)
    assert endings.stood_attacked(stayed)
    found = rows("\n".join(endings.render_hunts({"games": [stepped, stayed, *GAMES[-1:]]})))
    assert found == [["KQK", "2", "1", "1", "2", "4", "5"]]


def test_the_picture_shows_a_long_hunt() -> None:
    assert len(endings.hunt_of(GAMES, "KRK")["turns"]) == 12
    with pytest.raises(ValueError, match="no KQK was won"):
        endings.hunt_of(GAMES, "KQK")


def test_the_strong_side_is_the_first_entrant_with_either_colour() -> None:
    starts = bare_starts("KQK", 3, 1)
    event = endings.make_event(starts, ("random", "greedy"), {}, 10)
    assert [entrant.player for entrant in event.entrants] == ["random", "greedy"]
    assert [(task.white, task.black) for task in event.tasks] == [(0, 1), (1, 0), (0, 1)]
    assert [task.opening.start().fen() for task in event.tasks] == [
        start.board.fen() for start in starts
    ]
    assert len({task.seed for task in event.tasks}) == 3


def test_a_game_keeps_what_each_search_said() -> None:
    start = WonStart("KQK", FogOfWarBoard("7k/8/8/8/8/8/6q1/K7 w - - 0 1"), chess.BLACK)
    board = start.board.copy()
    plies = []
    for uci, report in (("a1b1", None), ("g2b2", Report(belief=3, centipawns=990)), ("b1b2", None)):
        plies.append(PlayedPly(board.turn, Turn(uci, report=report), ""))
        board.push_uci(uci)
    record = GameRecord("strong", "weak", board, chess.WHITE, "for a test", plies=plies)
    figures = endings.figures_of(start, record)
    assert figures["score"] == 0 and figures["strong"] == "black"
    assert figures["turns"] == [["a1b1", None, None], ["g2b2", 3, 990], ["b1b2", None, None]]


def test_kinds_take_turns() -> None:
    starts = endings.draw_starts(["KRK", "KQK"], 3, 1, [])
    assert [start.kind for start in starts] == ["KRK", "KQK"] * 3


def test_a_run_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    log, file = tmp_path / "games.jsonl", tmp_path / "figures.json"
    words = ["KQK", "KPK", "--games", "1", *PLAYERS]
    logged = [*words, "--log", str(log), "--raw", str(file)]
    assert endings.main(logged) == 0
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    first = raw.load(file)
    assert first.command == " ".join(["python -m tools.play.endings", *words])
    log.write_bytes(b"".join(lines[:2]))
    assert endings.main(logged) == 0
    second = raw.load(file)
    assert [each["kind"] for each in second.data["games"]] == ["KQK", "KPK"]
    kept = first.data["games"].index(second.data["games"][0])
    assert len(second.data["games"][kept]["turns"]) > 0
    assert second.games == "figures.pgn.gz" and (tmp_path / "figures.pgn.gz").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["KBK"], "kinds are KQK, KRK, KPK, two_up, each once"),
        (["KQK", "KQK"], "kinds are"),
        (["--games", "0"], "--games: must be above 0"),
        (["KQK", "--option", "Hash"], "'Hash' is not NAME=VALUE"),
        (["KQK", "--strong", "nobody-at-all"], "'nobody-at-all' is neither a built-in player"),
        (["two_up", "--from", "no-such.pgn"], "can't read no-such.pgn"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        endings.main(words)
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("python -m tools.play.endings: error: ") and said in line

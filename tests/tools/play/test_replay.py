"""The tool that replays recorded games, and how games are read and followed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.engine.player import Player
from obscuro.engine.report import Choice, Coverage, GoLimits, RootReport, SearchInfo
from obscuro.matches.event import Entrant, Event, GameTask
from obscuro.matches.game_workers import Played
from obscuro.matches.journal import Journal
from obscuro.matches.openings import PLAIN
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import FogOfWarBoard
from tests.tables import rows
from tests.tools.play.lost_games import QUEEN, RECORDS, WORDS, write_games
from tools.common import INTERRUPTED
from tools.play import replay
from tools.play.recorded_games import (
    FiledGame,
    FollowedTurn,
    Judge,
    Row,
    by_nodes,
    follow,
    load_games,
)
from tools.results import raw
from tools.results.manifest import Loaded, Run


def limits(ply: int) -> GoLimits:
    return by_nodes(400)


def figures(player: Player, game: FiledGame, side: chess.Color) -> list[Row]:
    judge = Judge(player.equipment.options, print)
    return list(replay.replay_side(player, judge, game, side, limits))


# -- following a game ---------------------------------------------------------------------------


@pytest.mark.parametrize("side", [chess.WHITE, chess.BLACK])
def test_a_side_is_followed_with_its_own_knowledge(
    file: Path, player: Player, side: chess.Color
) -> None:
    game = load_games(file)[1]
    board = FogOfWarBoard()
    turns = list(follow(player, game, side, limits))
    assert [turn.ply for turn in turns] == list(range(0 if side else 1, len(QUEEN), 2))
    for turn in turns:
        while len(board.move_stack) < turn.ply:
            board.push_uci(QUEEN[len(board.move_stack)])
        assert turn.board == board and turn.board.turn == side
        assert turn.move.uci() == QUEEN[turn.ply]
        assert turn.coverage.in_belief
        assert turn.choice.move in {move.uci() for move in board.legal_moves}
        # What the side knows is as much as it saw: Black has seen no move of White's king's pawn.
        assert turn.info.exact and turn.info.belief == {0: 1, 1: 20}.get(turn.ply, turn.info.belief)


def test_the_truth_is_looked_for_in_the_search_of_its_turn(player: Player, file: Path) -> None:
    found = figures(player, load_games(file)[1], chess.WHITE)
    first = found[0]
    assert (first["in_belief"], first["in_infoset"], first["expanded"]) == (True, True, True)
    assert first["weight"] == pytest.approx(1) and (first["roots"], first["J"]) == (1, 1)
    for row in found:
        if row["searched"]:
            assert (row["weight"] > 0) <= row["in_infoset"] and row["expanded"] <= row["in_infoset"]
            assert row["expanded"] <= row["roots"] <= row["belief"] and 0 <= row["weight"] <= 1
            assert 0 <= row["share"] <= 1


def test_values_and_results_are_in_the_view_of_the_side(player: Player, file: Path) -> None:
    game = load_games(file)[1]
    white = {row["ply"]: row for row in figures(player, game, chess.WHITE)}
    black = {row["ply"]: row for row in figures(player, game, chess.BLACK)}
    assert white[6]["true_value"] < -0.5 < 0.5 < black[7]["true_value"]
    assert abs(white[0]["true_value"]) < 0.2
    assert {row["result"] for row in white.values()} == {-1}
    assert {row["result"] for row in black.values()} == {1}


def test_a_forced_move_has_no_search_to_ask(player: Player, file: Path) -> None:
    last = figures(player, load_games(file)[0], chess.WHITE)[-1]
    assert last["move"] == last["chosen"] == "h5e8"
    assert last["searched"] is False and last["in_belief"] and "weight" not in last
    assert last["true_value"] == 1


# -- files --------------------------------------------------------------------------------------


def test_a_journal_holds_the_same_games(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    event = Event(
        "test",
        (Entrant("one", "random"), Entrant("two", "random")),
        (GameTask(0, 0, 1, PLAIN, 1, 0), GameTask(1, 1, 0, PLAIN, 1, 0)),
        TimeControl(10),
        max_plies=100,
    )
    with Journal.open(path, event) as journal:
        for task, game in reversed(list(zip(event.tasks, RECORDS, strict=True))):
            journal.add(Played(task, game))
    for ours, theirs in zip(load_games(file), load_games(path), strict=True):
        assert (ours.number, ours.names, ours.moves) == (theirs.number, theirs.names, theirs.moves)
        assert (ours.start, ours.winner, ours.regular) == (theirs.start, theirs.winner, True)
        assert ours.coverages == theirs.coverages
        assert ours.coverages[3:5] == (None, Coverage(True, False, False, 0.0))


def test_a_player_is_found_by_its_name_on_either_side(file: Path) -> None:
    first, second = load_games(file)
    assert first.sides("one") == second.sides("two") == [chess.WHITE]
    assert first.sides("both") == [chess.WHITE, chess.BLACK] and first.sides("black") == [False]
    assert first.sides("nobody") == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('[PlyCount "5"]', '[PlyCount "7"]', "game 1 of games.pgn is torn: it has 5 of 7 plies"),
        ("[Event ", "1. e4 e5 *\n\n[Event ", "game 1 of games.pgn has no result"),
        ("2. Qh5", "2. Qh6", "game 1 of games.pgn, ply 3: 'Qh6'"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(
    file: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, fault: str
) -> None:
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(SystemExit):
        replay.main([str(file)])
    assert fault in capsys.readouterr().err.replace(f"{file.parent}/", "")


# -- the tables ---------------------------------------------------------------------------------


def test_both_tables_are_shown_and_all_figures_stored(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "replay.json"
    words = [str(file), "--side", "one", "--movetime", "10", "--json", str(stored), *WORDS]
    assert replay.main(words) == 0
    printed = capsys.readouterr().out
    content = raw.load(stored)
    assert list(replay.render(content.data)) == printed.splitlines()
    assert "--json" not in content.command and "--side one" in content.command
    assert [(row["game"], row["side"]) for row in content.data["turns"]] == [(1, "white")] * 3 + [
        (2, "black")
    ] * 7
    assert {row["player"] for row in content.data["turns"]} == {"one"}


def turn(game: int, belief: int, **more: object) -> Row:
    return {
        **{"game": game, "side": "white", "belief": belief, "searched": True, "in_belief": True},
        **{"in_infoset": True, "expanded": True, "weight": 0.5, "roots": 4, "J": 6, "depth": 3.0},
        **{"value": 0.5, "true_value": 0.1, "result": -1},
        **more,
    }


def test_turns_are_counted_by_the_size_of_the_belief() -> None:
    turns = [
        turn(1, 16),
        turn(1, 17, expanded=False, weight=0.1, J=8),
        turn(2, 256, in_infoset=False, expanded=False, weight=0.0, value=0.1, true_value=0.3),
        turn(2, 17, searched=False, in_belief=False),
    ]
    lines = list(replay.render({"turns": turns}))
    head = lines.index("")
    assert [row[1:] for row in rows("\n".join(lines[:head]).replace("\\|", ""))] == [
        ["1", "1", "1.000", "1.000", "1.000", "0.50000", "4.0", "6.0", "3.0"],
        ["3", "2", "0.667", "0.500", "0.000", "0.05000", "4.0", "7.0", "3.0"],
        ["4", "3", "0.750", "0.667", "0.333", "0.20000", "4.0", "6.7", "3.0"],
    ]
    calibration = rows("\n".join(lines[head + 1 :]).replace("\\|", ""))
    assert [row[:6] for row in calibration] == [
        ["1-16", "1", "1", "+0.500", "+0.100", "-1.000"],
        ["17-256", "2", "2", "+0.300", "+0.200", "-1.000"],
        ["all", "3", "2", "+0.367", "+0.167", "-1.000"],
    ]
    assert calibration[0][6:] == ["+0.400", "+1.500", "+1.100"]  # one game has no error
    assert calibration[1][6] == "+0.100 ± 0.300"


def test_a_match_is_shown_by_what_its_own_searches_told(tmp_path: Path) -> None:
    plies = list(RECORDS[0].plies)
    root = RootReport(p_max=0.5, entered=0.25, fresh=1.0, mean=0.125, gap=0.0625)
    told = Coverage(True, True, True, 0.5, 3.0, root)
    plies[0] = replace(plies[0], turn=replace(plies[0].turn, coverage=told))
    write_games(tmp_path / "games.pgn", [replace(RECORDS[0], plies=plies), RECORDS[1]])
    run = Run("strength", "turns", "obscuro match", "turns.json")
    kept = raw.Raw("obscuro match", "", "", {}, None, games="games.pgn")
    shown = rows("\n".join(replay.render_recorded([Loaded(run, kept, tmp_path)])))
    assert [row[:3] for row in shown] == [
        ["one", "not said", "2"],
        ["one", "all", "2"],
        ["two", "not said", "1"],
        ["two", "all", "1"],
    ]
    truth = ["1.000", "0.500", "0.500", "-0.69", "3"]
    figures = ["0.50", "0.250", "1.00", "", "0.12", "", "0.0625"]
    assert shown[0][3:] == shown[1][3:] == [*truth, *figures]
    assert shown[2][3:6] == ["1.000", "0.000", "0.000"] and set(shown[2][7:]) == {""}


def test_what_searches_promised_is_held_against_the_result(tmp_path: Path) -> None:
    """A value is worth tanh(pawns / 6); a turn without a score is left out."""
    plies, root = list(RECORDS[0].plies), RootReport(1, 0, 0, 0.5, 0)
    for ply, (pawns, belief) in enumerate([(3, 20), (-1, 20), (-3, 3)]):
        report = Report(centipawns=100 * pawns, belief=belief)
        told = Coverage(True, True, True, 0.5, 1.0, root if ply == 0 else None)
        turn = replace(plies[ply].turn, report=report, coverage=told)
        plies[ply] = replace(plies[ply], turn=turn)
    write_games(tmp_path / "games.pgn", [replace(RECORDS[0], plies=plies, winner=chess.BLACK)])
    run = Run("strength", "promised", "obscuro match", "turns.json")
    kept = raw.Raw("obscuro match", "", "", {}, None, games="games.pgn")
    shown = rows("\n".join(replay.render_promised([Loaded(run, kept, tmp_path)])))
    three, one = math.tanh(0.5), math.tanh(1 / 6)
    assert [row[:2] for row in shown] == [["1-16", "1"], ["17-256", "2"], ["all", "3"]]
    assert shown[0][2:5] == [f"{-three:.3f}", "-1.000", f"{-1 + three:+.3f}"]
    assert shown[1][2:4] == [f"{(three - one) / 2:.3f}", "0.000"]
    assert shown[1][5] == f"{1 + one:+.3f}"  # the one that promised no winner
    assert shown[1][6] == shown[2][6] == "-1.500"


def test_turns_of_one_game_are_one_sample() -> None:
    alone = [("a", 1.0), ("b", 3.0)]
    assert replay.clustered(alone) == (2.0, 1.0)  # as the usual error of a mean
    twice = [(game, number) for game, number in alone for _ in range(2)]
    assert replay.clustered(twice) == (2.0, 1.0)
    assert replay.clustered([("a", 1.0), ("a", 3.0)]) == (2.0, None)


def test_ctrl_c_shows_what_there_is(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def limits(milliseconds: int) -> GoLimits:
        calls.append(milliseconds)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return by_nodes(100)

    monkeypatch.setattr(replay, "by_time", limits)
    assert replay.main([str(file), *WORDS]) == INTERRUPTED
    lines = capsys.readouterr().out.splitlines()
    assert rows("\n".join(lines[: lines.index("")]))[-1][:2] == ["all", "2"]


def test_somebody_must_have_played(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        replay.main([str(file), "--side", "nobody"])
    assert "nobody called 'nobody' plays" in capsys.readouterr().err


# -- another seed -------------------------------------------------------------------------------


def test_a_second_search_with_the_same_seed_agrees_in_all(file: Path, player: Player) -> None:
    game = load_games(file)[1]
    judge = Judge(player.equipment.options, print)
    again = Player(player.equipment.options, print)
    found = list(replay.replay_side(player, judge, game, chess.WHITE, limits, again))
    again.close()
    searched = [row for row in found if row["searched"]]
    assert all(row["same_top"] and row["distance"] == 0 for row in searched)
    assert all(0 < row["top_share"] <= 1 for row in searched)


def test_another_seed_is_a_third_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(file), "--side", "one", "--nodes", "300", "--other-seed", "7", *WORDS]
    assert replay.main(words) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "same top" in line)
    assert line.strip(" |").endswith("distance")


def test_the_distance_of_two_strategies() -> None:
    turns = [fake_turn({"e2e4": 0.75, "d2d4": 0.25}), fake_turn({"d2d4": 0.5, "c2c4": 0.5})]
    found = replay.agreement(*turns)
    assert found == {"top_share": 0.75, "same_top": False, "distance": 0.75}


def fake_turn(policy: dict[str, float]) -> FollowedTurn:
    play = list(policy.items())
    info = SearchInfo(1, 1, 0, 0, 0.0, 0, [], 1, True, 1, 0, 1, 0, 0, 0, "resolve", policy=play)
    coverage = Coverage(True, True, True, 1.0)
    board = FogOfWarBoard()
    return FollowedTurn(0, board, chess.Move.from_uci("e2e4"), Choice("e2e4", info=info), coverage)

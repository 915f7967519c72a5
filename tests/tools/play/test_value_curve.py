"""The tool that tells what pawns are worth in fog."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.material import MaterialEvaluator
from tests.tools.play.filed_games import filed
from tests.tools.play.lost_games import QUEEN, SHORT, record, write_games
from tests.tools.play.made_up_turns import GAMES, TAU, made_up
from tools.play import value_curve
from tools.play.curve_figures import (
    ALL,
    BASE,
    ENDS,
    figures_of,
    sample,
    series_of,
)
from tools.play.turn_values import Turns, read_turns
from tools.results import raw


def games_of(turns: Turns, time: str) -> list[value_curve.FiledGame]:
    return [filed(("e2e4", "e7e5"), chess.WHITE, time=time) for _ in np.unique(turns.game)]


def test_the_figures_tell_the_curve_that_results_come_from() -> None:
    turns = made_up()
    games = games_of(turns, "25 ms")
    found = figures_of(games, turns, 100)
    assert list(found) == [ALL, "25 ms"]
    assert found[ALL] == found["25 ms"]
    ((tau, error),) = found[ALL]["forms"]["tanh(p / τ)"]
    assert abs(tau - TAU) < 3 * error < 3
    losses = found[ALL]["held_out"]
    assert losses["tanh(p / τ)"][0] < losses[BASE][0] < losses["always even"][0]
    assert losses[BASE][1] == 0
    pawns, means = np.array([row[1:3] for row in found[ALL]["bins"]], dtype=np.float64).T
    assert np.abs(means - np.tanh(pawns / TAU)).mean() < 0.15
    counts = found[ALL]["counts"]
    assert counts == {"games": GAMES, "drawn": 0, "turns": 2 * GAMES, "takes_king": 0} | {
        "decided": 0,
        "sample": 2 * GAMES,
    }


def test_times_with_few_games_are_among_all_only() -> None:
    turns = made_up()
    games = games_of(turns, "25 ms")
    games[:60] = [filed((), None, time="1000 ms")] * 60
    assert list(series_of(games, turns, 61)) == [ALL, "25 ms"]
    series = series_of(games, turns, 60)
    assert list(series) == [ALL, "25 ms", "1000 ms"]
    assert [mask.sum() for mask in series.values()] == [2 * GAMES, 2 * GAMES - 120, 120]


def test_a_sample_has_leaf_values_of_pawns() -> None:
    turns = read_turns([filed(SHORT, chess.WHITE)], MaterialEvaluator(), lambda done: None)
    assert sample(turns).ply.tolist() == [1, 2, 3]  # the first has no leaf, the last takes the king


def kings(turns: Turns, games: list[value_curve.FiledGame]) -> dict[str, value_curve.Figures]:
    return {row["name"]: row for row in figures_of(games, turns, 1)[ALL]["kings"]}


def test_kings_left_to_the_enemy_are_counted() -> None:
    games = [filed(SHORT, chess.WHITE), filed(QUEEN, chess.BLACK)]
    turns = read_turns(games, MaterialEvaluator(), lambda done: None)
    found = kings(turns, games)
    takes = found["can capture the king"]
    assert (takes["turns"], takes["result"][0], takes["wins_king"][0]) == (2, 1, 1)
    unseen = found["attacked by an unseen piece"]
    assert (unseen["turns"], unseen["result"][0], unseen["loses_king"][0]) == (1, -1, 1)
    assert unseen["excess"][0] == pytest.approx(-1 - unseen["leaf"][0])
    assert found["no safe move"]["turns"] == 0 and found["no safe move"]["result"] == [None, None]


def test_lost_advantages_are_told_by_how_they_ended() -> None:
    # Black takes a queen and then leaves its king to the bishop, which it does not see.
    unseen = ("e2e4", "f7f6", "d1h5", "g7g6", "f1b5", "g6h5", "a2a3", "d7d6", "b5e8")
    games = [filed(unseen, chess.WHITE)]
    turns = read_turns(games, MaterialEvaluator(), lambda done: None)
    rows = {row["pawns"]: row for row in figures_of(games, turns, 1)[ALL]["ahead"]}
    assert rows[5.0]["sides"] == 1 and rows[5.0]["score"] == [0, 0, 1]
    assert rows[5.0]["ends"] == {**dict.fromkeys(ENDS, 0), "unseen": 1}
    assert rows[9.0]["sides"] == 0


def test_the_tool_reads_files_and_folders_and_stores_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    of_two = [
        record("one A", "one B", SHORT, chess.WHITE),
        record("one", "two", SHORT, chess.WHITE),
    ]
    write_games(folder / "a.pgn", of_two)
    file = write_games(tmp_path / "b.pgn", [record("x A", "x B", QUEEN, chess.BLACK)])
    store, picture = tmp_path / "curve.json", tmp_path / "curve.png"
    words = [str(folder), str(file), "--least", "1", "--evaluator", "material"]
    assert value_curve.main([*words, "--json", str(store), "--plot", str(picture)]) == 0
    told = capsys.readouterr()
    assert "a.pgn: 2 games, 1 of one program with itself" in told.err
    figures = raw.load(store).data
    assert figures[ALL]["counts"]["games"] == 2
    assert figures[ALL]["counts"]["turns"] == len(SHORT) + len(QUEEN)
    assert list(value_curve.render(figures)) == told.out.splitlines()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_other_programs_games_are_no_self_play(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        value_curve.main([str(file)])
    assert left.value.code == 2
    assert "no game there that one program played with itself" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        value_curve.main([str(file.parent / "none.pgn")])
    assert "can't read" in capsys.readouterr().err

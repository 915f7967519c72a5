"""The tools that measure searches: `tools.speed.search_scale` and `search_profile`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obscuro.cli.bench import following
from obscuro.cli.bench.following import StudyPosition
from obscuro.matches.time_control import Allowance
from obscuro.search import joint
from tools.common import engine_options
from tools.results import raw
from tools.speed import search_profile, search_scale, thread_scale

# Two rook pawns each are pushed; whatever is played next, the game goes on.
CALM = StudyPosition("calm", "a2a3 h7h6 h2h3 a7a6")

SMALL_GAME = ["--games", "1", "--movetime", "100", "--max-plies", "4", "--threads", "1"]
SMALL_GAME += ["--evaluator", "material", "--hash", "64"]


def rows(text: str) -> dict[str, list[str]]:
    """The lines of the tables by their first cell, `\\|` in it being a bar."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| "):
            first, *rest = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found[first.replace("\\|", "|")] = rest
    return found


def test_scale_describes_every_search_beside_the_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "scale.json"
    assert search_scale.main([*SMALL_GAME, "--raw", str(file)]) == 0
    text = capsys.readouterr().out
    stored = raw.load(file)
    assert stored.command == f"python -m tools.speed.search_scale {' '.join(SMALL_GAME)}"
    assert "\n".join(search_scale.render(stored.data)) == text.rstrip("\n")
    assert "Games: 1/2-1/2 after 4 (stopped after 4 plies)." in text
    counts = re.search(r"(\d+) searches; (\d+) moves needed none", text)
    assert counts is not None
    assert int(counts[1]) + int(counts[2]) == 4

    table = rows(text)
    assert set(search_scale.ROWS.values()) < set(table)
    assert table["nodes in the tree"][-1] == "1,070,552"
    assert table["|P|"][-1] == "17,264"
    assert table["plies a game"] == ["4", "4", "4", "116.6"]
    assert float(table["expansions"][2].replace(",", "")) > 0
    assert float(table["depth, mean over expansions"][2]) >= 1


def test_scale_goes_on_after_the_last_whole_game(tmp_path: Path) -> None:
    file = tmp_path / "scale.json"
    words = ["--games", "3", *SMALL_GAME[2:], "--raw", str(file)]
    assert search_scale.main([*words, "--at-most", "1"]) == 0
    first = raw.load(file)
    count = len(first.data["looks"])
    assert first.data["games"][0]["searches"] == count
    # A second game that was broken off has left searches, and no game.
    broken = {**first.data, "looks": [*first.data["looks"], first.data["looks"][0]]}
    raw.save(file, first.command, broken)
    assert search_scale.main([*words, "--at-most", "1"]) == 0
    second = raw.load(file)
    assert len(second.data["games"]) == 2
    assert second.data["looks"][:count] == first.data["looks"]
    assert second.data["games"][1]["searches"] == len(second.data["looks"])
    assert second.data["unsearched"] == second.data["games"][1]["unsearched"]
    searched = len(second.data["looks"]) + second.data["unsearched"]
    assert searched == sum(game["plies"] for game in second.data["games"])


def test_whole_games_are_dropped_where_none_is_missing() -> None:
    look = list(range(18))
    game = {"result": "1-0", "plies": 1, "ending": "", "searches": 1, "unsearched": 2}
    figures = {"looks": [look, look], "games": [game]}
    assert search_scale.whole_games(figures, 2) == ([search_scale.Look(*look)], [game], 2)
    assert search_scale.whole_games(figures, 1) == ([], [], 0)
    assert search_scale.whole_games(None, 4) == ([], [], 0)


def test_scale_repeats_the_counts_that_a_search_reports() -> None:
    """One search, looked at right after it."""
    looks: list[search_scale.Look] = []
    options = engine_options(Threads=1, Evaluator="material", Hash=64)
    player = search_scale.WatchedPlayer(options, looks)
    try:
        board = search_scale.FogOfWarBoard()
        player.new_game(board, search_scale.chess.WHITE, 1)
        player.choose(board, Allowance(search_scale.chess.WHITE, 400))
    finally:
        player.close()
    (look,) = looks
    assert (look.carried, look.carried_infosets, look.sampled, look.belief) == (0, 0, 1, 1)
    assert look.nodes == look.added + 1
    assert look.added == look.evaluations
    assert look.last_depth >= 1


def test_scale_without_a_search_has_no_table() -> None:
    settings = search_scale.Settings(100, 1, "material", 64, 4, 1)._asdict()
    figures = {"settings": settings, "games": [], "looks": [], "unsearched": 3}
    text = "\n".join(search_scale.render(figures))
    assert "0 searches; 3 moves needed none." in text
    assert not rows(text)


@pytest.mark.parametrize("value, text", [(1070552, "1,070,552"), (10.7, "10.7"), (0.1234, "0.12")])
def test_cells_have_as_many_digits_as_count(value: float, text: str) -> None:
    assert search_scale.cell(value) == text


def test_profile_shares_out_all_threads_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search_profile, "POSITIONS", (CALM,))
    monkeypatch.setattr(following, "REPLY_NODES", 300)
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 100)
    words = ["--nodes", "3000", "--evaluator", "material", "--threads", "2"]
    assert search_profile.main(words) == 0
    text = capsys.readouterr().out
    assert "1 searches of 3,000 nodes with 2 threads" in text
    steps: dict[str, dict[str, list[str]]] = {"first": {}, "others": {}}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in steps:
            steps[cells[0]][cells[1]] = cells[2:]
    assert set(steps["first"]) == {*search_profile.FIRST_STEPS, "the rest"}
    assert set(steps["others"]) == {*search_profile.OTHERS_STEPS, "the rest"}
    for each in steps.values():
        # Steps are shares of the whole, whose remainder is "the rest".
        shares = [float(cells[1].rstrip("%")) for cells in each.values()]
        assert sum(shares) == pytest.approx(100.0, abs=1.0)
        assert int(each["the rest"][4]) == 1
    assert steps["first"]["evaluating"][4] == "0"  # the first thread leaves it to the others
    for thread, step in (("first", "attaching"), ("first", "solving"), ("others", "evaluating")):
        assert int(steps[thread][step][4].replace(",", "")) > 0


def test_profile_leaves_the_search_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    before = search_profile.Search.run, search_profile.joint.iterate_jointly
    with search_profile.watching(search_profile.Profile(), _Evaluator):
        assert search_profile.Search.run is not before[0]
    assert (search_profile.Search.run, search_profile.joint.iterate_jointly) == before


class _Evaluator:
    def evaluate(self) -> None:
        """Nothing."""


def test_thread_scale_measures_each_number_of_threads_and_draws_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(thread_scale, "POSITIONS", (CALM,))
    monkeypatch.setattr(following, "REPLY_NODES", 300)
    pytest.importorskip("matplotlib")
    file = tmp_path / "threads.png"
    words = ["--threads", "1", "2", "--movetime", "40"]
    words += ["--searches", "1", "--evaluator", "material", "--plot", str(file)]
    assert thread_scale.main(words) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if re.match(r"\| [12] ", line)]
    assert len(lines) == 2
    for line in lines:
        numbers = [float(cell.replace(",", "")) for cell in line.strip("| ").split("|")]
        assert min(numbers) > 0
    assert file.read_bytes().startswith(b"\x89PNG")

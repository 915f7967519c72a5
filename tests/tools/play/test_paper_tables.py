"""The paper's page: its tables, its curve and its claims, from games that are made up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from obscuro.matches.elo import Tally, trinomial
from tests.tables import rows
from tools.play import paper_claims, paper_tables
from tools.play.paper_claims import (
    EQUAL,
    OPEN,
    OTHER_SIGN,
    OTHER_SIZE,
    SAME_SIGN,
    SAME_SIZE,
    UNEQUAL,
    UNPLAYED,
    Findings,
    Interval,
    error_of_mean,
    status_of,
    status_of_size,
)
from tools.play.paper_experiments import EXPERIMENTS, SCALING_RESULTS
from tools.play.paper_tables import Step, curve, steps
from tools.results import raw
from tools.results.manifest import Loaded, load
from tools.results.raw import Raw

MANIFEST = load()
PAGE = MANIFEST.page("paper")
BLOCK = {"first": 1, "games": 4, "concurrency": 2, "commit": "abc", "date": "2026-01-02"}


def run_of(experiment: str) -> str:
    """The name of the run that plays an experiment."""
    command = f"python -m tools.play.paper_matches {experiment}"
    return next(run.name for run in PAGE.runs.values() if run.command == command)


def match(folder: Path, experiment: str, results: Sequence[str]) -> Loaded:
    """A match with these results of White; the first player is White in odd rounds."""
    games = "".join(
        f'[White "{"AB"[n % 2]}"]\n[Black "{"BA"[n % 2]}"]\n[Round "{n + 1}"]\n'
        f'[Result "{result}"]\n[MoveTime "100 ms"]\n\n{result}\n\n'
        for n, result in enumerate(results)
    )
    raw.write_bytes(folder / f"{experiment}.pgn.gz", games.encode())
    data = {"match": "", "blocks": [BLOCK]}
    found = Raw("", "abc", "2026-01-02", "a machine", data, games=f"{experiment}.pgn.gz")
    return Loaded(PAGE.runs[run_of(experiment)], found, folder)


def figures(name: str, data: object) -> Loaded:
    """What another tool measured."""
    run = {**MANIFEST.page("root").runs, **PAGE.runs}[name]
    return Loaded(run, Raw(run.command, "abc", "2026-01-02", "a machine", data), Path())


WON = ["1-0", "0-1"] * 20
"""The first player wins all games."""


def verdicts(*loaded: Loaded) -> Mapping[str, tuple[str, str]]:
    """What the table of claims says of each claim: ours, and the status."""
    return {row[1]: (row[3], row[4]) for row in rows("\n".join(paper_claims.render(loaded)))}


# -- tables -------------------------------------------------------------------------------------


def test_rows_without_games_say_so_and_have_the_papers_score(tmp_path: Path) -> None:
    text = "\n".join(paper_tables.render_ablations([]))
    found = rows(text)
    assert len(found) == 12
    assert found[0] == [
        *("purification off, paper rules", "70.2 %", "+148.4 ± 22.4", "not yet played"),
        *("", "", "", ""),
    ]
    assert "No game of this table has been played yet." in text


def test_a_row_is_computed_from_its_games(tmp_path: Path) -> None:
    loaded = match(tmp_path, "ablation-klss-paper", ["1-0", "0-1", "1/2-1/2", "1-0"])
    text = "\n".join(paper_tables.render_ablations([loaded]))
    row = next(row for row in rows(text) if row[0] == "1-KLSS, paper rules")
    assert row[1:4] == ["58.0 %", "+56.1 ± 20.7", "62.5 %"]
    assert row[5:] == ["2 / 1 / 1", "[4](raw/paper/ablation-klss-paper.pgn.gz)", "100 ms a move"]
    assert "Played 2026-01-02 at 2 games a time, commits abc; a machine." in text


def test_games_at_another_time_have_a_row_of_their_own_and_judge_no_claim(tmp_path: Path) -> None:
    usual = match(tmp_path, "zs21-all-off", WON)
    command = f"{usual.run.command} --movetime 5000 --threads 5"
    full = usual._replace(run=usual.run._replace(name="full", command=command))
    found = rows("\n".join(paper_tables.render_opponents([full, usual])))
    assert [row[3] for row in found if row[0].startswith("all four off")] == ["100.0 %"] * 2
    assert list(paper_tables.played([full])) == []
    text = "with all four off, it still beats ZS21"
    assert verdicts(full)[text][1] == UNPLAYED and verdicts(full, usual)[text][1] == SAME_SIGN


def test_a_first_moves_value_is_blacks_score(tmp_path: Path) -> None:
    loaded = match(tmp_path, "first-move-c5", ["1-0", "1-0", "0-1", "1/2-1/2"])
    found = rows("\n".join(paper_tables.render_first_moves([loaded])))
    row = next(row for row in found if row[0] == "1...c5")
    assert row[1:3] == ["4.8 %", "37.5 %"] and row[4] == "1 / 1 / 2"
    assert next(row for row in found if row[0] == "1...b6")[1:3] == ["", "not yet played"]


def test_self_play_counts_white_whoever_it_is(tmp_path: Path) -> None:
    loaded = match(tmp_path, "self-play", ["1-0", "1-0", "1-0", "1/2-1/2"])
    (row,) = rows("\n".join(paper_tables.render_self_play([loaded])))
    assert row[1] == "57.5 %" and row[3] == "87.5 %" and row[5] == "3 / 1 / 0"


def test_every_run_of_a_table_is_in_the_manifest_and_the_reverse() -> None:
    played = {run.words[3]: run for run in PAGE.runs.values() if "paper_matches" in run.command}
    assert played.keys() == EXPERIMENTS.keys()
    groups = {
        "ablations": "ablations",
        "opponents": "opponents",
        "scaling": "scaling",
        "first-moves": "move_values",
        "self-play": "self_play",
        "beyond": "beyond",
        "cores": "beyond",
    }
    for name, experiment in EXPERIMENTS.items():
        assert played[name].name in PAGE.sections[groups[experiment.group]].runs
        assert played[name].label == experiment.label
    assert set(PAGE.sections["claims"].runs) == PAGE.runs.keys()


# -- the curve ----------------------------------------------------------------------------------


def test_the_curve_adds_up_steps_and_their_errors() -> None:
    found = curve([Step(1.0, 30.0, 3.0), Step(2.0, 20.0, 4.0), Step(8.0, 99.0, 1.0)])
    assert found == [Step(1.0, 0.0, 0.0), Step(2.0, 30.0, 3.0), Step(4.0, 50.0, 5.0)]
    assert curve([]) == []
    assert curve([Step(2.0, 5.0, 1.0)], 40.0) == [Step(2.0, 40.0, 0.0), Step(4.0, 45.0, 1.0)]


def test_a_step_without_a_bound_is_no_point() -> None:
    assert steps({1.0: trinomial(Tally(5, 0, 0))}) == []
    (step,) = steps({0.5: trinomial(Tally(60, 0, 40))})
    assert step.seconds == 0.5 and step.elo == pytest.approx(70.4, abs=0.1) and step.error > 60


def test_both_curves_are_drawn_with_the_mark(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    loaded = match(tmp_path, "scaling-0.25", ["1-0", "0-1", "1-0", "1-0"] * 5)
    alone, both = tmp_path / "alone.png", tmp_path / "both.png"
    paper_tables.draw_scaling(alone, [], "the mark")
    paper_tables.draw_scaling(both, [loaded], "the mark")
    assert b"the mark" in alone.read_bytes() and b"the mark" in both.read_bytes()
    assert alone.read_bytes() != both.read_bytes()


# -- claims -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "paper", "status"),
    [
        (0.52, 0.70, 0.6, SAME_SIZE),
        (0.51, 0.71, 0.71, SAME_SIZE),  # both reaches are at their ends
        (0.52, 0.84, 0.6, SAME_SIGN),  # too wide to tell a size
        (0.52, 0.70, 0.85, SAME_SIGN),  # on one side of even, but far from the paper's
        (0.52, 0.70, None, SAME_SIGN),
        (0.48, 0.62, 0.55, OPEN),  # it holds the paper's score, and even as well
        (0.30, 0.45, 0.55, OTHER_SIGN),
        (0.30, 0.45, None, OTHER_SIGN),
    ],
)
def test_a_status_follows_from_the_interval(
    low: float, high: float, paper: float | None, status: str
) -> None:
    assert status_of(Interval(low, high), paper) == status


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [(0.00, 0.02, SAME_SIZE), (0.02, 0.04, SAME_SIGN), (0.04, 0.06, OPEN), (0.06, 1, OTHER_SIGN)],
)
def test_a_claim_may_be_that_a_share_is_below_a_bound(low: float, high: float, status: str) -> None:
    assert status_of(Interval(low, high), 0.01, bound=0.05, above=False) == status


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [(95, 110, SAME_SIZE), (95, 130, OPEN), (101, 102, OTHER_SIZE), (50, 99, OTHER_SIZE)],
)
def test_a_size_is_judged_by_the_interval_of_its_mean(low: float, high: float, status: str) -> None:
    assert status_of_size(Interval(low, high), 100) == status


def test_the_error_of_a_mean_is_students() -> None:
    assert error_of_mean([1.0, 2.0, 3.0, 4.0]) == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-6)
    assert error_of_mean([5.0]) == math.inf


def test_nothing_has_a_status_without_games() -> None:
    found = verdicts()
    assert len(found) == len(paper_claims.CLAIMS)
    told = {status for _, status in found.values()}
    assert told == {UNPLAYED, paper_claims.UNTESTED, EQUAL}
    equal = [text for text, (_, status) in found.items() if status == EQUAL]
    assert equal == ["infosets may hold 2 × 10⁹ positions, common-knowledge sets 4 × 10¹⁸"]


@pytest.mark.parametrize(("steps", "status"), [(9, EQUAL), (8, UNEQUAL)])
def test_both_distances_of_knowledge_are_read_from_the_proof(steps: int, status: str) -> None:
    found = {"steps": [{}] * steps, "longest": 10, "histories": 197_742}
    text = "Fig. 1's positions are 9 steps of knowledge apart, no two are 11"
    ours, said = verdicts(figures("common_knowledge", found))[text]
    assert ours == f"{steps}, 10, over all 197,742 games of 4 plies" and said == status


@pytest.mark.parametrize(
    ("decided", "undecided", "status"), [(30, 6, SAME_SIGN), (6, 30, OTHER_SIGN), (18, 18, OPEN)]
)
def test_lost_games_are_counted_over_both_opponents(
    decided: int, undecided: int, status: str
) -> None:
    zs21 = figures("losses_zs21", {"losses": [{"ply": 30}] * decided})
    depth1 = figures("losses_depth1", {"losses": [{}] * undecided})
    text = "most games are decided by a blunder for lack of knowledge"
    ours, said = verdicts(zs21, depth1)[text]
    assert ours.startswith(f"{decided} of 36 games") and said == status


@pytest.mark.parametrize(
    ("short", "status"), [(2, SAME_SIZE), (9, SAME_SIGN), (50, OTHER_SIGN), (20, OPEN)]
)
def test_few_games_are_short(short: int, status: str) -> None:
    scores = {"1": 500, "0.5": 100, "0": 400}
    games = [
        {"start": "openings", "milliseconds": each, "scores": scores, "plies": 1, "short": count}
        for each, count in ((50, short), (200, 0))
    ]
    ours, said = verdicts(figures("white", {"rows": games}))["few games are over after 12 plies"]
    assert ours == f"{short} of 2,000; 0 of the 1,000 at more than 50 ms" and said == status


@pytest.mark.parametrize(
    ("results", "status"),
    [
        (WON, SAME_SIGN),
        (WON[::-1], OTHER_SIGN),
        (["1-0", "1-0"] * 20, OPEN),
        (["1-0", "0-1", "1-0", "1-0"] * 20, SAME_SIZE),
    ],
    ids=["won", "lost", "even", "three of four"],
)
def test_a_score_is_judged_by_its_interval(
    tmp_path: Path, results: Sequence[str], status: str
) -> None:
    loaded = match(tmp_path, "zs21-all-off", results)
    ours, said = verdicts(loaded)["with all four off, it still beats ZS21"]
    assert said == status and f"of {len(results)}" in ours


def test_both_rules_stand_in_one_claim(tmp_path: Path) -> None:
    loaded = [
        match(tmp_path, "ablation-klss-paper", WON),
        match(tmp_path, "ablation-klss-default", ["1-0", "1-0"] * 20),
    ]
    ours, said = verdicts(*loaded)["the whole engine beats the one with 1-KLSS"]
    assert "paper rules: 100.0 % of 40" in ours and "default rules: 50.0 % of 40" in ours
    assert said == f"{SAME_SIGN}; {OPEN}"


def test_one_draw_against_random_moves_is_not_what_the_paper_has(tmp_path: Path) -> None:
    text = "it wins all games against random moves"
    assert verdicts(match(tmp_path, "random", WON))[text] == ("40 of 40 won", SAME_SIZE)
    loaded = match(tmp_path, "random", [*WON[:-1], "1/2-1/2"])
    assert verdicts(loaded)[text] == ("39 of 40 won", OTHER_SIZE)


@pytest.mark.parametrize(("d4", "status"), [(95, SAME_SIZE), (80, SAME_SIGN), (20, OTHER_SIGN)])
def test_shares_of_first_moves_are_held_against_table_1(d4: int, status: str) -> None:
    searches = [{"move": "d4"}] * d4 + [{"move": "e4"}] * (100 - d4)
    ours, said = verdicts(figures("searches_white", searches))["White begins with d4 or c4"]
    assert said == status and ours.endswith("of 100 searches")


def test_steps_of_time_are_counted_by_their_status(tmp_path: Path) -> None:
    loaded = [
        match(tmp_path, "scaling-0.0625", ["1-0", "0-1", "1-0", "1-0"] * 10),
        match(tmp_path, "scaling-0.125", ["1-0", "1-0"] * 20),
    ]
    ours, said = verdicts(*loaded)["twice the time is stronger, 1/16 s to 16 s"]
    assert ours == "+191 Elo, +0 Elo, 2 of 8 steps".replace(" Elo, +", ", +")
    assert said == f"1 {SAME_SIGN}; 1 {OPEN}"


def test_halves_of_the_curve_are_compared(tmp_path: Path) -> None:
    names = [f"scaling-{seconds}" for seconds in SCALING_RESULTS]
    strong, even = ["1-0", "0-1", "1-0", "1-0"] * 40, ["1-0", "1-0"] * 80
    loaded = [match(tmp_path, name, strong) for name in names[:4]]
    assert verdicts(*loaded)["more time gains less and less"][1] == UNPLAYED
    loaded += [match(tmp_path, name, even) for name in names[4:]]
    ours, said = verdicts(*loaded)["more time gains less and less"]
    assert ours.startswith("+191 ±") and said == SAME_SIGN


def test_sizes_are_means_of_whole_games() -> None:
    looks = [[nodes, 3000.0, 5.7] + [0.0] * 15 for nodes in (1e6, 1.1e6, 1.02e6, 1.12e6)]
    games = [{"plies": 114, "searches": 2}, {"plies": 120, "searches": 4}]
    found = verdicts(figures("scale", {"looks": looks, "games": games}))
    assert found["nodes of a search tree"] == ("1,060,000 ± 127,062, 2 games", OPEN)
    assert found["its infosets"] == ("3,000 ± 0, 2 games", OTHER_SIZE)
    assert found["search depth, plies"] == ("5.7 ± 0.0, 2 games", OTHER_SIZE)
    assert found["plies of a game at 5 s"] == ("117.0 ± 38.1, 2 games", OPEN)
    one = verdicts(figures("scale", {"looks": looks[:2], "games": games[:1]}))
    assert one["plies of a game at 5 s"] == ("114.0 ± inf, 1 games", OPEN)


def searched(position: str, rules: str, value: float, policy: Mapping[str, float]) -> object:
    return {"position": position, "rules": rules, "value": value, "policy": policy}


def test_a_position_is_judged_search_by_search() -> None:
    name, text = "Kc6 against Ka8", "Kc6 against Ka8: more than ½, by an even mixture"
    good = searched(name, "default", 0.51, {"Kb6": 0.45, "Kc7": 0.55})
    pure = searched(name, "paper", 0.51, {"Kb6": 1.0})
    poor = searched(name, "paper", 0.49, {"Kb6": 0.5, "Kc7": 0.5})
    assert verdicts(figures("positions", [good]))[text][1] == "1 of 1 searches"
    assert verdicts(figures("positions", [good, pure, poor]))[text][1] == "1 of 3 searches"
    ours, said = verdicts(figures("positions", [pure]))[text]
    assert said == "**0 of 1 searches**" and ours == "paper rules: +0.510"


def test_the_trap_after_c4_d5_is_mixed_and_worth_something() -> None:
    mixed = {"Qa4+": 0.2, "Nc3": 0.8}
    assert paper_claims.trap(mixed, math.tanh(1 / 6))
    assert not paper_claims.trap(mixed, 0.0)
    assert not paper_claims.trap({"Nc3": 1.0}, 0.2) and not paper_claims.trap({"Qa4+": 1.0}, 0.2)
    assert paper_claims.lost_at_once({"c6": 0.9, "d4": 0.1}, 0.0)
    assert not paper_claims.lost_at_once({"c6": 0.9, "Bd7": 0.1}, 0.0)


def test_whites_score_is_that_of_self_play_and_of_all_games(tmp_path: Path) -> None:
    counts = {"scores": {"1": 600, "0.5": 0, "0": 400}, "short": 3, "milliseconds": 200}
    loaded = [
        match(tmp_path, "self-play", ["1-0"] * 40),
        figures("white", {"rows": [counts], "files": 1}),
    ]
    found = verdicts(*loaded)
    ours, said = found["White scores more than half"]
    assert "from the start 100.0 % of 40" in ours and "games 60.0 % of 1000" in ours
    assert said == f"{SAME_SIGN}; {SAME_SIZE}"
    assert found["few games are over after 12 plies"][0].startswith("3 of 1,000")


def test_first_moves_are_judged_by_how_often_they_are_played() -> None:
    text = "Black closes the diagonal at once, with Nc6 or c6"
    for moves, status in (("Nc6 c6", SAME_SIGN), ("c5 d5", OTHER_SIGN), ("c6 c5", OPEN)):
        data = [{"move": move} for move in moves.split()] * 30
        assert verdicts(figures("searches_black", data))[text][1] == status
    ours, _ = verdicts(figures("searches_black", [{"move": "c6"}] * 100))[text]
    assert ours.startswith("100.0% ± ") and ours.endswith("of 100 searches")


def test_the_papers_list_of_first_moves_is_held_against_c5(tmp_path: Path) -> None:
    text = "Nc6, c6, e6 and Nf6 are better than c5"
    names = [f"first-move-{san.lower()}" for san in paper_claims.LISTED]
    good, even = ["0-1", "0-1", "1-0"] * 20, ["1-0", "0-1"] * 30
    loaded = [match(tmp_path, name, good) for name in names]
    assert verdicts(*loaded)[text][1] == UNPLAYED
    ours, said = verdicts(*loaded, match(tmp_path, "first-move-c5", even))[text]
    assert ours.startswith("+120 ±") and said == SAME_SIGN
    assert verdicts(*loaded, match(tmp_path, "first-move-c5", good))[text][1] == OPEN


def test_white_is_held_against_the_score_in_chess(tmp_path: Path) -> None:
    text = "White scores more than in chess"
    for wins, status in ((40, SAME_SIGN), (22, OPEN), (10, OTHER_SIGN)):
        results = ["1-0"] * wins + ["0-1"] * (40 - wins)
        assert verdicts(match(tmp_path, "self-play", results))[text][1] == status


def test_findings_tell_matches_from_other_runs(tmp_path: Path) -> None:
    findings = Findings.of([match(tmp_path, "random", WON), figures("scale", {"looks": []})])
    assert list(findings.matches) == ["random"] and list(findings.data) == ["scale"]

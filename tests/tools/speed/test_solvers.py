"""The solvers of whole games that are compared: they solve the same game."""

import pytest

from tools.speed.solvers import (
    GAMES,
    openspiel_cfr_plus,
    our_cfr_plus,
    our_pcfr_plus,
    render,
    solve,
    solve_at_once,
)


def test_our_cfr_plus_is_openspiels():
    ours, theirs = our_cfr_plus(GAMES["leduc"]), openspiel_cfr_plus(GAMES["leduc"])
    for solver in (ours, theirs):
        solver.run(12)
    assert ours.measure() == pytest.approx(theirs.measure(), rel=1e-6)


@pytest.mark.parametrize("game", ["kuhn", "goofspiel"])
def test_ours_reach_a_goal(game):
    for make in (our_pcfr_plus, our_cfr_plus):
        found = solve(make(GAMES[game]), 1e-2, 60)
        assert found["exploitability"] <= 1e-2
        assert found["iterations"] > 1
        again = solve_at_once(make(GAMES[game]), found["iterations"])
        assert again["exploitability"] == pytest.approx(found["exploitability"], abs=1e-9)


def test_a_solver_that_takes_too_long_is_stopped():
    found = solve(our_cfr_plus(GAMES["kuhn"]), 0.0, 1e-9)
    assert found["iterations"] == 1
    row = {"game": "kuhn", "solver": "x", "goal": 0.0, "rounds": [found]}
    assert "more than 1" in list(render([row]))[-1]

"""What pawns are worth in fog: the figures of `tools.play.value_curve`, as plain lists and dicts.

A *sample* is the turns of games of one time that a curve can be fitted to: the leaf value is made of
pawns, and the side to move can't capture the king at once. All is in the view of the side to move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from obscuro.evaluation.scale import TAU
from tools.play.curve_fit import (
    CEILING,
    POWER,
    SHIFT,
    TANH,
    TEMPO,
    Floats,
    Foretell,
    Form,
    Learn,
    Mask,
    Numbers,
    fit,
    fit_steps,
    held_out,
    mean_of,
)
from tools.play.curve_terms import belief_terms, fit_terms, fog_terms
from tools.play.recorded_games import FiledGame
from tools.play.turn_classes import GROUPS, Classes
from tools.play.turn_values import Turns, is_decided, pawns_of

Figures = dict[str, Any]
ALL = "all"
BASE = "tanh(p / 6)"
"""The curve in use, with which the others are compared."""
FORMS = (TANH, TEMPO, CEILING, POWER)
AHEAD = (1.0, 3.0, 5.0, 9.0)
"""Advantages in pawns, of which it is told how often they are lost after all."""
STILL = 2.0
"""A side whose leaf value is so many pawns at its last turn was still ahead."""
_EDGES = (-30, -12, -9, -7, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 5, 7, 9, 12, 30)
"""Bins of pawns."""
_LEAST = 300
"""Classes with fewer turns are not fitted."""


def figures_of(games: Sequence[FiledGame], turns: Turns, least: int) -> Figures:
    """Return all figures. least: times with fewer games are only counted among all."""
    found: Figures = {}
    for name, mine in series_of(games, turns, least).items():
        chosen = turns.where(mine)
        found[name] = {
            "counts": _counts(games, chosen),
            "forms": _forms(sample(chosen)),
            "best": _cell(TANH, sample(chosen._replace(leaf=chosen.best))),
            "classes": _by_class(sample(chosen)),
            "held_out": _held_out(sample(chosen)),
            "terms": _terms(sample(chosen)),
            "bins": _bins(sample(chosen)),
            "kings": list(_kings(chosen)),
            "ahead": [_ahead(chosen, pawns) for pawns in AHEAD],
        }
    return found


def series_of(games: Sequence[FiledGame], turns: Turns, least: int) -> Classes:
    """Return the turns by the time of their games, `ALL` first; see `figures_of`."""
    times = np.array([game.time for game in games])[turns.game]
    series = {ALL: np.full(len(times), True)}
    for time in sorted(set(times.tolist()), key=_milliseconds):
        mine = times == time
        if len(np.unique(turns.game[mine])) >= least:
            series[time or "other times"] = mine
    return series


def _milliseconds(time: str) -> tuple[float, str]:
    number = time.partition(" ")[0]
    return (float(number) if number.isdecimal() else np.inf), time


def sample(turns: Turns) -> Turns:
    """Return the turns that a curve can be fitted to."""
    return turns.where(_fits(turns.leaf, turns))


def _fits(values: Floats, turns: Turns) -> Mask:
    return np.asarray(np.isfinite(values) & ~is_decided(values) & (turns.takes_king == 0))


# -- curves -----------------------------------------------------------------------------------


def _counts(games: Sequence[FiledGame], turns: Turns) -> Figures:
    mine = [games[number] for number in np.unique(turns.game)]
    return {
        "games": len(mine),
        "drawn": sum(game.winner is None for game in mine),
        "turns": len(turns.game),
        "takes_king": int(turns.takes_king.sum()),
        "decided": int((is_decided(turns.leaf) & (turns.takes_king == 0)).sum()),
        "sample": len(sample(turns).game),
    }


def _results(turns: Turns) -> Floats:
    return turns.result.astype(np.float64)


def _cell(form: Form, turns: Turns) -> list[list[float]]:
    """Fit a form; return each parameter with its standard error, or nothing for too few turns."""
    if len(turns.game) < _LEAST:
        return []
    fitted = fit(form, pawns_of(turns.leaf), _results(turns), turns.game)
    return [list(pair) for pair in zip(fitted.values.tolist(), fitted.errors.tolist(), strict=True)]


def _forms(turns: Turns) -> Figures:
    return {form.name: _cell(form, turns) for form in FORMS}


def _by_class(turns: Turns) -> Figures:
    """Return, by group and class: the turns, τ, the shift b at τ = 6, each with its error."""
    return {
        group: {
            name: {
                "turns": int(mask.sum()),
                "tau": _cell(TANH, turns.where(mask)),
                "shift": _cell(SHIFT, turns.where(mask)),
            }
            for name, mask in classes(turns).items()
        }
        for group, classes in GROUPS.items()
    }


def _bins(turns: Turns) -> list[list[float | None]]:
    """Return for each bin: its lower end, mean pawns, mean result with its error, turns, games."""
    pawns, results = pawns_of(turns.leaf), _results(turns)
    rows = []
    for low, high in pairwise(_EDGES):
        chosen = (pawns >= low) & (pawns < high)
        if chosen.any():
            mine = turns.game[chosen]
            row = [low, float(pawns[chosen].mean()), *_of(results[chosen], mine)]
            rows.append([*row, len(mine), len(np.unique(mine))])
    return rows


def _held_out(turns: Turns) -> Figures:
    """Return each curve's loss on held-out games, its difference to τ = 6, and that one's error.

    Returns nothing for too few turns.
    """
    if len(turns.game) < _LEAST:
        return {}
    pawns, results = pawns_of(turns.leaf), _results(turns)
    learners: dict[str, Learn] = {
        "always even": lambda known: lambda asked: np.zeros(int(asked.sum())),
        BASE: lambda known: lambda asked: np.tanh(pawns[asked] / TAU),
    }

    def fitted(form: Form) -> Learn:
        def learn(known: Mask) -> Foretell:
            curve = fit(form, pawns[known], results[known], turns.game[known]).curve
            return lambda asked: curve(pawns[asked])

        return learn

    def by_class(form: Form, classes: Classes) -> Learn:
        def learn(known: Mask) -> Foretell:
            curves = [fit(form, pawns[known], results[known], turns.game[known]).curve]
            places = np.zeros(len(pawns), dtype=np.int64)
            for mask in classes.values():
                mine = known & mask
                if mine.sum() >= _LEAST:
                    places[mask] = len(curves)
                    curves.append(fit(form, pawns[mine], results[mine], turns.game[mine]).curve)
            return lambda asked: np.choose(places[asked], [curve(pawns[asked]) for curve in curves])

        return learn

    def steps(known: Mask) -> Foretell:
        curve = fit_steps(pawns[known], results[known]).curve
        return lambda asked: curve(pawns[asked])

    learners |= {form.name: fitted(form) for form in FORMS}
    learners["rising steps"] = steps
    for group, classes in GROUPS.items():
        learners[f"τ by {group}"] = by_class(TANH, classes(turns))
        learners[f"τ and b by {group}"] = by_class(TEMPO, classes(turns))
    losses = {name: held_out(learn, results, turns.game) for name, learn in learners.items()}
    return {name: _against(each, losses[BASE], turns.game) for name, each in losses.items()}


def _against(losses: Floats, base: Floats, games: Numbers) -> list[float]:
    """Return the mean loss, the mean difference to another curve's, and its error."""
    more = mean_of(losses - base, games)
    return [float(losses.mean()), more.value, more.error]


def _terms(turns: Turns) -> Figures:
    """Return τ and the weights of what fog adds to pawns, with the loss; nothing for few turns."""
    if len(turns.game) < _LEAST:
        return {}
    base = held_out(
        lambda known: lambda asked: np.tanh(pawns_of(turns.leaf[asked]) / TAU),
        _results(turns),
        turns.game,
    )
    found = {}
    fog = fog_terms(turns)
    for name, terms in (("seen", fog), ("known", fog | belief_terms(turns))):
        fitted, losses = fit_terms(turns, terms)
        pairs = zip(fitted.values.tolist(), fitted.errors.tolist(), strict=True)
        found[name] = {
            "weights": dict(zip(["τ", *terms], map(list, pairs), strict=True)),
            "loss": _against(losses, base, turns.game),
        }
    return found


# -- kings, and advantages that were lost -------------------------------------------------------


def _kings(turns: Turns) -> Iterator[Figures]:
    """Yield figures of turns in which a king is attacked or mated, by who sees it."""
    seen, unseen = turns.seen_attackers > 0, turns.unseen_attackers > 0
    plain = turns.takes_king == 0
    safe, pawns = plain & (turns.best > -1), pawns_of(turns.leaf)
    hidden = safe & unseen
    mates = plain & is_decided(turns.best) & (turns.best > 0)
    classes = {
        "can capture the king": ~plain,
        "no safe move": plain & ~safe,
        "mate in 1 on the board": mates,
        "king not attacked": safe & ~seen & ~unseen,
        "attacked, attackers seen": safe & seen & ~unseen,
        "attacked by an unseen piece": hidden,
        "… leaf value below -2": hidden & (pawns < -STILL),
        "… leaf value between -2 and 2": hidden & (np.abs(pawns) <= STILL),
        "… leaf value above 2": hidden & (pawns > STILL),
    }
    for name, mask in classes.items():
        mine = turns.where(mask)
        known = np.isfinite(mine.leaf)
        said = np.where(is_decided(mine.leaf), np.sign(mine.leaf), np.tanh(pawns_of(mine.leaf) / 6))
        yield {
            "name": name,
            "turns": len(mine.game),
            "result": _of(_results(mine), mine.game),
            "leaf": _of(said[known], mine.game[known]),
            "excess": _of((_results(mine) - said)[known], mine.game[known]),
            "shift": _cell(SHIFT, sample(mine)),
            "wins_king": _of(mine.wins_king.astype(np.float64), mine.game),
            "loses_king": _of(mine.loses_king.astype(np.float64), mine.game),
            "mates": _of((mine.played > 0) & is_decided(mine.played), mine.game),
        }


def _of(values: Floats | Mask, games: Numbers) -> list[float | None]:
    """Return a mean and its error by game; None where they are not known."""
    mean = mean_of(values.astype(np.float64), games)
    return [None if np.isnan(each) else each for each in (mean.value, mean.error)]


ENDS = {
    "unseen": "king left to an unseen piece, still ahead",
    "seen": "king left to a seen piece, still ahead",
    "no safe move": "no safe move at the end",
    "fallen": "no longer ahead at the last turn",
    "blocked": "no move left, or not by the rules",
}
"""Why a side that had been ahead lost."""


def _ahead(turns: Turns, pawns: float) -> Figures:
    """Count the sides that were ahead by so many pawns at one of their turns, and how they ended.

    A side is ahead by its leaf value, when it can't capture the king at once.
    """
    sides = turns.game * 2 + turns.ply % 2
    reached = np.unique(sides[_fits(turns.leaf, turns) & (pawns_of(turns.leaf) >= pawns)])
    ends = dict.fromkeys(ENDS, 0)
    score = {1: 0, 0: 0, -1: 0}
    last = {int(side): at for at, side in enumerate(sides)}
    for side in reached.tolist():
        at = last[side]
        score[int(turns.result[at])] += 1
        if turns.result[at] < 0:
            ends[_end(turns, at)] += 1
    return {"pawns": pawns, "sides": len(reached), "score": list(score.values()), "ends": ends}


def _end(turns: Turns, at: int) -> str:
    """Say why the loser of a game lost at its last turn; a key of `ENDS`."""
    if not turns.loses_king[at]:
        return "blocked"
    if turns.best[at] == -1:
        return "no safe move"
    if not pawns_of(turns.leaf[at : at + 1])[0] >= STILL:
        return "fallen"
    return "seen" if turns.seen_after[at] else "unseen"

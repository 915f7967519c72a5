"""What Obscuro says of its play, claim by claim, beside what we measured.

The claims are those of its section 4 and its Appendices D and E. A status follows from the raw files
by a rule, so it changes as games come in; claims that nothing here measures say why. The rules:

- a score: `same sign` if its whole 95 % interval lies on the paper's side of even, `other sign` if it
  lies on the other one, `open` if it holds even. `same size` is more than `same sign`: the interval
  holds the paper's score as well, and reaches at most `CLOSE` to either side.
- a share: the same, with the bound that the claim has in place of even.
- a mean of whole games: `same size` if its 95 % interval holds the paper's and reaches at most `CLOSE`
  of the paper's to either side, `other size` if it does not hold it, else `open`.
- a count without chance: `equal` or `not equal`.
- a mixture or a value of a position: the number of searches that agree with the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any, NamedTuple

import chess

from obscuro.matches.elo import Elo, Tally, elo_of_score, score_of_elo, trinomial
from tools.common import table
from tools.play import first_moves as moves_tool
from tools.play.paper_experiments import (
    ABLATION_LABELS,
    EXPERIMENTS,
    SCALING_RESULTS,
    WHITE_RESULT,
    percent,
)
from tools.play.paper_positions import pawns_of
from tools.play.paper_tables import Played, played
from tools.play.white_score import tally_of
from tools.results.manifest import Loaded
from tools.speed.search_scale import PAPER, PAPER_PLIES, Look

SAME_SIGN, SAME_SIZE, OTHER_SIGN, OTHER_SIZE = (
    "same sign",
    "same size",
    "**other sign**",
    "**other size**",
)
EQUAL, UNEQUAL, OPEN, UNPLAYED, UNTESTED = (
    "equal",
    "**not equal**",
    "open",
    "not yet played",
    "not tested",
)
CLOSE = 0.1
"""How far an interval may reach to either side, so that it can tell a size: 10 points of a score."""
EVEN = 0.5
LOST_GAMES = ("losses_zs21", "losses_depth1")
TOOL_RUNS = (
    *("positions", "white", "scale", "searches_white", "searches_black", "common_knowledge"),
    *LOST_GAMES,
)

Verdict = tuple[str, str]
"""What we found, and the status."""
CHESS_SCORE = 0.55
"""White's in chess, by Obscuro, E.3."""
QUICK_MILLISECONDS = 50
"""For a move, of most of the recorded games."""
SHORT_SHARE = 0.01
"""Of all games: if fewer are short, few are."""
PAPER_SHORT = 0.001
"""The share of short games in the paper, 10 of 10,000."""
FIGURE_5 = 2e9
"""Positions in an infoset, by Obscuro, E.1; its common-knowledge set has their square."""
RARE = 0.05
"""The share of first moves below which a move is hardly ever played."""
LISTED = ("Nc6", "c6", "e6", "Nf6")
"""Black's first moves in 94 % of the paper's games."""


class Findings(NamedTuple):
    """All results that there are: matches by experiment, and the data of other runs by name."""

    matches: Mapping[str, Played]
    data: Mapping[str, Any]

    @classmethod
    def of(cls, loaded: Sequence[Loaded]) -> Findings:
        """Return what some runs found."""
        matches = [each for each in loaded if each.run.name not in TOOL_RUNS]
        tools = {each.run.name: each.raw.data for each in loaded if each.run.name in TOOL_RUNS}
        return cls(played(matches), tools)

    def searches(self, position: str, rules: str) -> list[dict[str, Any]]:
        """Return the searches of a position."""
        return [
            row
            for row in self.data.get("positions", [])
            if (row["position"], row["rules"]) == (position, rules)
        ]


Verdictor = Callable[[Findings], Verdict]
"""Judges a claim by all that was found."""


class Claim(NamedTuple):
    """A claim of the paper. verdict: computes what we found and the status."""

    place: str
    text: str
    paper: str
    verdict: Verdictor


def render(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the table of all claims."""
    findings = Findings.of(loaded)
    rows = []
    for claim in CLAIMS:
        ours, status = claim.verdict(findings)
        rows.append([claim.place, claim.text, claim.paper, ours, status])
    yield from table(["O", "claim", "paper", "ours", "status"], rows, "lllll")


def statuses(loaded: Sequence[Loaded]) -> list[str]:
    """Return the status of each claim, in the order of `CLAIMS`."""
    findings = Findings.of(loaded)
    return [claim.verdict(findings)[1] for claim in CLAIMS]


def is_contrary(status: str) -> bool:
    """Whether a status says that something came out otherwise than in the paper; it is bold then."""
    return "**" in status


# -- rules of judgement -------------------------------------------------------------------------


def not_tested(why: str) -> Verdictor:
    """Return the verdict on what nothing here measures."""
    return lambda findings: (why, UNTESTED)


class Interval(NamedTuple):
    """A share or a score in [0, 1], or a size, with its 95 % interval."""

    low: float
    high: float

    @property
    def reach(self) -> float:
        """How far the interval reaches to either side."""
        return (self.high - self.low) / 2

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval, its ends included."""
        return self.low <= value <= self.high


def interval_of(elo: Elo) -> Interval:
    """Return the interval of a difference in Elo as one of the score, in [0, 1]."""
    return Interval(score_of_elo(elo.low), score_of_elo(elo.high))


def score_of(tally: Tally | None) -> float | None:
    """Return the first player's score, in [0, 1]."""
    return None if tally is None else tally.points / tally.games


def status_of(ours: Interval, paper: float | None, bound: float = EVEN, above: bool = True) -> str:
    """Return the status of a share or a score.

    paper: its value there; None if it has none that can be compared. bound: what the claim says that
    it is above, or else below.
    """
    if ours.holds(bound):
        return OPEN
    if (ours.low > bound) != above:
        return OTHER_SIGN
    same = paper is not None and ours.holds(paper) and ours.reach <= CLOSE
    return SAME_SIZE if same else SAME_SIGN


def status_of_size(ours: Interval, paper: float) -> str:
    """Return the status of a mean of whole games."""
    if not ours.holds(paper):
        return OTHER_SIZE
    return SAME_SIZE if ours.reach <= CLOSE * paper else OPEN


def status_of_exact(same: bool) -> str:
    """Return the status of what no chance is in."""
    return EQUAL if same else UNEQUAL


def stronger(*names: str, paper: float | None = None) -> Verdictor:
    """Return the verdict on the first player's being stronger, in one or several experiments.

    paper: the score that the paper has, if the experiments do not say it.
    """

    def verdict(findings: Findings) -> Verdict:
        found = {name: findings.matches[name].row for name in names if name in findings.matches}
        if not found:
            return "", UNPLAYED
        told, statuses = [], []
        for name, row in found.items():
            label = name.rpartition("-")[2] if len(names) > 1 else ""
            rules = f"{label} rules: " if label in ("paper", "default") else ""
            told.append(f"{rules}{percent(row.tally)} of {row.tally.games} ({row.elo})")
            score = paper if paper is not None else score_of(EXPERIMENTS[name].paper)
            statuses.append(status_of(interval_of(row.interval()), score))
        return "; ".join(told), "; ".join(dict.fromkeys(statuses))

    return verdict


def beats_random(findings: Findings) -> Verdict:
    """Judge the games against random moves: the paper's engine lost and drew none."""
    if "random" not in findings.matches:
        return "", UNPLAYED
    row = findings.matches["random"].row
    told = f"{row.tally.wins} of {row.tally.games} won"
    if row.tally.wins < row.tally.games:
        return told, OTHER_SIZE
    return told, status_of(interval_of(trinomial(row.tally)), score_of(EXPERIMENTS["random"].paper))


def scaling(findings: Findings) -> Verdict:
    """Judge that each step of twice the time gains strength."""
    found = {name: findings.matches[name].row for name in _steps() if name in findings.matches}
    if not found:
        return "", UNPLAYED
    rows = list(found.values())
    statuses = [
        status_of(interval_of(row.interval()), score_of(EXPERIMENTS[name].paper))
        for name, row in found.items()
    ]
    gains = [(row.interval().difference, row.elo) for row in rows]
    told = ", ".join(f"{gain:+.0f}" if math.isfinite(gain) else elo for gain, elo in gains)
    counts = "; ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
    return f"{told} Elo, {len(rows)} of {len(_steps())} steps", counts


def diminishing(findings: Findings) -> Verdict:
    """Judge that short times gain more: the first half of the steps against the last ones played."""
    found = [
        findings.matches[name].row.interval() if name in findings.matches else None
        for name in _steps()
    ]
    half = len(found) // 2
    first = [elo for elo in found[:half] if elo is not None and math.isfinite(elo.low + elo.high)]
    last = [elo for elo in found[half:] if elo is not None and math.isfinite(elo.low + elo.high)]
    if not first or not last:
        return "", UNPLAYED
    difference = fmean(elo.difference for elo in first) - fmean(elo.difference for elo in last)
    error = math.hypot(_error(first), _error(last))
    told = f"{difference:+.0f} ± {error:.0f} Elo between the means of both halves"
    return told, _status_of_difference(difference, error)


def _status_of_difference(elo: float, error: float) -> str:
    """Return the status of a difference in Elo that should be above 0 and has no size in the paper."""
    return status_of(interval_of(Elo(elo, elo - error, elo + error)), None)


def _error(found: Sequence[Elo]) -> float:
    return math.hypot(*((elo.high - elo.low) / 2 for elo in found)) / len(found)


def _steps() -> list[str]:
    return [f"scaling-{seconds}" for seconds in SCALING_RESULTS]


def white(findings: Findings) -> Verdict:
    """Judge that White is better off, by self-play from the start if it was played, and all games."""
    told, statuses = [], []
    if "self-play" in findings.matches:
        tally = findings.matches["self-play"].row.white_tally()
        told.append(f"from the start {percent(tally)} of {tally.games} ({trinomial(tally)})")
        statuses.append(status_of(interval_of(trinomial(tally)), score_of(WHITE_RESULT)))
    if "white" in findings.data:
        tally = Tally()
        for row in findings.data["white"]["rows"]:
            tally += tally_of(row)
        told.append(f"all recorded games {percent(tally)} of {tally.games} ({trinomial(tally)})")
        statuses.append(status_of(interval_of(trinomial(tally)), score_of(WHITE_RESULT)))
    return "; ".join(told), "; ".join(dict.fromkeys(statuses)) or UNPLAYED


def white_in_chess(findings: Findings) -> Verdict:
    """Judge that White scores more from the start than in chess."""
    if "self-play" not in findings.matches:
        return "", UNPLAYED
    tally = findings.matches["self-play"].row.white_tally()
    elo, chess = trinomial(tally), elo_of_score(CHESS_SCORE)
    shifted = Elo(elo.difference - chess, elo.low - chess, elo.high - chess)
    return f"{percent(tally)} of {tally.games} ({elo})", status_of(interval_of(shifted), None)


def first_moves(
    run: str, moves: Sequence[str], paper: float, bound: float = EVEN, above: bool = True
) -> Verdictor:
    """Return the verdict on how often the engine begins with some moves.

    run: the searches. paper: the share there. bound: what the claim says that it is above, or below.
    """

    def verdict(findings: Findings) -> Verdict:
        searches = findings.data.get(run, [])
        if not searches:
            return "", UNPLAYED
        share, error = _share(sum(each["move"] in moves for each in searches), len(searches))
        told = f"{share:.1%} ± {error:.1%} of {len(searches)} searches"
        return told, status_of(Interval(share - error, share + error), paper, bound, above)

    return verdict


def _share(found: int, count: int) -> tuple[float, float]:
    """Return a share and its 95 % error; that of 0 and of 1 is not 0."""
    share = found / count
    return share, 1.96 * math.sqrt(max(share * (1 - share), 1 / count) / count)


def better_list(findings: Findings) -> Verdict:
    """Judge that Black's first moves of the paper score more than the one that ours prefers."""
    tallies = {}
    for san in (*LISTED, "c5"):
        name = f"first-move-{san.lower()}"
        if name not in findings.matches:
            return "", UNPLAYED
        white = findings.matches[name].row.white_tally()
        tallies[san] = Tally(white.losses, white.draws, white.wins)
    listed = trinomial(sum((tallies[san] for san in LISTED), Tally()))
    other = trinomial(tallies["c5"])
    difference = listed.difference - other.difference
    error = math.hypot(listed.high - listed.low, other.high - other.low) / 2
    told = f"{difference:+.0f} ± {error:.0f} Elo"
    return told, _status_of_difference(difference, error)


def knowledge(findings: Findings) -> Verdict:
    """Judge both distances in the graph of who can tell what apart."""
    if "common_knowledge" not in findings.data:
        return "", UNPLAYED
    found = findings.data["common_knowledge"]
    ours = (len(found["steps"]), found["longest"])
    told = f"{ours[0]}, {ours[1]}, over all {found['histories']:,} games of 4 plies"
    return told, status_of_exact(ours == (9, 10))


def infoset_size(findings: Findings) -> Verdict:
    """Count the positions of Fig. 5 again; the paper rounds them to one digit."""
    count = 12 * 12 * math.perm(22, 6) // 4
    told = f"{count:,} and its square, counted again"
    return told, status_of_exact(float(f"{count:.0e}") == FIGURE_5)


def short_games(findings: Findings) -> Verdict:
    """Judge that short games are few."""
    if "white" not in findings.data:
        return "", UNPLAYED
    every = [
        (row["milliseconds"] > QUICK_MILLISECONDS, row["short"], tally_of(row).games)
        for row in findings.data["white"]["rows"]
    ]
    short, games = _sums(every)
    slow_short, slow_games = _sums([each for each in every if each[0]])
    told = f"{short} of {games:,}; {slow_short} of the {slow_games:,} at more than "
    share, error = _share(short, games)
    status = status_of(
        Interval(share - error, share + error), PAPER_SHORT, SHORT_SHARE, above=False
    )
    return f"{told}{QUICK_MILLISECONDS} ms", status


def _sums(rows: Sequence[tuple[bool, int, int]]) -> tuple[int, int]:
    return sum(short for _, short, _ in rows), sum(games for _, _, games in rows)


def one_turn(findings: Findings) -> Verdict:
    """Judge that a single turn decided most of the games that the engine lost."""
    rows = [row for name in LOST_GAMES for row in findings.data.get(name, {"losses": []})["losses"]]
    if not rows:
        return "", UNPLAYED
    found = sum("ply" in row for row in rows)
    told = f"{found} of {len(rows)} games that the engine lost have one turn that lost them"
    verdict = status_of(interval_of(trinomial(Tally(found, 0, len(rows) - found))), None)
    return f"{told} ([the root](root.md))", verdict


def size(name: str) -> Verdictor:
    """Return the verdict on a mean size of searches in whole games at 5 s."""

    def verdict(findings: Findings) -> Verdict:
        scale = findings.data.get("scale", {"looks": [], "games": []})
        looks = [getattr(Look(*each), name) for each in scale["looks"]]
        if not looks:
            return "", UNPLAYED
        ends = [game["searches"] for game in scale["games"]]
        games = [looks[start:end] for start, end in pairwise([0, *ends])]
        means = [fmean(game) for game in games if game]
        digits = 0 if fmean(looks) >= 100 else 1
        return _size(fmean(looks), means, digits, PAPER[name])

    return verdict


def game_length(findings: Findings) -> Verdict:
    """Judge the mean number of plies of the games at 5 s."""
    plies = [game["plies"] for game in findings.data.get("scale", {}).get("games", [])]
    return _size(fmean(plies), plies, 1, PAPER_PLIES) if plies else ("", UNPLAYED)


def _size(ours: float, games: Sequence[float], digits: int, paper: float) -> Verdict:
    """Return the verdict on a mean. games: the mean of each game; the interval comes from these."""
    error = error_of_mean(games)
    told = f"{ours:,.{digits}f} ± {error:,.{digits}f}, {len(games)} games"
    return told, status_of_size(Interval(ours - error, ours + error), paper)


def error_of_mean(samples: Sequence[float]) -> float:
    """Return how far the 95 % interval of a mean reaches, by Student's t; infinite for one sample."""
    from scipy.stats import t  # noqa: PLC0415 - takes a second, and no other claim needs it

    count = len(samples)
    if count < 2:
        return math.inf
    return float(t.ppf(0.975, count - 1)) * stdev(samples) / math.sqrt(count)


def position(
    name: str, told: Callable[[Mapping[str, float], float], str], holds: Holds
) -> Verdictor:
    """Return the verdict on a position: what the mean search says, and how many searches agree.

    told: describes the mean strategy and value. holds: whether a search agrees, from both.
    """

    def verdict(findings: Findings) -> Verdict:
        lines, statuses = [], []
        for rules in ("default", "paper"):
            searches = findings.searches(name, rules)
            if not searches:
                continue
            moves = {move for row in searches for move in row["policy"]}
            mean = {move: fmean(row["policy"].get(move, 0.0) for row in searches) for move in moves}
            value = fmean(row["value"] for row in searches)
            lines.append(f"{rules} rules: {told(mean, value)}")
            agree = sum(holds(row["policy"], row["value"]) for row in searches)
            statuses.append((agree, len(searches)))
        if not lines:
            return "", UNPLAYED
        agree, count = (sum(each) for each in zip(*statuses, strict=True))
        status = f"{agree} of {count} searches"
        return "; ".join(lines), status if agree else f"**{status}**"

    return verdict


Holds = Callable[[Mapping[str, float], float], bool]
"""Whether a search agrees with the paper, from its strategy by move and its value."""


def shares(*moves: str) -> Callable[[Mapping[str, float], float], str]:
    """Return what describes a strategy by these moves, and its value in pawns."""

    def told(policy: Mapping[str, float], value: float) -> str:
        parts = ", ".join(f"{move} {policy.get(move, 0.0):.2f}" for move in moves)
        return f"{parts}; {value:+.2f} ({pawns_of(value):+.1f} pawns)"

    return told


def value_alone(policy: Mapping[str, float], value: float) -> str:
    """Describe a search by its value."""
    return f"{value:+.3f}"


def even(*moves: str) -> Holds:
    """Return whether these moves have nearly all of a strategy, in nearly equal shares."""

    def holds(policy: Mapping[str, float], value: float) -> bool:
        found = [policy.get(move, 0.0) for move in moves]
        return sum(found) > 0.75 and max(found) - min(found) < 0.25

    return holds


def corner(*moves: str) -> Holds:
    """Return whether a cornered king loses more than half against an even mixture."""
    return lambda policy, value: value > 0.5 and even(*moves)(policy, value)


def trap(policy: Mapping[str, float], value: float) -> bool:
    """Whether White mixes after 1.c4 d5, Qa4 less often than the rest, for half a pawn or more."""
    return 0.0 < policy.get("Qa4+", 0.0) < 0.5 and pawns_of(value) > 0.5


def lost_at_once(policy: Mapping[str, float], value: float) -> bool:
    """Whether Black, after 2.Qa4, leaves the diagonal open with small probability, but some."""
    covered = ("c6", "b5", "Bd7", "Nc6", "Qd7", "Nd7")
    return 0.001 < 1 - sum(policy.get(move, 0.0) for move in covered) < 0.5


# -- the claims ---------------------------------------------------------------------------------


def _ablation(name: str) -> Claim:
    label = ABLATION_LABELS[name]
    paper = EXPERIMENTS[f"ablation-{name}-paper"].paper
    figure = "" if paper is None else f"{percent(paper)} of {paper.games:,}"
    text = f"the whole engine beats the one with {label}"
    both = stronger(f"ablation-{name}-paper", f"ablation-{name}-default")
    return Claim("§4.1", text, figure, both)


def _paper_gains() -> list[float]:
    return [trinomial(tally).difference for tally in SCALING_RESULTS.values()]


def _paper_steps() -> str:
    return ", ".join(f"{gain:+.0f}" for gain in _paper_gains()) + " Elo"


def _paper_halves() -> str:
    gains = _paper_gains()
    half = len(gains) // 2
    return f"{fmean(gains[:half]) - fmean(gains[half:]):+.0f} Elo between the halves"


def _first(
    text: str, side: chess.Color, moves: Sequence[str], bound: float = EVEN, above: bool = True
) -> Claim:
    paper = sum(moves_tool.PAPER[side][move] for move in moves) / 100
    run = "searches_white" if side == chess.WHITE else "searches_black"
    verdict = first_moves(run, moves, paper, bound, above)
    return Claim("Table 1", text, f"{100 * paper:.1f} %", verdict)


_PEOPLE = not_tested("no person has played")
_PICTURE = not_tested("the position is printed as a picture only")
CLAIMS: Sequence[Claim] = (
    Claim("§4", "Obscuro beats ZS21", "85.1 % of 1,000", stronger("zs21-paper", "zs21-default")),
    Claim("§4", "it beats people rated 1450 to 2006", "97 % of 100", _PEOPLE),
    Claim("§4", "it beats the best player", "80 % of 20", _PEOPLE),
    *(_ablation(name) for name in ("purification", "klss", "two-sided", "uniform-prior")),
    Claim(
        *("§4.1", "with all four off, it still beats ZS21", "72.6 % of 1,000"),
        stronger("zs21-all-off"),
    ),
    Claim(
        *("§4.1", "the whole engine beats the one with the simple evaluation", "81.9 % of 1,000"),
        stronger("simple-1s"),
    ),
    Claim(
        *("§4.1", "with the simple evaluation, it still beats ZS21", "55.0 % of 10,000"),
        stronger("zs21-simple-1s"),
    ),
    Claim("§4.2", "twice the time is stronger, 1/16 s to 16 s", _paper_steps(), scaling),
    Claim(
        *("§4.2", "three of its steps at once, 1/16 s to 1/2 s"),
        f"{sum(_paper_gains()[:3]):+.0f} Elo, added up",
        stronger("eight-times", paper=score_of_elo(sum(_paper_gains()[:3]))),
    ),
    Claim("§4.2", "more time gains less and less", _paper_halves(), diminishing),
    Claim("§4.2", "it wins all games against random moves", "1,000 of 1,000", beats_random),
    Claim("D", "plies of a game at 5 s", f"{PAPER_PLIES}", game_length),
    Claim("D", "search depth, plies", f"{PAPER['depth']}", size("depth")),
    Claim("D", "nodes of a search tree", f"{PAPER['nodes']:,}", size("nodes")),
    Claim("D", "its infosets", f"{PAPER['infosets']:,}", size("infosets")),
    Claim("D", "nodes carried over", f"{PAPER['carried']:,}", size("carried")),
    Claim("D", "infosets carried over", f"{PAPER['carried_infosets']:,}", size("carried_infosets")),
    Claim("D", "possible positions", f"{PAPER['belief']:,}", size("belief")),
    Claim(
        *(
            "E.1, Fig. 6",
            "Fig. 1's positions are 9 steps of knowledge apart, no two are 11",
            "9, 10",
        ),
        knowledge,
    ),
    Claim(
        "E.1, Fig. 5",
        "infosets may hold 2 × 10⁹ positions, common-knowledge sets 4 × 10¹⁸",
        "",
        infoset_size,
    ),
    Claim(
        "E.2",
        "after 1.c4 d5 White wins almost a pawn by mixing a rarer Qa4 with quiet moves",
        "",
        position("1.c4 d5", shares("Qa4+", "Nc3", "Nf3", "e3"), trap),
    ),
    Claim(
        "E.2",
        "of the quiet ones Nc3 has high probability",
        "",
        position("1.c4 d5", shares("Nc3"), lambda policy, value: policy.get("Nc3", 0.0) > 0.5),
    ),
    Claim("E.3", "White scores more than half", "57.5 % of 10,000", white),
    Claim("E.3", "White scores more than in chess", "57.5 % against 55 %", white_in_chess),
    _first("White begins with d4 or c4", chess.WHITE, ("d4", "c4")),
    _first("Black closes the diagonal at once, with Nc6 or c6", chess.BLACK, ("Nc6", "c6")),
    _first("Black hardly ever begins with d5", chess.BLACK, ("d5",), RARE, above=False),
    Claim("Table 1", "Nc6, c6, e6 and Nf6 are better than c5", "94.2 % against 4.8 %", better_list),
    Claim("E.3", "few games are over after 12 plies", "10 of 10,000", short_games),
    Claim(
        "E.3, E.6",
        "after 2.Qa4 Black's strategy leaves the diagonal open with small probability",
        "",
        position("1.c4 d5 2.Qa4", shares("c6", "d4", "Bd7"), lost_at_once),
    ),
    Claim("E.4", "it bluffs: Bxd6 in Fig. 7(B)", "", _PICTURE),
    Claim("E.5", "a risky hunt for the king from a lost position, Fig. 7(C)", "", _PICTURE),
    Claim(
        "E.5, E.6",
        "it sacrifices a rook for an even chance at the king (our position)",
        "Rxe6",
        position(
            "a rook for a chance",
            shares("Rxe6"),
            lambda policy, value: policy.get("Rxe6", 0.0) > 0.5,
        ),
    ),
    Claim(
        "E.5, E.6",
        "after it, two checks are mixed evenly (our position)",
        "Bc4, Bh3",
        position("the same after Rxe6 Kxe6", shares("Bc4+", "Bh3+"), even("Bc4+", "Bh3+")),
    ),
    Claim(
        "E.7",
        "most games are decided by a blunder for lack of knowledge",
        "",
        one_turn,
    ),
    *(
        Claim(
            "E.8",
            f"{name}: more than ½, by an even mixture",
            "> 0.5",
            position(name, value_alone, corner(*moves)),
        )
        for name, moves in (
            ("Kc6 against Ka8", ("Kb6", "Kc7")),
            ("Kb6 against Ka8", ("Ka6", "Kc7")),
            ("Kc7 against Ka8", ("Kb6", "Kc8")),
        )
    ),
    Claim(
        "E.8, Claim 2",
        "a king held on the edge loses something, whoever is to move",
        "> 0",
        position(
            "Ka6 against Ka8, White to move", value_alone, lambda policy, value: value > 0.005
        ),
    ),
    Claim(
        "E.8, Claim 2",
        "the same with Black to move, Black's value",
        "< 0",
        position(
            "Ka6 against Ka8, Black to move", value_alone, lambda policy, value: value < -0.005
        ),
    ),
    Claim(
        "E.8, Claim 1",
        "with two safe squares beside each other a king draws",
        "0",
        position("Kd3 against Kd6", value_alone, lambda policy, value: abs(value) < 0.05),
    ),
)

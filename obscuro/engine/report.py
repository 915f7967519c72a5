"""What a search reports and returns, in the protocol's units. The import is quick."""

from dataclasses import dataclass, field

from obscuro.evaluation.evaluator import CacheUse


@dataclass(frozen=True, slots=True)
class GoLimits:
    """The limits of a `go`, times in milliseconds; None where the command has none.

    received: the second of `time.monotonic` at which the command came in; the turn begins there.
    """

    received: float
    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    movetime: int | None = None
    nodes: int | None = None
    infinite: bool = False


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """One report of a search: the content of the protocol's four info lines."""

    depth: float  # mean
    seldepth: int
    nodes: int  # added in this search
    milliseconds: int
    value: float  # our side's view, [-1, 1]
    centipawns: int
    line: list[str]  # likeliest moves, ours first
    belief: int
    exact: bool
    sampled: int
    carried: int
    infosets: int
    iterations: int
    expansions: int
    evaluations: int  # children evaluated
    gadget: str  # "resolve" or "maxmargin"
    roots: int = 0  # distinct positions of our infoset that were expanded when the search began
    root_infosets: int = 0  # J: infosets of the other side at the root
    policy: list[tuple[str, float]] = field(default_factory=list)  # largest first
    play: list[tuple[str, float]] = field(default_factory=list)  # largest first
    cache: CacheUse | None = None  # by this search; None before its end, or without a cache


@dataclass(frozen=True, slots=True)
class Choice:
    """The move to play and the last report; None where there is no move or no report."""

    move: str | None
    ponder: str | None = None
    info: SearchInfo | None = None


@dataclass(frozen=True, slots=True)
class RootReport:
    """What the root of a player's last search looked like; values are its own, [-1, 1].

    p_max: how much of Resolve was in force. entered: Σ α(J) · π_resolve(J). fresh: the share of the
    other side's infosets J that were new. mean: Σ α(J) · u(J). gap: what both sides together could
    gain in Resolve by answering the other one best in the tree. star: v*, the value that capped the
    new J's alternate values; slack: how far their evaluations were above it, on average. Both are
    None where there was no search before or no new J.
    """

    p_max: float
    entered: float
    fresh: float
    mean: float
    gap: float
    star: float | None = None
    slack: float | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a player's last search knew of one position, which may be the true one.

    in_belief: whether it was in P. in_infoset: whether it was among the positions of our infoset at
    the root. expanded: whether it was expanded there when the search began. weight: its share of
    the root's weight, [0, 1] (`obscuro.search.root_values`). rank: how many positions there had a
    larger weight, plus one, and half of those with an equal one; None if it was not there. root: the
    root itself. All but in_belief are None if the move needed no search, or if the player does not
    say.
    """

    in_belief: bool
    in_infoset: bool | None = None
    expanded: bool | None = None
    weight: float | None = None
    rank: float | None = None
    root: RootReport | None = None


@dataclass(frozen=True, slots=True)
class ComparedMove:
    """What the last search thinks of one of our moves.

    value: ours, [-1, 1]. probability: the solver's, [0, 1]. nodes: histories that the tree has
    below the move; with 0 the value is the evaluator's, since no answer was looked at.
    """

    move: str
    value: float
    probability: float
    nodes: int


@dataclass(frozen=True, slots=True)
class Reason:
    """A position of our infoset, and what two moves are worth in it.

    fen: without counters. share: of the weight of all positions, [0, 1]. values: of the first move
    and of the second, in our view, [-1, 1].
    """

    fen: str
    share: float
    values: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two of our moves beside each other, as the last search values them.

    reasons: the positions that speak most for the move of the higher value, the most important
    first. A position's importance is its share times the difference of the two moves in it.
    """

    moves: tuple[ComparedMove, ComparedMove]
    reasons: tuple[Reason, ...]

"""What a search says of itself in the protocol's units: reports, and two moves compared."""

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief
from obscuro.engine.knowledge import GameError
from obscuro.engine.options import Options
from obscuro.engine.report import ComparedMove, Comparison, Reason, SearchInfo
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.rules.layout import WORDS
from obscuro.rules.make import make_move
from obscuro.rules.position import legal_moves, move_to_uci, to_fen
from obscuro.search.choice import purify, softened
from obscuro.search.pace import Progress
from obscuro.search.root_values import RootValues
from obscuro.search.search import Search


class TurnReport:
    """Writes the reports of one turn.

    names: our moves in UCI, in the order of the generator. belief: up to date. received: second of
    `time.monotonic` at which the turn began. chess960: see `move_to_uci`.
    """

    def __init__(
        self,
        options: Options,
        belief: Belief,
        names: list[str],
        received: float,
        *,
        chess960: bool = False,
    ) -> None:
        self._parameters = options.search_parameters()
        self._tau = options.number("tau")
        strength = options.strength
        self._temperature = 0 if strength is None else strength.temperature / (100 * self._tau)
        self._belief = belief
        self._names = names
        self._received = received
        self._chess960 = chess960

    def played(self, progress: Progress) -> npt.NDArray[np.float64]:
        """The distribution over our moves that the move is drawn from: float64[k], sums to 1.

        A strength with a temperature draws by the actions' values, which are there after a search.
        """
        if self._temperature and len(progress.action_values) == len(progress.policy):
            return softened(progress.action_values, self._temperature)
        return purify(
            progress.policy,
            progress.stable,
            progress.resolve,
            self._parameters.max_support,
            self._parameters.purification,
        )

    def searched(self, progress: Progress, evaluations: int, search: Search) -> SearchInfo:
        """The report of a search as far as it has come.

        evaluations: children that the evaluators have evaluated in it.
        """
        return self._info(progress, evaluations, likeliest_line(search, chess960=self._chess960))

    def forced(self, move: str, value: float) -> SearchInfo:
        """The report of a move that needs no search, the only name. value: ours, [-1, 1]."""
        progress = Progress(
            value=value,
            policy=np.ones(1, dtype=np.float32),
            stable=np.ones(1, dtype=np.bool_),
        )
        return self._info(progress, 0, [move])

    def _info(self, progress: Progress, evaluations: int, line: list[str]) -> SearchInfo:
        known = len(progress.policy) == len(self._names)
        return SearchInfo(
            depth=progress.depth,
            seldepth=progress.seldepth,
            nodes=progress.nodes,
            milliseconds=int((time.monotonic() - self._received) * 1000),
            value=progress.value,
            centipawns=centipawns_of_value(progress.value, self._tau),
            line=line,
            belief=len(self._belief),
            exact=bool(self._belief.exact),
            sampled=progress.sampled,
            carried=progress.carried,
            infosets=progress.infosets,
            iterations=progress.iterations,
            expansions=progress.expansions,
            evaluations=evaluations,
            gadget="resolve" if progress.resolve else "maxmargin",
            roots=progress.roots,
            root_infosets=progress.root_infosets,
            policy=self._ranked(progress.policy) if known else [],
            play=self._ranked(self.played(progress)) if known else [],
        )

    def _ranked(self, probabilities: npt.NDArray[np.floating]) -> list[tuple[str, float]]:
        """The moves with a probability above 0, largest first."""
        pairs = zip(self._names, probabilities, strict=True)
        return sorted(((name, float(p)) for name, p in pairs if p > 0), key=lambda pair: -pair[1])


def likeliest_line(search: Search, *, chess960: bool = False) -> list[str]:
    """The likeliest play from our infoset on, in UCI; empty if nothing is expanded there.

    chess960: see `move_to_uci`.
    """
    found = search.line()
    if found is None:
        return []
    state, actions = found
    names = []
    position = state[:WORDS]
    for action in actions:
        moves = legal_moves(position)
        if action >= len(moves):
            break
        names.append(move_to_uci(moves[action], chess960=chess960))
        position = np.array(make_move(tuple(position), moves[action]), dtype=np.uint64)
    return names


MOST_REASONS = 5
LEAST_PART = 0.02
"""A position is no reason if it adds less than this part of what all of them add."""


def compare(known: RootValues, names: Sequence[str], move: str, other: str | None) -> Comparison:
    """Compare two moves; other: None for the one that the search prefers to all but `move`.

    names: our moves in UCI, in the order of the generator; there are two at least. Raises GameError
    if a move is not among them.
    """
    first = _index(names, move)
    means = known.means()
    second = _preferred(known, means, first) if other is None else _index(names, other)
    return Comparison(
        (
            _compared(known, means, names, first),
            _compared(known, means, names, second),
        ),
        tuple(_reasons(known, first, second)),
    )


def _index(names: Sequence[str], move: str) -> int:
    if move not in names:
        raise GameError(f"{move} was not one of our moves in the last search")
    return names.index(move)


def _preferred(known: RootValues, means: npt.NDArray[np.float64], but: int) -> int:
    """The likeliest move except one; where several are alike, the one of the highest value."""
    order = np.lexsort((means, known.policy))
    return int(order[order != but][-1])


def _compared(
    known: RootValues, means: npt.NDArray[np.float64], names: Sequence[str], index: int
) -> ComparedMove:
    return ComparedMove(
        names[index],
        float(np.clip(means[index], -1.0, 1.0)),
        float(known.policy[index]),
        int(known.nodes[index]),
    )


def _reasons(known: RootValues, first: int, second: int) -> list[Reason]:
    """The positions that speak most for the better of two moves; see `Comparison`.

    Several histories may be one position. It counts once, with the mean of their values.
    """
    positions, members = np.unique(known.states[:, :WORDS], axis=0, return_inverse=True)
    members = members.reshape(-1)
    shares = np.bincount(members, known.weights)
    pair = [
        np.bincount(members, known.weights * known.values[:, index]) for index in (first, second)
    ]
    difference = pair[1] - pair[0]
    if difference.sum() < 0:
        difference = -difference
    order = np.argsort(-difference, kind="stable")[:MOST_REASONS]
    least = LEAST_PART * difference[difference > 0].sum()
    return [
        Reason(
            to_fen(positions[i]),
            float(shares[i]),
            (float(pair[0][i] / shares[i]), float(pair[1][i] / shares[i])),
        )
        for i in order
        if difference[i] > 0 and difference[i] >= least
    ]

"""The reports of one of ZS21's turns, in the protocol's units."""

import time

import numpy as np

from obscuro.engine.belief_player import OwnTurn
from obscuro.engine.report import Coverage, SearchInfo
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.research.zs21.trunk import LEAF
from obscuro.research.zs21.trunk_game import MIN, Words
from obscuro.research.zs21.turn_search import TurnResult, TurnSearch


class TurnWriter:
    """Writes the reports of one turn.

    last: the last report; None before the first.
    """

    def __init__(self, turn: OwnTurn) -> None:
        self.last: SearchInfo | None = None
        self._turn = turn

    def write(self, search: TurnSearch, result: TurnResult, evaluations: int) -> SearchInfo:
        """Report a search after a round.

        `iterations` are the linear programs solved, `depth` is the mean depth of expanded nodes.
        evaluations: the children evaluated in this turn.
        """
        belief, trunk = self._turn.known.belief, search.trunk
        nodes = trunk.nodes
        expanded = nodes.depth[nodes.first != LEAF]
        policy = [
            (name, float(share))
            for name, share in zip(self._turn.names, result.policy, strict=True)
            if share > 0.0
        ]
        policy.sort(key=lambda pair: -pair[1])
        solution = result.solution
        self.last = SearchInfo(
            depth=float(expanded.mean()) + 1.0,
            seldepth=int(nodes.depth.max()),
            nodes=search.added,
            milliseconds=int((time.monotonic() - self._turn.limits.received) * 1000),
            value=result.value,
            centipawns=centipawns_of_value(result.value, self._turn.tau),
            line=[policy[0][0]],
            belief=len(belief),
            exact=bool(belief.exact),
            sampled=trunk.fresh,
            carried=trunk.carried,
            infosets=len(trunk.tables[0]) + len(trunk.tables[1]),
            iterations=result.programs,
            expansions=result.expansions,
            evaluations=evaluations,
            gadget="maxmargin" if solution is None else solution.profile.gadget,
            roots=int(nodes.live[: trunk.roots].sum()),
            policy=policy,
            play=policy,
        )
        return self.last


def root_coverage(search: TurnSearch, words: Words, in_belief: bool) -> Coverage:
    """Say what a turn's search knew of a position uint64[8] among its roots.

    in_belief: whether the belief holds it. The weight is ▼'s probability of the position's J, which
    is 0 if nothing was solved.
    """
    trunk, solution = search.trunk, search.result.solution
    nodes = trunk.nodes
    roots = np.flatnonzero(nodes.live[: trunk.roots])
    same = roots[(nodes.state[roots, : len(words)] == words).all(axis=1)]
    weight = 0.0
    if solution is not None and len(same):
        y = solution.profile.y[: trunk.groups]
        weight = float(y[nodes.sequence[same, MIN]].sum() / (y.sum() or 1.0))
    return Coverage(
        in_belief,
        in_infoset=bool(len(same)),
        expanded=bool((nodes.first[same] != LEAF).any()),
        weight=weight,
    )

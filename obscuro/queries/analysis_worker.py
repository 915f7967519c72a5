"""One engine that analyses tracks: it follows a side's game and answers turn by turn."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from obscuro.client.analysis_messages import (
    AnalysedBelief,
    AnalysedMarginals,
    AnalysedSearch,
    AnalysedTruth,
    AnalysisAnswer,
    AnalysisFailure,
    AnalysisPartial,
    AnalysisQuery,
    AnalysisResult,
    AnalysisWarning,
    LikelyPosition,
    MoveShare,
    PieceSquares,
    PlayedMove,
    PlayedReason,
    SideWord,
)
from obscuro.client.engine import Engine, PlayResult
from obscuro.client.limit import MILLISECONDS
from obscuro.client.move_report import BeliefAnswer, MarginalsAnswer, Policy, Report
from obscuro.client.uci_process import EngineError
from obscuro.engine.options import Options
from obscuro.engine.report import Comparison, Coverage
from obscuro.evaluation.scale import value_of_pawns
from obscuro.matches.pgn import CENTIPAWNS
from obscuro.queries.query_reader import CheckedQuery, GameView, check_query, read_request
from obscuro.queries.work_queue import HeldQuery, Track, WorkQueue
from obscuro.uci.printing import one_line

DIGITS = 4
"""Of values and shares."""
_TRIES = 2
_NO_ANSWER = "error compare:"
"""How the engine says that a move needed no search; the answer then has no values."""

Send = Callable[[AnalysisAnswer], None]


class AnalysisWorker:
    """Analyses tracks of the queue until it is closed; `run` is a thread's.

    engine: its own. base: the service's options. send: takes the answers.
    """

    def __init__(
        self, queue: WorkQueue, make: Callable[[Callable[[str], None]], Engine], base: Options,
        send: Send,
    ) -> None:  # fmt: skip
        self.engine = make(self._warn)
        self._queue = queue
        self._base = base
        self._send = send
        self._set: dict[str, str] = {}  # the engine's options
        self._id: str | None = None
        self._error = ""  # the engine's last one at this turn

    def run(self) -> None:
        """Analyse until nothing is left, then end the engine."""
        while (track := self._queue.take(self.engine.stop)) is not None:
            self._id = track.query.id
            ended = False
            try:
                ended = self._follow(track)
            except Exception as error:  # a fault of ours must not end the process
                self._fail(track, None, f"the analysis failed, {error or type(error).__name__}")
                self.engine.kill()
                ended = True
            query = self._queue.leave(track, ended=ended)
            self._id = None
            if query is not None:
                self._send(query.done())
        self.engine.close()

    def _follow(self, track: Track) -> bool:
        """Analyse the turns of a track; return whether it has ended."""
        checked = read_again(track.query, self._base)
        view = checked.views[track.view]
        self._configure(checked)
        fresh = True
        for number in view.numbers[track.turns_done :]:
            if self._queue.must_leave(track):
                return track.query.cancel.is_set()
            answer = self._analysed(track.query, checked, view, number, fresh)
            fresh = False
            if isinstance(answer, AnalysisResult):
                self._send(answer)
                self._queue.note(track, failed=False)
            else:
                self._fail(track, number, answer)
        return True

    def _fail(self, track: Track, number: int | None, text: str) -> None:
        self._send(AnalysisFailure(error=one_line(text), id=track.query.id, ply=number))
        self._queue.note(track, failed=True)

    def _configure(self, checked: CheckedQuery) -> None:
        changed = {
            name: value for name, value in checked.options.items() if self._set.get(name) != value
        }
        self._set |= changed
        with contextlib.suppress(EngineError):  # the next call starts another one, with all options
            self.engine.configure(changed)

    # -- a turn -----------------------------------------------------------------------------

    def _analysed(
        self, held: HeldQuery, checked: CheckedQuery, view: GameView, number: int, fresh: bool
    ) -> AnalysisResult | str:
        """Analyse a turn; start the engine anew and try again if it fails. A text is the error.

        fresh: whether the engine was at another game before.
        """
        text = ""
        for attempt in range(_TRIES):
            try:
                if fresh or attempt:
                    self.engine.new_game(held)
                return self._result(held, checked, view, number)
            except EngineError as error:
                text = f"the engine failed twice at ply {number}: {error}"
                self.engine.kill()
            except Exception as error:  # a fault of ours costs one turn
                self.engine.kill()
                return f"the analysis failed at ply {number}: {error or type(error).__name__}"
        return text

    def _result(
        self, held: HeldQuery, checked: CheckedQuery, view: GameView, number: int
    ) -> AnalysisResult:
        query, engine = checked.query, self.engine
        self._error = ""
        side: SideWord = "white" if view.side else "black"
        belief = engine.belief(view.position(number), query.positions)
        if belief is None or not belief.size:
            raise EngineError(self._error or "it does not say which positions are possible")
        marginals = engine.marginals() if query.marginals else None
        search = played = coverage = None
        if view.is_own_turn(number):
            partial = _Partials(query, number, side, checked.tau, self._send)
            found = engine.play(None, checked.limit, cancel=held.cancel, on_report=partial)
            failure = next((text for text in found.warnings if text.startswith("error")), None)
            if failure is not None:
                raise EngineError(failure)
            search = analysed_search(found.report, checked.tau, found.move)
            board, move = view.board(number), view.played(number)
            coverage = None if board is None else engine.coverage(board)
            if move is not None:
                played = played_move(move, found, engine.compare(move), search.value)
        return AnalysisResult(
            id=held.id,
            ply=number,
            side=side,
            belief=analysed_belief(belief),
            marginals=None if marginals is None else analysed_marginals(marginals),
            search=search,
            played=played,
            coverage=None if coverage is None else analysed_truth(coverage),
            terminated=held.cancel.is_set(),
        )

    def _warn(self, text: str) -> None:
        if text.startswith("error "):
            self._error = text.removeprefix("error ")
        if not text.startswith(_NO_ANSWER):
            self._send(AnalysisWarning(warning=one_line(f"engine: {text}"), id=self._id))


class _Partials:
    """Sends how far a search has come, every `report_every` ms."""

    def __init__(
        self, query: AnalysisQuery, number: int, side: SideWord, tau: float, send: Send
    ) -> None:
        self._query, self._number, self._side = query, number, side
        self._tau, self._send = tau, send
        self._last = time.monotonic()

    def __call__(self, report: Report) -> None:
        """Take a report of the engine."""
        every, now = self._query.report_every, time.monotonic()
        if every is None or (now - self._last) * MILLISECONDS < every:
            return
        self._last = now
        self._send(
            AnalysisPartial(
                id=self._query.id,
                ply=self._number,
                side=self._side,
                search=analysed_search(report, self._tau, None),
            )
        )


def read_again(held: HeldQuery, base: Options) -> CheckedQuery:
    """Return a query that was read and checked when it came in."""
    request, _ = read_request(held.line)
    assert isinstance(request, AnalysisQuery)
    return check_query(request, base)


# -- from the engine's answers to ours ------------------------------------------------------


def analysed_belief(answer: BeliefAnswer) -> AnalysedBelief:
    """Describe the belief. Without weights all positions have the same share."""
    alike = float(f"{1 / answer.size:.{DIGITS}g}")
    shares = answer.shares or (alike,) * len(answer.fens)
    return AnalysedBelief(
        size=answer.size,
        exact=answer.exact,
        weighted=bool(answer.shares),
        positions=tuple(
            LikelyPosition(fen=fen, share=share)
            for fen, share in zip(answer.fens, shares, strict=True)
        ),
    )


def analysed_marginals(answer: MarginalsAnswer) -> AnalysedMarginals:
    """Describe how likely each enemy piece is on each square."""
    even, weighted = answer.even, answer.weighted
    return AnalysedMarginals(
        even=PieceSquares(**even),
        weighted=None if weighted is None else PieceSquares(**weighted),
    )


def analysed_search(report: Report, tau: float, move: str | None) -> AnalysedSearch:
    """Describe a search. tau: the pawns worth tanh(1). move: the chosen one; None: it still runs."""
    score = report.centipawns
    return AnalysedSearch(
        move=move,
        value=None if score is None else round(value_of_pawns(score / CENTIPAWNS, tau), DIGITS),
        centipawns=None if score is None else round(score),
        policy=_shares(report.policy),
        play=_shares(report.play),
        nodes=None if report.nodes is None else round(report.nodes),
        depth=report.depth,
        milliseconds=None if report.milliseconds is None else round(report.milliseconds),
    )


def _shares(policy: Policy) -> tuple[MoveShare, ...]:
    return tuple(MoveShare(move=move, probability=share) for move, share in policy)


def played_move(
    move: str, found: PlayResult, comparison: Comparison | None, value: float | None
) -> PlayedMove:
    """Describe the move that was played. value: of the search.

    Without a comparison, the search looked at one move only: the only one, or a king's capture.
    """
    if comparison is None:
        same = move == found.move and bool(found.report.policy)
        return PlayedMove(
            move=move,
            value=value if same else None,
            probability=dict(found.report.policy).get(move, 0.0),
            other=None,
            other_value=None,
            loss=0.0 if same else None,
            because=(),
        )
    mine, other = comparison.moves
    return PlayedMove(
        move=move,
        value=mine.value,
        probability=mine.probability,
        other=other.move,
        other_value=other.value,
        loss=round(max(0.0, other.value - mine.value), DIGITS),
        because=tuple(
            PlayedReason(
                fen=reason.fen,
                share=reason.share,
                value=reason.values[0],
                other_value=reason.values[1],
            )
            for reason in comparison.reasons
        ),
    )


def analysed_truth(coverage: Coverage) -> AnalysedTruth:
    """Describe what the search knew of the true position."""
    return AnalysedTruth(
        belief=coverage.in_belief,
        infoset=coverage.in_infoset,
        expanded=coverage.expanded,
        weight=coverage.weight,
    )

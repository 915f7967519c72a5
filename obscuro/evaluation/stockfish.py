"""Children's values by Stockfish: MultiPV at depth 1 on the parent (Obscuro, Appendix C.5).

One search of a position lists all its moves that are legal in chess, each with a score. What such a
list can't say is known without it (`children`), or asked about child by child:

- castling out of or through check, legal in the fog only;
- the moves beside the capture of a king: their parent is no position for Stockfish.
"""

import contextlib
import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.board.layout import CASTLING, KIND_SHIFT, SQUARE_BITS, TO_SHIFT, WORDS
from obscuro.board.make import make_move
from obscuro.board.moves import side_to_move
from obscuro.board.position import from_fen, load
from obscuro.board.tables import TABLES
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.king_safety import king_is_attacked, square_is_attacked
from obscuro.evaluation.material import material_value
from obscuro.evaluation.scale import TAU
from obscuro.evaluation.stockfish_process import (
    StockfishError,
    StockfishProcess,
    TimeLimits,
    stockfish_path,
)
from obscuro.evaluation.stockfish_units import pawns_per_centipawn
from obscuro.evaluation.uci_text import REQUEST_BYTES, read_lists, read_scores, write_request
from obscuro.evaluation.validity import stockfish_can_take

ALL_MOVES = 500  # more than any position has; less where this Stockfish lists less
ATTEMPTS = 2  # at each batch, the second with a new process
# What `start` tries: an ordinary position, and one with a king to capture.
_WARM_UP = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/ppp2ppp/3p4/1B2p3/4P3/8/PPPP1PPP/RNBQK1NR w KQkq - 0 1",
)


class Job(NamedTuple):
    """A batch, and what to ask Stockfish about it."""

    positions: npt.NDArray[np.uint64]  # [positions, 8]
    children: ChildValues  # NaN where a value is missing
    lists: npt.NDArray[np.int64]  # [≤ positions] those whose moves Stockfish is to list
    parents: npt.NDArray[np.int64]  # [children] the position each child belongs to


@njit(nogil=True, cache=True)
def _is_unlisted_castling(tables, pos, move):
    """Whether `move` castles out of check or across an attacked square."""
    word = np.uint64(move)
    if word >> KIND_SHIFT != CASTLING:
        return False
    side = side_to_move(pos)
    origin = np.int64(word & SQUARE_BITS)
    target = np.int64((word >> TO_SHIFT) & SQUARE_BITS)
    return king_is_attacked(tables, pos, side) or square_is_attacked(
        tables, pos, (origin + target) >> 1, 1 - side
    )


@njit(nogil=True, cache=True)
def _choose_lists(tables, positions, offsets, moves, values, parents, lists):
    """Find the positions for which a list gives some of the missing values; return their number.

    Written: parents int64[children], lists int64[positions].
    """
    count = 0
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        listed = 0
        for child in range(offsets[index], offsets[index + 1]):
            parents[child] = index
            if np.isnan(values[child]) and not _is_unlisted_castling(tables, pos, moves[child]):
                listed += 1
        if listed and stockfish_can_take(tables, pos):
            lists[count] = index
            count += 1
    return count


@njit(nogil=True, cache=True)
def _write_lists(tables, positions, asked, forget, out):
    """Write a request for each position of asked int64[n]; return the number of bytes."""
    at = 0
    for index in asked:
        at = write_request(tables, load(positions, index), forget, out, at)
    return at


@njit(nogil=True, cache=True)
def _write_singles(
    tables, positions, parents, moves, asked, search_dominated, forget, tau, out, accepted, values
):
    """Write a request for each child of asked int64[n], or value it by material.

    That is what happens to positions that Stockfish can't take, and, unless search_dominated, to
    moves beside the capture of a king. Written: out; accepted int64[n], the children asked about;
    values, of the others. Returns the numbers of bytes and of accepted children.
    """
    at = 0
    count = 0
    for child in asked:
        parent = load(positions, parents[child])
        pos = make_move(parent, moves[child])
        side = side_to_move(parent)
        wins_at_once = king_is_attacked(tables, parent, 1 - side)
        if stockfish_can_take(tables, pos) and (search_dominated or not wins_at_once):
            at = write_request(tables, pos, forget, out, at)
            accepted[count] = child
            count += 1
        else:
            values[child] = material_value(tables, pos, side, tau)
    return at, count


def _plan(positions: npt.NDArray[np.uint64]) -> Job:
    children = expand(positions, find_mates=True)
    lists = np.empty(len(positions), dtype=np.int64)
    parents = np.empty(len(children.moves), dtype=np.int64)
    count = _choose_lists(
        TABLES, positions, children.offsets, children.moves, children.values, parents, lists
    )
    return Job(positions, children, lists[:count], parents)


class StockfishEvaluator:
    """Evaluates by a Stockfish process of its own; replaces it once a batch if it fails.

    path: the executable; None: the usual places. tau: pawns worth tanh(1). reproducible: a position
    has the same values whatever came before it; that takes nearly twice as long, and otherwise one
    value in twenty differs by more than 0.01, as Stockfish learns from search to search.
    search_dominated: also search the moves beside the capture of a king, ten times the work of an
    ordinary position. Their values can't matter: who can capture a king sees it, and nothing is worth
    more. Without it they are valued by material.

    `submit` and `collect` are the two halves of `evaluate`: in between, Stockfish works and the
    caller is free.
    """

    name = "stockfish"

    def __init__(
        self,
        path: str | None = None,
        tau: float = TAU,
        limits: TimeLimits = TimeLimits(),  # noqa: B008 - frozen
        reproducible: bool = False,
        search_dominated: bool = True,
    ) -> None:
        """Start nothing yet."""
        self._path = path
        self._tau = tau
        self._limits = limits
        self._reproducible = reproducible
        self._forget_next = False
        self._search_dominated = search_dominated
        self._process: StockfishProcess | None = None
        self._closed = False
        self._spawning = threading.Lock()  # held while the process is made or taken away
        self._working = threading.Lock()  # held by `submit`, `collect` and the end of `close`
        self._pawns_per_centipawn = 0.0
        self._job: Job | None = None
        self._begun = False  # whether the running process has been asked for the job's lists

    @property
    def engine_name(self) -> str | None:
        """What the running process calls itself, `Stockfish 15.1`; None if there is none."""
        process = self._process
        return process.name if process else None

    @property
    def pid(self) -> int | None:
        """The running process's id."""
        process = self._process
        return process.pid if process else None

    def start(self) -> None:
        """Start the process and compile the kernels, by evaluating a little. See `Evaluator`."""
        if self._process is None:
            self.evaluate(np.array([from_fen(fen) for fen in _WARM_UP], dtype=np.uint64))

    def forget(self) -> None:
        """Have Stockfish forget its searches before the next batch. See `Evaluator`."""
        self._forget_next = True

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """The values of all children of uint64[n, 8]. Raises EvaluatorFailed. See `Evaluator`."""
        self.submit(positions)
        return self.collect()

    def submit(self, positions: npt.NDArray[np.uint64]) -> None:
        """Ask about a batch uint64[n, 8] without waiting; `collect` must be the next call.

        Raises EvaluatorFailed if there is no process and none can be started.
        """
        with self._working:
            if self._job is not None:
                raise RuntimeError("the batch before this was not collected")
            job = _plan(np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS))
            self._ready_process()
            self._begun = False
            with contextlib.suppress(StockfishError):  # `collect` will see it
                self._begin_lists(job)
            self._job = job

    def collect(self) -> ChildValues:
        """The values of the batch that was submitted. Raises EvaluatorFailed."""
        with self._working:
            if self._job is None:
                raise RuntimeError("no batch was submitted")
            job, self._job = self._job, None
            for attempts_left in range(ATTEMPTS - 1, -1, -1):
                try:
                    return self._answer(job)
                except StockfishError as error:
                    self._drop_process()
                    if not attempts_left:
                        raise EvaluatorFailed(f"Stockfish failed: {error}") from error
            raise AssertionError("the last attempt returns or raises")

    def _begin_lists(self, job: Job) -> None:
        if len(job.lists):
            requests = np.empty(len(job.lists) * REQUEST_BYTES, dtype=np.uint8)
            forget = self._reproducible or self._forget_next
            size = _write_lists(TABLES, job.positions, job.lists, forget, requests)
            self._forget_next = False
            self._ready_process().begin(requests[:size].data, len(job.lists), ALL_MOVES)
        self._begun = True

    def _answer(self, job: Job) -> ChildValues:
        """The children with all values. Raises StockfishError."""
        children = job.children._replace(values=job.children.values.copy())
        if not self._begun:
            self._begin_lists(job)
        self._begun = False
        if len(job.lists):
            answers = self._ready_process().finish()
            read = read_lists(
                np.frombuffer(answers, dtype=np.uint8),
                job.lists,
                children.offsets,
                children.moves,
                np.isnan(children.values),
                self._pawns_per_centipawn,
                self._tau,
                children.values,
            )
            if read != len(job.lists):
                raise StockfishError("its answers make no sense")
        missing = np.flatnonzero(np.isnan(children.values))
        if len(missing):
            self._answer_singly(job, missing, children.values)
        return children

    def _answer_singly(
        self, job: Job, missing: npt.NDArray[np.int64], values: npt.NDArray[np.float32]
    ) -> None:
        """Write the values of these children, each searched by itself. Raises StockfishError."""
        requests = np.empty(len(missing) * REQUEST_BYTES, dtype=np.uint8)
        asked = np.empty(len(missing), dtype=np.int64)
        size, count = _write_singles(
            TABLES,
            job.positions,
            job.parents,
            job.children.moves,
            missing,
            self._search_dominated,
            self._reproducible,
            self._tau,
            requests,
            asked,
            values,
        )
        if count == 0:
            return
        process = self._ready_process()
        process.begin(requests[:size].data, count, 1)
        answers = np.frombuffer(process.finish(), dtype=np.uint8)
        read = read_scores(answers, asked[:count], self._pawns_per_centipawn, self._tau, values)
        if read != count:
            raise StockfishError("its answers make no sense")

    def _ready_process(self) -> StockfishProcess:
        """The process, started if need be. Raises EvaluatorFailed if it can't be."""
        process = self._process
        if process is not None:
            return process
        with self._spawning:
            if self._closed:
                raise EvaluatorFailed("the evaluator is closed")
            path = stockfish_path(self._path)
            if path is None:
                where = f"there is no program {self._path}" if self._path else "it is not installed"
                raise EvaluatorFailed(f"Stockfish is missing: {where}")
            try:
                self._process = StockfishProcess(path, self._limits)
            except StockfishError as error:
                raise EvaluatorFailed(f"Stockfish does not start: {error}") from error
            self._pawns_per_centipawn = pawns_per_centipawn(self._process.name)
            return self._process

    def _drop_process(self) -> None:
        with self._spawning:
            if self._process is not None:
                self._process.close()
                self._process = None

    def close(self) -> None:
        """End the process for good. A batch under way in another thread fails. See `Evaluator`."""
        with self._spawning:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        with self._working:
            self._drop_process()

    def __enter__(self) -> "StockfishEvaluator":
        """For `with`, which closes it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

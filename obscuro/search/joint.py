"""The solver of a search with several threads: all of them iterate on its tree together."""

import threading

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import Gadget
from obscuro.search.joint_solver import (
    ALL,
    EDGES_DONE,
    ITERATIONS_DONE,
    LAST_PHASE,
    JointJob,
    iterate_jointly,
    settle,
)
from obscuro.search.phases import PADDING, new_sync
from obscuro.search.rows import COMPILED
from obscuro.search.shares import (
    MOST_THREADS,
    PIECES,
    Shares,
    add_nodes,
    find_pieces,
    give_out,
    lend,
    weigh,
)
from obscuro.search.solver import iterate
from obscuro.search.team import Team
from obscuro.search.tree import EDGES, INFOSETS, NODES, Tree

# A smaller tree is solved by one thread, and a thread more is used for as many edges more. An
# iteration then takes each thread some 10 µs, and meeting four times 1 or 2.
EDGES_PER_THREAD = 10_000
# Shares are made anew when the tree has grown by this, or when one thread has had so much more to
# do than the mean, but not more often than the making of shares pays.
GROWTH = 1.15
UNEVEN = 1.1
ITERATIONS_PER_SHARING = 100


class JointSolver:
    """Iterates on one tree with a team, and gives its nodes to the team's threads.

    spare: a tree of the same capacities whose contents nobody needs; its arrays hold the shares. As
    long as this object is in use, only it may iterate, and the tree may only grow.
    """

    def __init__(self, tree: Tree, spare: Tree, gadget: Gadget, team: Team) -> None:
        self._tree = tree
        self._spare = spare
        self._gadget = gadget
        self._team = team
        self._shares: Shares | None = None
        self._threads = 1  # of the shares
        self._nodes = self._infosets = 0  # that have a place in the shares
        self._edges_shared = 0  # of the tree, when the shares were made
        self._iterations = 0  # since then
        self._uneven = False

    def iterate(
        self,
        max_iterations: int,
        max_edges: int,
        own_infoset: int,
        iteration: int,
        last_absent: npt.NDArray[np.int64],
    ) -> tuple[int, int]:
        """Run `solver.iterate` with as many threads as the tree is worth; returns what it does.

        last_absent: int64[actions]. The arguments are those of `solver.iterate`.
        """
        wanted = self.threads_for(int(self._tree.counts[EDGES]))
        if wanted == 1:
            self._drop_shares()
            done, edges = iterate(
                self._tree,
                self._gadget,
                max_iterations,
                max_edges,
                own_infoset,
                iteration,
                last_absent,
            )
            return int(done), int(edges)
        shares = self._shares_for(wanted)
        job = JointJob(
            sync=new_sync(wanted + 1),
            visited=np.zeros(wanted * PADDING, dtype=np.int64),
            control=np.zeros(3, dtype=np.int64),
            max_iterations=max_iterations,
            max_edges=max_edges,
            own_infoset=own_infoset,
            iteration=iteration,
            last_absent=last_absent,
        )
        over = threading.Event()

        def help_along(thread: int) -> None:
            if not over.is_set():
                iterate_jointly(self._tree, self._gadget, shares, job, thread)

        self._team.start(help_along, wanted)
        iterate_jointly(self._tree, self._gadget, shares, job, 0)
        over.set()
        done = int(job.control[ITERATIONS_DONE])
        self._iterations += done
        work_done = job.visited[ALL::PADDING]
        self._uneven = work_done.max() > UNEVEN * work_done.mean()
        return done, int(job.control[EDGES_DONE])

    def threads_for(self, edges: int) -> int:
        """How many threads iterate on a tree of so many edges."""
        if not COMPILED:
            return 1
        return max(1, min(self._team.threads, MOST_THREADS, edges // EDGES_PER_THREAD))

    def settle(self) -> None:
        """Bring all arrays of the tree up to date, and not only those that growing it needs."""
        if self._shares is not None:
            settle(self._tree, self._shares, self._nodes)

    def load(self) -> None:
        """Have the kernels compiled, or loaded, by sharing out the tree and not iterating."""
        if not COMPILED:
            return
        shares = self._share_out(1)
        self._add_nodes(shares)
        counts = np.zeros(PADDING, dtype=np.int64)
        counts[LAST_PHASE] = 1
        job = JointJob(new_sync(2), counts, counts, 1, 0, -1, 0, counts)
        iterate_jointly(self._tree, self._gadget, shares, job, 0)
        self._drop_shares()

    # -- the shares ------------------------------------------------------------------------------

    def _shares_for(self, threads: int) -> Shares:
        """Shares for so many threads in which all nodes have a place."""
        shares = self._shares
        if shares is not None and threads == self._threads:
            grown = int(self._tree.counts[EDGES]) > GROWTH * self._edges_shared
            uneven = self._uneven and self._iterations >= ITERATIONS_PER_SHARING
            if not grown and not uneven and self._add_nodes(shares):
                return shares
        self._drop_shares()
        return self._share_out(threads)

    def _add_nodes(self, shares: Shares) -> bool:
        """Give the tree's new nodes a place; returns whether there was room for all of them."""
        counts = self._tree.counts
        self._nodes = int(add_nodes(self._tree, shares, self._nodes, self._infosets))
        self._infosets = int(counts[INFOSETS])
        return self._nodes == int(counts[NODES])

    def _drop_shares(self) -> None:
        """Settle what has a place in the shares, and do without them."""
        if self._shares is not None:
            settle(self._tree, self._shares, self._nodes)
            self._shares = None

    def _share_out(self, threads: int) -> Shares:
        """Make shares of equal work for so many threads."""
        tree = self._tree
        nodes = int(tree.counts[NODES])
        shares = lend(self._spare, threads)
        weight = np.empty(nodes, dtype=np.float32)
        work = weigh(tree, weight, np.empty((nodes, 2), dtype=np.float32))
        most = np.float32(work / (PIECES * threads))
        pieces = np.empty(nodes, dtype=np.int32)
        pieces = pieces[: find_pieces(tree, weight, most, pieces)]
        heaviest = np.argsort(-weight[pieces], kind="stable")
        give_out(tree, shares, weight, most, pieces[heaviest])
        self._shares = shares
        self._threads = threads
        self._nodes, self._infosets = nodes, int(tree.counts[INFOSETS])
        self._edges_shared = int(tree.counts[EDGES])
        self._iterations = 0
        self._uneven = False
        return shares

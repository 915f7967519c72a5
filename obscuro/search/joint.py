"""The iterations of `solver`, by several threads on one tree, each on its share.

An iteration has two phases for each player. In the first the shares are swept. In the second all
infosets are updated, and meanwhile the trunk is swept backward and, for the next phase, forward.
The result is that of `solver.iterate` but for the order in which numbers are added. It depends on
the number of shares, and not on who does what or how fast.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.gadget import Gadget, root_strategy, update_gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.parameters import MAX_ACTIONS
from obscuro.search.rows import COMPILED, dot, dot_and_add, dot_and_set, prefetch_row
from obscuro.search.shares import (
    MOST_THREADS,
    NO_ROW,
    PIECES,
    PLACES,
    ROWS,
    Shares,
    add_nodes,
    find_pieces,
    give_out,
    lend,
    weigh,
)
from obscuro.search.solver import iterate, match_regrets
from obscuro.search.sync import (
    CHANGES,
    ENDED,
    LOOKS,
    NO_PART,
    OPENED,
    PADDING,
    TIRED,
    Sync,
    claim,
    close_phases,
    count,
    counted,
    enter,
    finish,
    leave,
    new_desk,
    new_sync,
    rest,
    take_part,
    wait_as_guest,
    wait_for,
)
from obscuro.search.tree import EDGES, INFOSETS, NO_PARENT, NODES, ROOT_INFOSET, Tree

AHEAD = 6  # places; as in `solver`
LINE = 16  # float32 of a cache line
# Entries of `control`: what has been done, the last phase once it is known, and the arguments of
# `solver.iterate`.
EDGES_DONE, ITERATIONS_DONE, LAST_PHASE, MOST_ITERATIONS, MOST_EDGES, OWN, FIRST = range(7)
SWEEP, ALL = range(2)  # a share's entries of `visited`: in the last sweep, and in all

_ZERO = np.float32(0)
_ONE = np.float32(1)


class JointJob(NamedTuple):
    """Iterations for several threads, and what they have done of them; one job after the other.

    sync: for the shares and the trunk. visited, control: see the names of their entries.
    last_absent: see `solver.iterate`, which runs one iteration at least.
    """

    sync: Sync
    visited: npt.NDArray[np.int64]  # [shares * PADDING]
    control: npt.NDArray[np.int64]  # [7]
    last_absent: npt.NDArray[np.int64]  # [actions]


def new_job(threads: int) -> JointJob:
    """A job for so many shares."""
    return JointJob(
        new_sync(threads + 1),
        np.zeros(threads * PADDING, dtype=np.int64),
        np.zeros(FIRST + 1, dtype=np.int64),
        np.zeros(MAX_ACTIONS, dtype=np.int64),
    )


@kernel(fastmath={"reassoc", "contract", "nsz"})
def _sweep_forward(tree, shares, share, player):
    """Write the reach of a share's nodes; those above it must have theirs."""
    strategy, reach = tree.strategy, shares.reach
    root_first = tree.infoset_first[ROOT_INFOSET]
    first = shares.starts[share, 0]
    for place in range(first, first + shares.used[share, PLACES]):
        above = shares.parent[place]
        if above == NO_PARENT:
            of_root = strategy[root_first + shares.node[place]]
            reach[place] = of_root if player == MAX else _ONE
        else:
            probability = reach[above]
            if shares.player[above] != player:
                probability *= strategy[shares.parent_action[place]]
            reach[place] = probability


@kernel(fastmath={"reassoc", "contract", "nsz"})
def _sweep_backward(tree, gadget, shares, share, player):
    """Write a share's values and sums from its reach; returns the number of edges visited."""
    strategy, values, sums = tree.strategy, shares.values, shares.sums
    sign = _ONE if player == MAX else -_ONE
    visited = 0
    first = shares.starts[share, 0]
    for place in range(first + shares.used[share, PLACES] - 1, first - 1, -1):
        weight = shares.reach[place]
        if weight == 0:
            continue
        if place >= AHEAD:
            coming = shares.first_action[place - AHEAD]
            prefetch_row(strategy, coming)
            prefetch_row(strategy, coming + LINE)
        count = shares.width[place]
        value_row = shares.first_value[place]
        action = shares.first_action[place]
        visited += count
        if shares.new[place]:
            shares.new[place] = 0
            tree.node_new[shares.node[place]] = 0
        if shares.player[place] == player:
            row = shares.row[place]
            signed = weight * sign
            total = shares.row_first[row]
            if shares.row_touched[row]:
                shares.row_reach[row] += weight
                value = dot_and_add(strategy, action, values, value_row, sums, total, signed, count)
            else:
                shares.row_touched[row] = 1
                shares.row_reach[row] = weight
                value = dot_and_set(strategy, action, values, value_row, sums, total, signed, count)
        else:
            value = dot(strategy, action, values, value_row, count)
        target = shares.parent_value[place]
        if target == NO_PARENT:
            gadget.value[shares.node[place]] = value
        else:
            values[target] = value
    return visited


@kernel
def _gather(shares, head, count):
    """Add an infoset's other rows to the head; returns whether any has been touched."""
    touched = shares.row_touched[head] != 0
    shares.row_touched[head] = 0
    first = shares.row_first[head]
    sums = shares.sums
    row = shares.row_next[head]
    while row != NO_ROW:
        if shares.row_touched[row]:
            shares.row_touched[row] = 0
            source = shares.row_first[row]
            if touched:
                shares.row_reach[head] += shares.row_reach[row]
                for k in range(count):
                    sums[first + k] += sums[source + k]
            else:
                touched = True
                shares.row_reach[head] = shares.row_reach[row]
                for k in range(count):
                    sums[first + k] = sums[source + k]
        row = shares.row_next[row]
    return touched


@kernel
def _update_share(tree, shares, share):
    """Update every infoset of the last sweep that is a share's own."""
    begin = shares.starts[share, 0]
    for head in range(begin, begin + shares.used[share, ROWS]):
        if not shares.row_head[head]:
            continue
        if not shares.row_touched[head] and shares.row_next[head] == NO_ROW:
            continue
        infoset = shares.row_infoset[head]
        if not _gather(shares, head, tree.infoset_actions[infoset]):
            continue
        shares.row_stale[head] = 1
        if not tree.infoset_frozen[infoset]:
            match_regrets(tree, infoset, shares.sums, shares.row_first[head])


@kernel
def _write_sums(tree, shares, share):
    """Bring the tree's counterfactual values and reach sums up to date for a share's infosets."""
    begin = shares.starts[share, 0]
    for head in range(begin, begin + shares.used[share, ROWS]):
        if not shares.row_stale[head]:
            continue
        shares.row_stale[head] = 0
        infoset = shares.row_infoset[head]
        tree.infoset_reach[infoset] = shares.row_reach[head]
        first = tree.infoset_first[infoset]
        row = shares.row_first[head]
        for k in range(tree.infoset_actions[infoset]):
            tree.cfv[first + k] = shares.sums[row + k]


@kernel
def _note_absent(tree, own_infoset, iteration, last_absent):
    """Note the iteration at the actions of our infoset that are not in the support."""
    if own_infoset >= 0:
        first = tree.infoset_first[own_infoset]
        for k in range(tree.infoset_actions[own_infoset]):
            if tree.strategy[first + k] == 0:
                last_absent[k] = iteration


@kernel
def _between_sweeps(tree, gadget, shares, player, visited, control):
    """Bring the trunk up to date after the shares' sweeps for `player`, and the gadget after ▼'s."""
    trunk = shares.used.shape[0] - 1
    control[EDGES_DONE] += _sweep_backward(tree, gadget, shares, trunk, player)
    for thread in range(trunk):
        control[EDGES_DONE] += visited[PADDING * thread + SWEEP]
    _update_share(tree, shares, trunk)
    if player == MIN:
        update_gadget(tree, gadget)
        root_strategy(tree, gadget)


@kernel
def _wait(sync, tasks, desk, thread, patience):
    """Wait until tasks are done, and return NO_PART; a guest may end before: see `wait_as_guest`."""
    if thread > 0:
        return wait_as_guest(sync, tasks, desk, patience)
    wait_for(sync, tasks)
    return NO_PART


@kernel
def iterate_jointly(tree, gadget, shares, job, desk, thread, patience):
    """One thread's part of `solver.iterate`; it returns when all of it is done, whoever does it.

    The threads call it at a time. One that comes late, or not at all, delays no other. A guest ends
    early when a part of leaves is offered at the desk, or when it would have to sleep. Returns the
    part that it has taken, or NO_PART, or TIRED.

    job: a `JointJob`. thread: its number; the host's is 0. patience: looks of a guest that waits.
    """
    sync, visited, control = job.sync, job.visited, job.control
    trunk = shares.used.shape[0] - 1
    phase = 1
    done = 1
    if claim(sync, trunk, phase):
        _sweep_forward(tree, shares, trunk, MAX)
        finish(sync)
    part = _wait(sync, done, desk, thread, patience)
    if part != NO_PART:
        return part
    while control[LAST_PHASE] != phase:
        for player in (MAX, MIN):
            phase += 1
            done += trunk
            for turn in range(trunk):
                share = (thread + turn) % trunk
                if claim(sync, share, phase):
                    _sweep_forward(tree, shares, share, player)
                    edges = _sweep_backward(tree, gadget, shares, share, player)
                    visited[PADDING * share + SWEEP] = edges
                    visited[PADDING * share + ALL] += edges
                    finish(sync)
            part = _wait(sync, done, desk, thread, patience)
            if part != NO_PART:
                return part
            phase += 1
            done += trunk + 1
            if claim(sync, trunk, phase):
                _between_sweeps(tree, gadget, shares, player, visited, control)
                if player == MIN:
                    number = control[FIRST] + control[ITERATIONS_DONE]
                    _note_absent(tree, control[OWN], number, job.last_absent)
                    control[ITERATIONS_DONE] += 1
                    enough = control[ITERATIONS_DONE] >= control[MOST_ITERATIONS]
                    if enough or control[EDGES_DONE] >= control[MOST_EDGES]:
                        control[LAST_PHASE] = phase
                if control[LAST_PHASE] != phase:
                    _sweep_forward(tree, shares, trunk, MAX + MIN - player)
                finish(sync)
            for turn in range(trunk):
                share = (thread + turn) % trunk
                if claim(sync, share, phase):
                    _update_share(tree, shares, share)
                    finish(sync)
            part = _wait(sync, done, desk, thread, patience)
            if part != NO_PART:
                return part
    phase += 1
    done += trunk + 1
    for turn in range(trunk + 1):
        share = (thread + turn) % (trunk + 1)
        if claim(sync, share, phase):
            _write_sums(tree, shares, share)
            finish(sync)
    return _wait(sync, done, desk, thread, patience)


@kernel
def serve(tree, gadget, shares, job, desk, changes, thread):
    """Stand at the desk as a guest, and iterate with the others when the host does.

    changes: the desk's entry CHANGES when shares and job were made. Returns the number of a part of
    leaves, which is then the caller's to expand. Returns NO_PART if all is over, or if shares and
    job have changed.
    """
    most = shares.used.shape[0] - 2
    looks = 0
    patience = LOOKS
    while True:
        part = take_part(desk)
        if part != NO_PART or counted(desk, ENDED) or counted(desk, CHANGES) != changes:
            return part
        if enter(desk, changes, most):
            part = iterate_jointly(tree, gadget, shares, job, desk, thread, patience)
            leave(desk)
            if part >= 0:
                return part
            if part == TIRED:
                # With fewer cores than threads, who spins keeps others from their tasks.
                looks = max(looks, LOOKS)
                patience //= 2
            else:
                looks = 0
                patience = LOOKS
        looks = rest(looks)


@kernel
def settle(tree, shares, nodes):
    """Bring the reach and the values of the first nodes up to date, which sweeps leave behind."""
    for node in range(nodes):
        place = shares.place[node]
        tree.node_reach[node] = shares.reach[place]
        source = shares.parent_value[place]
        if source != NO_PARENT:
            tree.edge_value[tree.node_parent_edge[node]] = shares.values[source]


# A smaller tree is solved by one thread, and a thread more is used for as many edges more. An
# iteration then takes each thread some 10 µs, and meeting four times 1 or 2.
EDGES_PER_THREAD = 10_000
# Shares are made anew when the tree has grown by this, or when one thread has had so much more to
# do than the mean, but not more often than the making of shares pays.
GROWTH = 1.15
UNEVEN = 1.1
ITERATIONS_PER_SHARING = 100


class JointSolver:
    """Iterates on one tree by several threads, and gives its nodes to them.

    spare: a tree of the same capacities whose contents are not needed; its arrays hold the shares. As
    long as this object is in use, only it may iterate, and the tree may only grow.

    desk: where the threads stand that `help`.
    """

    def __init__(self, tree: Tree, spare: Tree, gadget: Gadget, threads: int) -> None:
        self.desk = new_desk()
        self._tree = tree
        self._spare = spare
        self._gadget = gadget
        self._most = min(threads, MOST_THREADS)
        self._shares: Shares | None = None
        self._threads = 1  # of the shares
        self._nodes = self._infosets = 0  # that have a place in the shares
        self._edges_shared = 0  # of the tree, when the shares were made
        self._iterations = 0  # since then
        self._uneven = False
        self._offer = 0, lend(spare, 1), new_job(1)  # for guests, with the desk's CHANGES

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
        shares, job = self._shares_for(wanted)
        job.sync[:] = 0
        job.visited[:] = 0
        job.control[:] = 0, 0, 0, max_iterations, max_edges, own_infoset, iteration
        job.last_absent[: len(last_absent)] = last_absent
        count(self.desk, OPENED, 1)
        iterate_jointly(self._tree, self._gadget, shares, job, self.desk, 0, 0)
        close_phases(self.desk)
        last_absent[:] = job.last_absent[: len(last_absent)]
        done = int(job.control[ITERATIONS_DONE])
        self._iterations += done
        work_done = job.visited[ALL::PADDING]
        self._uneven = work_done.max() > UNEVEN * work_done.mean()
        return done, int(job.control[EDGES_DONE])

    def help(self, thread: int) -> int:
        """Iterate when `iterate` does, until a part of leaves is offered at the desk, or all is over.

        Called in other threads than `iterate`. Returns the number of the part, which is the caller's
        to expand; NO_PART: it is over.
        """
        while True:
            changes, shares, job = self._offer
            part = int(serve(self._tree, self._gadget, shares, job, self.desk, changes, thread))
            if part != NO_PART or counted(self.desk, ENDED):
                return part

    def threads_for(self, edges: int) -> int:
        """How many threads iterate on a tree of `edges` edges."""
        if not COMPILED:
            return 1
        return max(1, min(self._most, edges // EDGES_PER_THREAD))

    def settle(self) -> None:
        """Bring all arrays of the tree up to date, and not only those that growing it needs."""
        if self._shares is not None:
            settle(self._tree, self._shares, self._nodes)

    def load(self) -> None:
        """Have the kernels compiled, or loaded, by sharing out the tree and not iterating."""
        if not COMPILED:
            return
        self._share_out(1)
        _, shares, job = self._offer
        self._add_nodes(shares)
        job.control[LAST_PHASE] = 1
        count(self.desk, OPENED, 1)
        iterate_jointly(self._tree, self._gadget, shares, job, self.desk, 0, 0)
        close_phases(self.desk)
        count(self.desk, ENDED, 1)
        self.help(1)
        self._drop_shares()

    # -- the shares ------------------------------------------------------------------------------

    def _shares_for(self, threads: int) -> tuple[Shares, JointJob]:
        """Shares for `threads` threads in which all nodes have a place, and their job."""
        shares = self._shares
        if shares is not None and threads == self._threads:
            grown = int(self._tree.counts[EDGES]) > GROWTH * self._edges_shared
            uneven = self._uneven and self._iterations >= ITERATIONS_PER_SHARING
            if not grown and not uneven and self._add_nodes(shares):
                return self._offer[1:]
        self._drop_shares()
        self._share_out(threads)
        return self._offer[1:]

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

    def _share_out(self, threads: int) -> None:
        """Make shares of equal work for `threads` threads."""
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
        self._offer = self._offer[0] + 1, shares, new_job(threads)
        count(self.desk, CHANGES, 1)

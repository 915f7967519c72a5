"""Trial: leaves of our infoset are valued by replies that were best in other histories of it."""

import numpy as np

from obscuro.evaluation.factory import unwrapped
from obscuro.kernels import kernel
from obscuro.rules.layout import MAX_MOVES, WORDS
from obscuro.rules.moves import generate_moves
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES
from obscuro.search.game import MAX
from obscuro.search.tree import LEAF, NODES, TERMINAL, find_infoset

DECIDED, MOST, DOUBT = 0.95, 0.3, 2.0
EVERY = 4  # batches
LEAST = 4  # expanded histories
KEPT = 4  # replies of an action at a time
LISTED = 8  # replies of an action at most


@kernel
def best_replies(tables, tree, edges, replies):
    """The best reply of ▼ below each of some expanded edges, int64[n]: uint32[n], 0 for none."""
    buffer = np.empty(MAX_MOVES, dtype=np.uint32)
    for i in range(edges.shape[0]):
        replies[i] = 0
        child = tree.edge_child[edges[i]]
        if tree.node_player[child] == MAX:
            continue
        first = tree.node_first_edge[child]
        best = 0
        for k in range(1, tree.node_edges[child]):
            if tree.edge_value[first + k] < tree.edge_value[first + best]:
                best = k
        generate_moves(tables, load(tree.edge_state, edges[i]), buffer)
        replies[i] = buffer[best]


class Replies:
    """The look at replies during one search."""

    def __init__(self, search):
        self.search = search
        self.calls = 0
        self.looked_at = 0
        self.ready = False

    def _set_up(self):
        tree = self.search.tree
        own = int(find_infoset(tree, self.search.our_key))
        if own < 0:
            return False
        nodes = np.flatnonzero(tree.node_infoset[: int(tree.counts[NODES])] == own)
        if len(nodes) < 2:
            return False
        count = int(tree.infoset_actions[own])
        self.edges = tree.node_first_edge[nodes][:, None].astype(np.int64) + np.arange(count)
        self.worst = np.full(self.edges.shape, np.inf, dtype=np.float32)
        self.looked = np.zeros(self.edges.shape, dtype=np.uint32)
        self.lists = [[] for _ in range(count)]
        self.static = tree.edge_static[self.edges]
        self.open = (tree.edge_status[self.edges] != TERMINAL) & (np.abs(self.static) <= DECIDED)
        evaluator = self.search.games[0].evaluator
        evaluator = unwrapped(evaluator)
        self.evaluator = evaluator if hasattr(evaluator, "reply_values") else None
        self.ready = True
        return True

    def look(self, share):
        self.calls += 1
        if not self.ready and not self._set_up():
            return
        if self.evaluator is None:
            return
        tree = self.search.tree
        child = tree.edge_child[self.edges]
        leaf = child == LEAF
        passed = ~leaf & (tree.node_new[np.where(leaf, 0, child)] == 0)
        learnt = np.clip(tree.edge_value[self.edges] - self.static, -MOST, MOST)
        counted = passed & self.open
        numbers = counted.sum(0)
        means = np.where(counted, learnt, 0).sum(0) / (numbers + DOUBT)
        if self.calls % EVERY == 0:
            self._evaluate(tree, counted, leaf & self.open, numbers)
        gain = self.worst - self.static
        known = np.isfinite(self.worst)
        shift = np.where(
            known,
            0.4 * means + 0.95 * np.minimum(gain, 0) + 0.1 * np.clip(gain, 0, 0.3),
            means,
        )
        target = leaf & self.open & (known | (numbers > 0))
        values = np.clip(self.static + share * shift, -DECIDED, DECIDED)
        tree.edge_value[self.edges[target]] = values[target]

    def _evaluate(self, tree, counted, leaf, numbers):
        positions, wanted, places = [], [], []
        for action in np.flatnonzero(numbers >= LEAST):
            rows = np.flatnonzero(counted[:, action])
            replies = np.zeros(len(rows), dtype=np.uint32)
            best_replies(TABLES, tree, self.edges[rows, action], replies)
            found, counts = np.unique(replies[replies != 0], return_counts=True)
            listed = self.lists[action]
            now = []
            for reply in found[np.argsort(-counts, kind="stable")[:KEPT]].tolist():
                if reply not in listed:
                    if len(listed) == LISTED:
                        continue
                    listed.append(reply)
                now.append(listed.index(reply))
            if not now:
                continue
            mask = np.uint32(sum(1 << i for i in now))
            todo = np.flatnonzero(leaf[:, action] & (self.looked[:, action] & mask != mask))
            for row in todo.tolist():
                have = int(self.looked[row, action])
                moves = [listed[i] for i in now if not have >> i & 1]
                wanted.append(moves + [0] * (KEPT - len(moves)))
                places.append((row, action))
            self.looked[todo, action] |= mask
        if not places:
            return
        rows, actions = np.array(places).T
        states = np.ascontiguousarray(tree.edge_state[self.edges[rows, actions]][:, :WORDS])
        values, done = self.evaluator.reply_values(states, np.array(wanted, dtype=np.uint32))
        least = np.where(np.isnan(values), np.inf, -values).min(1)
        self.worst[rows, actions] = np.minimum(self.worst[rows, actions], least)
        self.looked_at += int(done)
        self.search.progress.nodes += int(done)

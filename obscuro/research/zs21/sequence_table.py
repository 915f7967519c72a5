"""One player's infosets and sequences in a trunk.

A sequence is what a player has done so far. The first sequences are those of the trunk's roots: ▲'s
empty sequence, or one for each ▼-infoset J among which ▼ picks. Every infoset adds a sequence for
each of its actions.
"""

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


class SequenceTable:
    """The infosets of one player with their sequences, in the order in which they were found.

    roots: the number of sequences at the roots. size: the number of all sequences. The sequences
    of infoset i are first[i]:first[i] + degree[i]; parent[i] is the sequence before it.
    """

    def __init__(self, roots: int) -> None:
        self.roots = roots
        self.size = roots
        self._by_key: dict[int, int] = {}
        self._first: list[int] = []
        self._degree: list[int] = []
        self._parent: list[int] = []
        self._depth: list[int] = []

    def __len__(self) -> int:
        """The number of infosets."""
        return len(self._first)

    def find(self, keys: Integers, degrees: Integers, parents: Integers, depth: int) -> Integers:
        """Return the infosets of nodes int64[B] at one depth; infosets with new keys are added.

        keys: uint64[B]. degrees: int64[B], the numbers of actions. parents: int64[B], the player's
        last sequence at each node.
        """
        by_key = self._by_key
        found = np.empty(len(keys), dtype=np.int64)
        rows = zip(keys.tolist(), degrees.tolist(), parents.tolist(), strict=True)
        for node, (key, degree, parent) in enumerate(rows):
            infoset = by_key.get(key, -1)
            if infoset < 0:
                infoset = len(self._first)
                by_key[key] = infoset
                self._first.append(self.size)
                self._degree.append(degree)
                self._parent.append(parent)
                self._depth.append(depth)
                self.size += degree
            found[node] = infoset
        return found

    @property
    def first(self) -> Integers:
        """The first sequence of each infoset, int64[I]."""
        return np.array(self._first, dtype=np.int64)

    @property
    def degree(self) -> Integers:
        """The number of actions of each infoset, int64[I]."""
        return np.array(self._degree, dtype=np.int64)

    @property
    def parent(self) -> Integers:
        """The sequence before each infoset, int64[I]."""
        return np.array(self._parent, dtype=np.int64)

    @property
    def depth(self) -> Integers:
        """The plies from the roots to each infoset, int64[I]."""
        return np.array(self._depth, dtype=np.int64)

    def infoset_of(self) -> Integers:
        """The infoset of each sequence, int64[size]; -1 for those of the roots."""
        return np.concatenate(
            (
                np.full(self.roots, -1, dtype=np.int64),
                np.repeat(np.arange(len(self)), self.degree),
            )
        )

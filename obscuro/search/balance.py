"""The balance of solving and expanding, where different threads do them."""

from obscuro.search.parameters import BATCH, LEAST_SOLVING, SearchParameters


class Balance:
    """How many leaves may be expanded: as many as solving has paid for.

    parameters: have the price of a leaf. With two threads it is LEAST_SOLVING of that. most: so
    many leaves may be expanded before solving has begun, and when it is ahead.
    """

    def __init__(self, parameters: SearchParameters, threads: int, most: int) -> None:
        share = LEAST_SOLVING if threads == 2 else 1.0
        self._edges = share * parameters.edges_per_expansion
        self._iterations = share * parameters.iterations_per_expansion
        self._leaves = float(most)

    @property
    def leaves(self) -> int:
        """How many leaves may be selected now."""
        return max(0, int(self._leaves))

    def solved(self, iterations: int, edges: int, most: int) -> None:
        """Note what the solver has done. Whichever pays for more leaves counts, as in a turn."""
        paid = max(iterations / self._iterations, edges / self._edges)
        self._leaves = min(self._leaves + paid, most)

    def selected(self, batches: int) -> None:
        """Note that batches have been selected. One that is not full costs as much as others."""
        self._leaves -= batches * BATCH

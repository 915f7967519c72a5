"""ZS21's constants: those of K, and the shares of a turn's time."""

LEAST_ROOTS = 200
"""L: positions at the roots, if the belief holds as many (K, D.3)."""
INFORMATION_PRICE = 1e7
"""M: learning nothing costs |I| / M, each bit of information halves the price (K, D.3)."""
SUPPORT = 1e-7
"""A sequence that is less likely, given that its infoset is reached, is not played."""

CHUNK = 32
"""Leaves that are expanded between two looks at the clock."""
LEAST_BUILDS = 2.0
"""A round begins if there is time to build this number of programs like the last one.

HiGHS ends at the deadline, and the result is then that of the round before.
"""
SOLVING_TIME = 2.0
"""Expanding ends while there is time for this number of programs like the last one."""
ROUND_PACE = 2.0
"""A round expands for this number of times as long as its programs took to solve, ..."""
ROUND_SHARE = 0.1
"""... but at least for this share of the time that is left."""
PLANTING_SHARE = 0.3
"""Past this share of a turn's time no more roots are added."""
MOST_NODES = 2_000_000
"""A trunk with this number of nodes, half a gigabyte, is not expanded any more."""

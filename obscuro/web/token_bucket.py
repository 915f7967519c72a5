"""How often something may be done: so many at once, and so many a second in the long run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable


class TokenBucket:
    """Allows `burst` actions at once and `rate` actions a second. clock: seconds."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._tokens = burst
        self._since = clock()

    def take(self, tokens: float = 1.0) -> bool:
        """Return whether an action is allowed now; it then counts."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._since) * self._rate)
        self._since = now
        if self._tokens < tokens:
            return False
        self._tokens -= tokens
        return True


class BucketTable:
    """A bucket for each of many names, such as visitors; it forgets those not used for longest.

    most: how many are kept.
    """

    def __init__(
        self, burst: float, rate: float, clock: Callable[[], float], most: int = 10_000
    ) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._most = most
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Return whether this name may act now; it then counts."""
        bucket = self._buckets.pop(name, None)
        bucket = bucket or TokenBucket(self._burst, self._rate, self._clock)
        self._buckets[name] = bucket
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket.take()

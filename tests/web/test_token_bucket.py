"""How often something is allowed: at once, in the long run, and for each name by itself."""

from __future__ import annotations

from obscuro.web.token_bucket import BucketTable, TokenBucket


class Seconds:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    clock = Seconds()
    bucket = TokenBucket(3, 2, clock)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    clock.now = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock.now = 1000.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_names_do_not_share() -> None:
    table = BucketTable(1, 0, Seconds())
    assert [table.take(name) for name in ("a", "b", "a")] == [True, True, False]


def test_a_table_forgets_the_names_not_used_for_longest() -> None:
    table = BucketTable(1, 0, Seconds(), most=2)
    for name in ("a", "b", "c"):
        assert table.take(name)
    assert not table.take("c")
    assert table.take("a")

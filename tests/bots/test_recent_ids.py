"""A set of ids that forgets the oldest ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obscuro.bots.recent_ids import RecentIds


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef"))), st.integers(1, 4))
def test_it_holds_the_ids_added_last(steps: list[tuple[bool, str]], most: int) -> None:
    recent, expected = RecentIds(most), list[str]()
    for adds, name in steps:
        if adds:
            assert recent.add(name) == (name not in expected)
            expected = (expected if name in expected else [*expected, name])[-most:]
        else:
            recent.discard(name)
            expected = [each for each in expected if each != name]
        assert [each for each in "abcdef" if each in recent] == sorted(expected)

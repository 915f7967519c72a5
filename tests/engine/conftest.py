import pytest

from ..checked import check_every_subgame


@pytest.fixture(autouse=True)
def every_subgame_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    check_every_subgame(monkeypatch)

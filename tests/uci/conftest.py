"""Settings of the tests of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from obscuro.uci import uci
from tests.hanging import HANG_SECONDS


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Let a front end of this process leave by force only if it hangs, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("QUIT_SECONDS", "PATIENCE_SECONDS"):
            patch.setattr(uci, name, HANG_SECONDS)
        yield

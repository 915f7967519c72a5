"""The load test of the web server with few connections: nothing is lost, and nobody is sent away."""

from __future__ import annotations

import asyncio

import pytest

from tools.proofs import web_attack
from tools.proofs.web_attack import measure

PEOPLE, HOSTILE, ADDRESSES, SECONDS = 10, 100, 20, 15.0


@pytest.mark.slow
def test_people_play_on_among_hostile_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_attack, "SETTLE_SECONDS", 5.0)
    run = asyncio.run(measure(PEOPLE, HOSTILE, ADDRESSES, SECONDS))
    assert run["lost"] == []
    assert run["quiet"]["faults"] == run["attacked"]["faults"] == {}
    assert run["games"] >= PEOPLE
    assert run["attacked"]["waits"], "people play while the others attack"
    kinds = {text.partition(":")[0] for text in run["hostile_answers"]}
    assert kinds >= {"idle", "slow", "creations", "documents", "uploads", "floods"}

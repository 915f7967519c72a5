"""All scenarios, played one after the other on one stage."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tools.common import say
from tools.proofs.pychess.crashes import CRASHES, MUTE_SERVER
from tools.proofs.pychess.ordinary_games import ORDINARY_GAMES, TAKEBACKS
from tools.proofs.pychess.processes import PychessServer
from tools.proofs.pychess.stage import BOT, PEOPLE, Row, Scenario, Stage, play

SCENARIOS = (*ORDINARY_GAMES, *TAKEBACKS, *CRASHES)


def play_all(
    checkout: Path, interpreter: Path, scenarios: Sequence[Scenario], folder: Path
) -> list[Row]:
    """Play the scenarios; return those that were played before a Ctrl-C or SIGTERM.

    folder: where the processes write. Raises NotAsExpectedError if the server does not start.
    """
    token = secrets.token_urlsafe(24)
    server = PychessServer(checkout, interpreter, folder, token, BOT, PEOPLE)
    stage, rows = Stage(server, token, folder), []
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        say("the server starts")
        server.start()
        if MUTE_SERVER in scenarios:
            stage.bridge_on_mute_server.launch()  # it gives up after minutes
        for number, scenario in enumerate(scenarios, 1):
            say(f"=== {number} of {len(scenarios)}: {scenario.name}: {scenario.done}")
            rows.append(play(scenario, stage))
            passed = "passed" if rows[-1].passed else "NOT AS EXPECTED"
            say(f"    {passed}, {rows[-1].seconds:.0f} s: {rows[-1].happened}")
    except KeyboardInterrupt:
        say("interrupted")
    finally:
        stage.close()
        signal.signal(signal.SIGTERM, before)
    return rows


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt

"""The client of `obscuro analyse`, with the real process and with ones that misbehave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import msgspec
import psutil
import pytest

from obscuro.client import AnalysisClient, AnalysisQueryError, EngineError, analysis_command
from obscuro.client.analysis_messages import AnalysisPartial, AnalysisResult
from tests.docs.pages import ROOT
from tests.hanging import HANG_SECONDS
from tests.processes import is_running
from tests.queries.answers import QUICK

GAME = ["e2e4", "d7d5", "e4d5", "g8f6", "b1c3"]


@pytest.fixture(scope="module")
def client() -> Iterator[AnalysisClient]:
    with AnalysisClient(analysis_command(*QUICK, "--workers", "2", "--queue", "3")) as found:
        yield found
    assert not is_running(found.pid)


def test_it_analyses_a_game(client: AnalysisClient) -> None:
    results = client.analyse(moves=GAME, nodes=200)
    assert [result.ply for result in results] == [0, 1, 2, 3, 4, 5]
    assert {result.side for result in results} == {"white", "black"}
    assert results[0].belief.size == 1 and results[5].played is None
    assert results[1].played is not None and results[1].played.move == "d7d5"


def test_answers_come_as_they_are_found(client: AnalysisClient) -> None:
    running = client.query(id="mine", moves=GAME, nodes=200, side="white", report_every=0)
    answers = list(running)
    assert any(isinstance(answer, AnalysisPartial) for answer in answers)
    assert [answer.ply for answer in answers if isinstance(answer, AnalysisResult)] == [0, 2, 4]
    assert running.done is not None and running.done.results == 3
    assert list(running) == [], "all has been read"


def test_more_queries_than_the_queue_holds(client: AnalysisClient) -> None:
    queries = [{"moves": GAME[:number], "nodes": 20, "plies": [number]} for number in range(5)]
    found = client.analyse_all(queries * 2)
    assert [[result.ply for result in each] for each in found] == [[n] for n in range(5)] * 2
    assert client.version().queue == 3


def test_queries_are_terminated(client: AnalysisClient) -> None:
    long = client.query(moves=GAME, movetime=3_600_000, side="white")
    long.terminate()
    assert len(long.results()) <= 1
    assert long.done is not None and long.done.terminated
    others = [client.query(moves=GAME, movetime=3_600_000, side="white") for _ in range(3)]
    assert client.terminate_all() == 3
    assert all(len(each.results()) <= 1 for each in others)
    assert client.terminate("unknown") == 0


def test_a_query_that_is_refused_is_an_error_of_its_own(client: AnalysisClient) -> None:
    with pytest.raises(AnalysisQueryError, match="illegal move") as raised:
        client.analyse(id="bad", moves=["e2e5"], nodes=1)
    assert (raised.value.failure.field, raised.value.failure.id) == ("moves[0]", "bad")
    with pytest.raises(TypeError, match="no field node"):
        client.query(moves=[], node=1)
    with pytest.raises(msgspec.ValidationError, match="nodes"):
        client.query(moves=[], nodes="many")
    long = client.query(id="long", moves=GAME, movetime=3_600_000)
    with pytest.raises(ValueError, match="has not ended"):
        client.query(id="long", moves=[], nodes=1)
    long.terminate()
    assert len(long.results()) <= 2


def test_finish_answers_all_and_the_client_is_of_no_use_then() -> None:
    warnings: list[str] = []
    client = AnalysisClient(
        analysis_command("--option", "Evaluator=material"), on_warning=warnings.append
    )
    running = [client.query(moves=GAME, nodes=50, plies=[4]) for _ in range(3)]
    assert client.finish() == 0
    assert [len(each.results()) for each in running] == [1, 1, 1]
    with pytest.raises(EngineError, match="exit code 0"):
        client.analyse(moves=[], nodes=1)
    client.close()
    assert warnings == []


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "print('nonsense')"])
def test_a_process_that_ends_is_an_error(code: str) -> None:
    process = AnalysisClient([sys.executable, "-c", code])
    with process as client, pytest.raises(EngineError, match=r"has ended|about to end"):
        client.analyse(moves=[], nodes=1)


def test_a_program_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(EngineError, match="can't run no-such-program"):
        AnalysisClient(["no-such-program"])


OWNER = """
import sys
from obscuro.client import AnalysisClient, analysis_command
client = AnalysisClient(analysis_command("--workers", "1", *sys.argv[1:]))
running = client.query(moves=[], movetime=3_600_000, report_every=0)
next(iter(running))
print(client.pid, flush=True)
sys.stdin.read()
"""


def test_the_process_ends_with_the_program_that_started_it() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, *QUICK],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert owner.stdout is not None and owner.stdin is not None
    analysis = psutil.Process(int(owner.stdout.readline()))
    family = [analysis, *analysis.children()]
    assert len(family) == 2
    owner.kill()
    owner.wait(HANG_SECONDS)
    _, alive = psutil.wait_procs(family, HANG_SECONDS)
    assert alive == []
    owner.stdin.close()
    owner.stdout.close()

"""The service with engines that misbehave, and the order of its answers."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from obscuro.client.analysis_messages import AnalysisAnswer
from obscuro.client.engine import Engine
from obscuro.engine.options import Options
from obscuro.queries.analysis_service import AnalysisService
from obscuro.uci.channel import TOO_LONG
from tests.docs.pages import ROOT
from tests.hanging import HANG_SECONDS
from tests.queries.answers import checked

GAME = ["e2e4", "d7d5", "e4d5", "g8f6"]
CLOSED: Any = object()


class Service:
    """A service in threads of this process, with fake engines. made: its engines."""

    def __init__(self, file: Path, workers: int, most: int) -> None:
        self.made: list[Engine] = []
        self._lines: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._command = [sys.executable, "-m", "tests.client.fake_engine", str(file)]
        service = AnalysisService(
            Options(), workers=workers, queue=most, make=self._make, send=self._take
        )
        lines = iter(self._lines.get, CLOSED)
        self._thread = threading.Thread(target=lambda: service.run(lines, lambda: False))
        self._thread.start()

    def _make(self, warn: Callable[[str], None]) -> Engine:
        self.made.append(Engine(self._command, {}, on_warning=warn, any_variant=True))
        # The fake has few options; what the service sets is not what is tested here.
        self.made[-1].configure = lambda options: None  # type: ignore[method-assign]
        return self.made[-1]

    def _take(self, answer: AnalysisAnswer) -> None:
        self._answers.put(checked(msgspec.json.encode(answer)))

    def say(self, *requests: dict[str, Any] | str | None) -> None:
        for each in requests:
            self._lines.put(json.dumps(each) if isinstance(each, dict) else each)

    def hear(self) -> dict[str, Any]:
        """Return the next answer that is no warning; the fake warns at every start."""
        while (answer := self._answers.get(timeout=HANG_SECONDS))["type"] == "warning":
            assert answer["warning"].startswith("engine: ")
        return answer

    def wait_for_work(self, identifier: str) -> None:
        """Wait until a worker has this query: the fake warns as it gets ready for it."""
        answer = self._answers.get(timeout=HANG_SECONDS)
        assert (answer["type"], answer["id"]) == ("warning", identifier)

    def until(self, kind: str) -> list[dict[str, Any]]:
        answers = [self.hear()]
        while answers[-1]["type"] != kind:
            answers.append(self.hear())
        return answers

    def end(self) -> None:
        self._lines.put(CLOSED)
        self._thread.join(HANG_SECONDS)
        assert not self._thread.is_alive()
        assert all(engine.pid is None for engine in self.made)


Make = Callable[..., Service]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make a service; its engines behave as the words say, one after the other."""
    monkeypatch.chdir(ROOT)
    made: list[Service] = []

    def make(*behaviours: str, workers: int = 1, most: int = 100) -> Service:
        file = tmp_path / "behaviours"
        file.write_text("\n".join(behaviours))
        made.append(Service(file, workers, most))
        return made[-1]

    yield make
    for each in made:
        each.end()


def query(identifier: str = "a", **fields: Any) -> dict[str, Any]:
    return {"id": identifier, "moves": GAME, "nodes": 10, "positions": 1, **fields}


def plies(answers: list[dict[str, Any]]) -> list[int]:
    return [answer["ply"] for answer in answers if answer["type"] == "result"]


def test_one_worker_follows_one_side_and_then_the_other(service: Make) -> None:
    talk = service()
    talk.say(query())
    *answers, done = talk.until("done")
    assert plies(answers) == [0, 2, 4, 1, 3]
    assert done == {"type": "done", "id": "a", "results": 5, "errors": 0, "terminated": False}
    first = answers[0]
    assert first["belief"]["size"] == 2 and len(first["belief"]["positions"]) == 1
    assert first["marginals"]["even"]["king"] == [0.5] * 64
    assert first["played"]["move"] == "e2e4" and first["played"]["loss"] == 0
    assert first["coverage"] == {
        "belief": True, "infoset": None, "expanded": None, "weight": None
    }  # fmt: skip
    assert first["search"]["centipawns"] == 23
    assert answers[2]["played"] is None, "no move follows"


def test_the_other_sides_turn_has_a_belief_and_no_search(service: Make) -> None:
    talk = service()
    talk.say(query(side="white", plies=[0, 1], marginals=False))
    own, other, _ = talk.until("done")
    assert own["search"] is not None and own["marginals"] is None
    assert (other["ply"], other["search"], other["played"], other["coverage"]) == (
        1, None, None, None,
    )  # fmt: skip
    assert other["belief"]["size"] == 2


@pytest.mark.parametrize("behaviour", ["dead", "die", "close"])
def test_an_engine_that_fails_is_replaced(service: Make, behaviour: str) -> None:
    talk = service(behaviour)
    talk.say(query(side="white"))
    *answers, done = talk.until("done")
    assert plies(answers) == [0, 2, 4] and done["errors"] == 0


def test_a_turn_at_which_the_engine_fails_twice_is_an_error_and_the_rest_goes_on(
    service: Make,
) -> None:
    talk = service("die", "die")
    talk.say(query(side="white"))
    error, *answers, done = talk.until("done")
    assert (error["type"], error["id"], error["ply"]) == ("error", "a", 0)
    assert "the engine failed twice at ply 0" in error["error"] and "cheese" in error["error"]
    assert plies(answers) == [2, 4]
    assert (done["results"], done["errors"]) == (2, 1)


def test_terminate_ends_a_search_with_what_it_has(service: Make) -> None:
    talk = service("wait")
    talk.say(query(side="white"), query("b", side="white"))
    talk.wait_for_work("a")
    talk.say({"id": "t", "action": "terminate", "terminate_id": "a"})
    heard = [talk.hear() for _ in range(3)]
    (result,) = [answer for answer in heard if answer["type"] == "result"]
    assert (result["id"], result["ply"], result["terminated"]) == ("a", 0, True)
    (said,) = [answer for answer in heard if answer["type"] == "terminated"]
    assert said == {"type": "terminated", "id": "t", "terminate_id": "a", "queries": 1}
    (done,) = [answer for answer in heard if answer["type"] == "done"]
    assert done == {"type": "done", "id": "a", "results": 1, "errors": 0, "terminated": True}
    talk.wait_for_work("b")
    talk.say({"action": "terminate_all"})
    by_type = {answer["type"]: answer for answer in (talk.hear() for _ in range(3))}
    assert by_type["terminated"]["queries"] == 1
    assert by_type["result"]["terminated"]
    assert (by_type["done"]["id"], by_type["done"]["terminated"]) == ("b", True)
    talk.say(query("c", plies=[]), query("a", plies=[0]))
    talk.say({"action": "terminate", "terminate_id": "a"})
    assert talk.until("done")[-1]["id"] == "c", "a query after terminate is carried out"
    talk.until("done")


def test_a_query_of_an_id_that_is_held_is_refused_and_the_first_goes_on(service: Make) -> None:
    talk = service("wait")
    talk.say(query(side="white", plies=[0]), query())
    error = talk.hear()
    assert (error["type"], error["field"], error["id"]) == ("error", "id", "a")
    talk.say({"action": "terminate_all"})
    assert talk.until("done")[-1]["results"] <= 1


def test_a_full_queue_refuses_and_a_freed_one_takes_again(service: Make) -> None:
    talk = service("wait", most=2)
    talk.say(query("a", plies=[0]), query("b", plies=[0]), query("c", plies=[0]))
    error = talk.hear()
    assert (error["id"], error["field"]) == ("c", None)
    assert "the queue is full" in error["error"]
    talk.say({"action": "terminate_all"})
    ended = {answer["id"] for answer in talk.until("done") if answer["type"] == "done"}
    while ended != {"a", "b"}:
        ended |= {talk.until("done")[-1]["id"]}
    talk.say(query("c", side="white", plies=[1]))
    answers = talk.until("done")
    while answers[-1]["id"] != "c":
        answers = talk.until("done")
    assert answers[-1]["results"] == 1


def test_lines_in_error_end_nothing(service: Make) -> None:
    talk = service()
    talk.say("{", TOO_LONG, "", "   ", query(nodes=0), {"action": "dance"}, "\udcff")
    errors = [talk.hear() for _ in range(5)]
    assert [error["type"] for error in errors] == ["error"] * 5
    assert "longer than" in errors[1]["error"]
    assert (errors[2]["id"], errors[2]["field"]) == ("a", "nodes")
    talk.say({"id": "v", "action": "query_version"}, query(plies=[0]))
    version = talk.hear()
    assert (version["id"], version["schema"], version["workers"]) == ("v", 1, 1)
    assert talk.until("done")[-1]["results"] == 1


def test_the_end_of_the_input_waits_for_all_queries(service: Make) -> None:
    talk = service(workers=2)
    talk.say(*(query(f"q{number}") for number in range(5)), CLOSED)
    ended = set()
    while len(ended) < 5:
        ended.add(talk.until("done")[-1]["id"])
    assert ended == {f"q{number}" for number in range(5)}


def test_a_fault_of_ours_costs_a_turn_and_the_rest_goes_on(
    service: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("out of cheese")

    talk = service()
    with monkeypatch.context() as patch:
        patch.setattr("obscuro.queries.analysis_worker.analysed_belief", fail)
        talk.say(query("a", side="white", plies=[0]))
        error, done = talk.until("done")
    assert "out of cheese" in error["error"] and (error["id"], error["ply"]) == ("a", 0)
    assert (done["results"], done["errors"]) == (0, 1)
    talk.say(query("b", side="white"))
    assert talk.until("done")[-1]["results"] == 3

"""Evaluators that are plugged in: the example of the documentation, and what can go wrong."""

from __future__ import annotations

import re
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import Event

import chess
import numpy as np
import pytest

from obscuro.engine.options import OPTIONS, OptionError, Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation import plugins
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.factory import BUILT_IN, evaluator_names, make_evaluator
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.static import StaticEvaluator
from obscuro.rules.position import from_fen
from tests.evaluation.naive import by_move, game_boards, naive_children, words_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "evaluators.md"
POSITIONS = words_of([chess.Board()])


@pytest.fixture(autouse=True)
def nothing_plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_registered", {})
    monkeypatch.delenv(plugins.VARIABLE, raising=False)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of the documentation's example."""
    code = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
    assert len(code) == 1
    (tmp_path / "my_evaluator.py").write_text(code[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_evaluator", raising=False)
    return "my_evaluator"


def test_the_documented_example_plays(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.VARIABLE, f"other=nowhere:f, linear={example}:make")
    assert evaluator_names() == (*BUILT_IN, "linear", "other")
    options = Options()
    for name, value in (("Evaluator", "linear"), ("Threads", "1"), ("Hash", "64"), ("Seed", "1")):
        options.set(name, value)
    warnings: list[str] = []
    player = Player(options, warnings.append)
    player.new_game(0, from_fen(chess.STARTING_FEN))
    choice = player.search(GoLimits(time.monotonic(), nodes=2000), Event())
    assert choice.move in {move.uci() for move in chess.Board().legal_moves}
    assert choice.info is not None and choice.info.cache is not None
    assert [evaluator.name for evaluator in player.equipment.evaluators] == ["linear"]
    assert warnings == []
    player.close()


def test_the_documented_example_likes_what_it_says(
    example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(plugins.VARIABLE, f"linear={example}:make")
    evaluator = make_evaluator("linear")
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    for position in (board, board.mirror()):
        found = by_move(evaluator.evaluate(words_of([position])), 0)
        best = max(found, key=lambda move: found[move])
        assert best in ("e4d5", "e5d4")
        assert found[best][0] == pytest.approx(np.tanh((1 + 0.05 * 3 - 0 * 9) / 6), abs=0.05)
    evaluator.close()


def test_an_entry_point_makes_one_known(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("linear", f"{example}:make", plugins.GROUP),
        EntryPoint("not a name", "x:y", plugins.GROUP),
        EntryPoint("material", f"{example}:make", plugins.GROUP),  # ours stays ours
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    plugins._installed.cache_clear()
    try:
        assert evaluator_names() == (*BUILT_IN, "linear")
        assert isinstance(make_evaluator("material"), MaterialEvaluator)
        assert len(make_evaluator("linear").evaluate(POSITIONS).values) == 20
    finally:
        plugins._installed.cache_clear()


def test_registered_from_python_it_is_a_choice_of_the_option() -> None:
    option = next(option for option in OPTIONS if option.name == "Evaluator")
    assert "mine" not in option.uci()
    plugins.register("mine", lambda tau: StaticEvaluator("mine", lambda made: np.zeros(len(made))))
    assert option.uci().endswith("var stockfish var nnue var simple var material var mine")
    options = Options()
    options.set("Evaluator", "MINE")
    assert options.text("Evaluator") == "mine"
    with pytest.raises(ValueError, match="is not a valid name"):
        plugins.register("my own", MaterialEvaluator)


@pytest.mark.parametrize(
    "value", ["os:system", "my_evaluator:make", "linear=my_evaluator:make", ""]
)
def test_the_protocol_can_load_nothing(
    value: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OptionError):
        Options().set("Evaluator", value)
    with pytest.raises(ValueError, match="there is no evaluator"):
        make_evaluator(value)
    assert example not in sys.modules


@pytest.mark.parametrize(
    "target", ["nowhere:make", "os", "os:", "os:no_such_thing", "os:getcwd", "math:pi"]
)
def test_what_can_not_be_loaded_leads_to_material(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(plugins.VARIABLE, f"broken={target}")
    warnings: list[str] = []
    evaluator = make_evaluator("broken", on_warning=warnings.append)
    evaluator.start()
    assert evaluator.name == "material"
    assert len(evaluator.evaluate(POSITIONS).values) == 20
    assert len(warnings) == 1
    assert warnings[0].startswith("the evaluator broken failed: ")
    evaluator.forget()
    evaluator.close()


def changed(**fields: object) -> ChildValues:
    return MaterialEvaluator().evaluate(POSITIONS)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        changed(values=np.full(20, np.nan, dtype=np.float32)),
        changed(values=np.full(20, 1.5, dtype=np.float32)),
        changed(values=np.zeros(20)),
        changed(values=np.zeros(19, dtype=np.float32)),
        changed(moves=np.zeros(20, dtype=np.int64)),
        changed(offsets=np.zeros(1, dtype=np.int64)),
    ],
)
def test_what_makes_no_sense_is_a_failure(answer: object) -> None:
    class Wrong(MaterialEvaluator):
        def evaluate(self, positions: object) -> ChildValues:
            return answer  # type: ignore[return-value]

    checked = plugins.CheckedEvaluator("wrong", Wrong)
    with pytest.raises(EvaluatorFailed, match="the evaluator wrong failed"):
        checked.evaluate(POSITIONS)


def test_a_static_evaluator_is_asked_about_what_is_undecided_only() -> None:
    boards = game_boards(seed=31, count=60)
    asked: list[np.ndarray] = []

    def values(made: np.ndarray) -> np.ndarray:
        asked.append(made)
        return np.linspace(-2, 2, len(made))

    positions = words_of(boards)
    found = StaticEvaluator("mine", values).evaluate(positions)
    decided = expand(positions, find_mates=True)
    known = ~np.isnan(decided.values)
    np.testing.assert_array_equal(found.values[known], decided.values[known])
    np.testing.assert_array_equal(found.moves, decided.moves)
    np.testing.assert_array_equal(found.terminal, decided.terminal)
    made = [
        child.board
        for index, board in enumerate(boards)
        for move, child in sorted_children(found, index, board)
        if child.value is None
    ]
    np.testing.assert_array_equal(asked[0], words_of(made))
    expected = -np.clip(np.linspace(-2, 2, len(made)), -0.9999, 0.9999).astype(np.float32)
    np.testing.assert_array_equal(found.values[~known], expected)


def sorted_children(found, index, board):  # type: ignore[no-untyped-def]
    children = naive_children(board, find_mates=True)
    return [(move, children[move]) for move in by_move(found, index)]


def test_a_static_evaluator_of_the_wrong_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="were given values of shape"):
        StaticEvaluator("mine", lambda made: np.zeros((len(made), 1))).start()

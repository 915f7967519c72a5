"""A node plays only if it has the same obscuro."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from obscuro import __version__
from obscuro.matches.ray_seat import Installed, NodeFacts, alive_nodes, difference, make_inspector

HERE = Installed("1.0", "abc")


def test_only_nodes_that_are_alive_count() -> None:
    listed = [
        {"NodeID": "1", "NodeManagerAddress": "a", "Alive": True, "Resources": {"CPU": 7.0}},
        {"NodeID": "2", "NodeManagerAddress": "b", "Alive": False, "Resources": {"CPU": 8.0}},
        {"NodeID": "3", "NodeManagerAddress": "c", "Alive": True, "Resources": {}},
    ]
    assert alive_nodes(listed) == [NodeFacts("1", "a", 7.0), NodeFacts("3", "c", 0.0)]


@pytest.mark.parametrize(("cores", "games"), [(1, 7), (2, 3), (4, 1), (8, 0)])
def test_a_node_holds_as_many_games_as_it_has_cores_for(cores: int, games: int) -> None:
    assert NodeFacts("1", "a", 7.0).games(cores) == games


@pytest.mark.parametrize(
    ("there", "problem"),
    [
        (HERE, None),
        (Installed(None, ""), "node a has no obscuro in Ray's Python"),
        (Installed("0.9", "abc"), "node a has obscuro 0.9, and this machine 1.0"),
        (Installed("1.0", "abd"), "node a has another state of obscuro 1.0 than this machine"),
    ],
)
def test_what_differs_is_one_clear_line(there: Installed, problem: str | None) -> None:
    said = difference("a", there, HERE)
    if problem is None:
        assert said is None
    else:
        assert said is not None and said.startswith(problem) and "\n" not in said


def test_the_inspector_works_on_a_node_without_obscuro(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    sent = tmp_path / "inspector"
    sent.write_bytes(cloudpickle.dumps(make_inspector()))
    node = (
        "import sys; sys.modules['obscuro'] = None; import pickle, pathlib;"
        f"print(pickle.loads(pathlib.Path({str(sent)!r}).read_bytes())())"
    )
    told = subprocess.run([sys.executable, "-c", node], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "(None, '')"


def test_the_inspector_finds_this_package() -> None:
    version, digest = make_inspector()()
    assert version == __version__
    assert len(digest) == 16

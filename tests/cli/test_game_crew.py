"""`--ray` and `--cores-per-game` decide who plays the games."""

from __future__ import annotations

import pytest

from obscuro.cli.arguments import parse
from obscuro.cli.command_error import CommandError
from obscuro.cli.game_crew import crew_maker
from obscuro.cli.match_command import make_event
from obscuro.matches.event import Event
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.ray_workers import RayWorkers

MATCH = ["match", "obscuro", "random", "--games", "2", "--option-a", "Threads=2"]


def crew(*words: str) -> object:
    arguments = parse([*MATCH, *words])
    event: Event = make_event(arguments)
    return crew_maker(arguments, event)(1, print)


def test_without_an_address_this_machine_plays() -> None:
    assert isinstance(crew(), LocalWorkers)


def test_with_an_address_the_cluster_plays() -> None:
    assert isinstance(crew("--ray", "auto"), RayWorkers)
    assert isinstance(crew("--ray", "auto", "--cores-per-game", "4"), RayWorkers)


def test_an_address_that_is_none_is_refused_before_anything_is_written() -> None:
    with pytest.raises(CommandError, match="is not auto, local, HOST:PORT"):
        crew("--ray", "somewhere")


def test_cores_for_a_game_need_a_cluster() -> None:
    with pytest.raises(CommandError, match="--cores-per-game needs --ray"):
        crew("--cores-per-game", "2")


def test_a_player_with_more_threads_than_cores_is_refused() -> None:
    with pytest.raises(CommandError, match="obscuro has Threads 2, but a game has 1"):
        crew("--ray", "auto", "--cores-per-game", "1")

"""Who plays the games of an event: threads of this machine, or a Ray cluster (`--ray`)."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from obscuro.cli.command_error import CommandError
from obscuro.matches.event import Event
from obscuro.matches.game_workers import GameWorkers, LocalWorkers
from obscuro.matches.ray_workers import (
    ClusterError,
    RayWorkers,
    check_cores,
    check_ray,
    cores_of_a_game,
)

MakeWorkers = Callable[[int, Callable[[str], None]], GameWorkers]
"""Makes workers from the number of games at a time and a function for warnings."""


def crew_maker(arguments: argparse.Namespace, event: Event) -> MakeWorkers:
    """Return what makes the workers that the arguments ask for. Raises CommandError.

    arguments: those of a command with `--ray`. Without `--concurrency`, a cluster plays as many games
    at a time as it holds, whatever number the maker is given.
    """
    if arguments.ray is None:
        if arguments.cores_per_game is not None:
            raise CommandError("--cores-per-game needs --ray")
        return LocalWorkers
    address: str = arguments.ray
    cores: int = arguments.cores_per_game or cores_of_a_game(event.entrants)
    try:
        check_cores(event.entrants, cores)
        check_ray(address)
    except (ValueError, ClusterError) as error:
        raise CommandError(str(error)) from None

    def make(concurrency: int, warn: Callable[[str], None]) -> GameWorkers:
        return RayWorkers(address, cores, warn, most=arguments.concurrency)

    return make

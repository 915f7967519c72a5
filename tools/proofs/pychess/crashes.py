"""Scenarios of faults: the server or the bridge dies, is silent, or does not know us."""

from __future__ import annotations

import socket
import time

from tools.proofs.pychess.human import ANSWER_SECONDS, HumanGame
from tools.proofs.pychess.processes import BridgeProcess, stopped, until
from tools.proofs.pychess.stage import Scenario, Stage, expect, expect_match

SAVED_SECONDS = 1.0
"""By then the server's database is in its file."""
BACK_SECONDS = 60.0
"""The longest that the game may stand still after a restart: pauses between attempts, the engine."""
SILENCE_SECONDS = 35.0
"""Longer than the bridge trusts a silent stream."""


def _go_on(stage: Stage, game: HumanGame) -> str:
    """Play on, and return how far the game came."""
    game.exchange(2)
    plies = game.board["ply"]
    game.resign()
    said = stage.end_of(game.name)
    return f"the game went on to ply {plies}; the bridge: {said}"


def server_dies(stage: Stage, bots_turn: bool) -> str:
    """Kill the server in mid-game and start it again with its database."""
    game = stage.human().play("w", minutes=3, increment=0)
    game.exchange(2)
    if bots_turn:
        game.calm_move()
    ply = game.board["ply"]
    time.sleep(SAVED_SECONDS)
    stage.server.kill()
    stage.server.start()
    game.sit_down_again()
    expect(game.board["ply"] >= ply, f"the server forgot moves: ply {game.board['ply']}")
    if not bots_turn:
        game.calm_move()
    game.wait_for_turn(BACK_SECONDS)
    return _go_on(stage, game)


def server_forgets(stage: Stage) -> str:
    """Kill the server and start it without its database; then play another game."""
    game = stage.human().play("w")
    game.exchange(2)
    stage.server.kill()
    stage.server.forget()
    stage.server.start()
    line = stage.bridge.wait_for(rf"game {game.name}: the server does not let", BACK_SECONDS)
    other = stage.human().play("w")
    other.exchange(2)
    other.resign()
    stage.end_of(other.name)
    return f"the bridge: {line.partition(': ')[2]}; the next game was played"


def server_is_silent(stage: Stage) -> str:
    """Stop the server for a while on the bot's turn."""
    game = stage.human().play("w", minutes=3, increment=0)
    game.exchange(2)
    game.calm_move()
    with stopped(stage.server.child):
        time.sleep(SILENCE_SECONDS)
    game.sit_down_again()  # the server closes websockets that were silent
    game.wait_for_turn(BACK_SECONDS)
    return _go_on(stage, game)


def bridge_dies(stage: Stage, bots_turn: bool) -> str:
    """Kill the bridge in mid-game and start it again."""
    game = stage.human().play("w", minutes=3, increment=0)
    game.exchange(2)
    if bots_turn:
        game.calm_move()
    engines = stage.bridge.child.family()[1:]
    stage.bridge.kill()
    until(lambda: not any(each.is_running() for each in engines), 10.0, "the engines' end")
    if not bots_turn:
        game.calm_move()
    stage.bridge.start()
    game.wait_for_turn(BACK_SECONDS)
    return _go_on(stage, game)


def bridge_dies_early(stage: Stage, colour: str) -> str:
    """Kill the bridge before the first move of the game, and start it again."""
    human = stage.human()
    if colour == "b":
        name = human.challenge("b", minutes=3, increment=0)
        stage.bridge.wait_for(rf"challenge {name} .*accepted", ANSWER_SECONDS)
        stage.bridge.kill()
        game = human.sit_down(name, False)
        expect(game.board["ply"] == 0, "too late, the bot had moved")
    else:
        game = human.play("w", minutes=3, increment=0)
        stage.bridge.kill()
    stage.bridge.start()
    if colour == "w":
        game.calm_move()
    game.wait_for_turn(BACK_SECONDS)
    return _go_on(stage, game)


def ctrl_c(stage: Stage) -> str:
    """Press Ctrl-C once in mid-game."""
    game = stage.human().play("b")
    game.wait_for_turn()
    stage.bridge.interrupt()
    game.exchange(2)
    name = stage.human().challenge("w")
    line = stage.bridge.wait_for(rf"challenge {name} .*declined", ANSWER_SECONDS)
    game.resign()
    code = stage.bridge.child.wait(ANSWER_SECONDS)
    expect(code == 0, f"exit code {code}")
    return f"the game was played on, a challenge {line.partition(': ')[2]}; exit code 0"


def wrong_token(stage: Stage) -> str:
    """Start a bridge with a token that the server does not know."""
    other = stage.make_bridge(token="x" * 20)
    other.launch()
    code = other.child.wait(60.0)
    lines = other.child.said().strip().splitlines()
    expect(code == 1 and len(lines) == 1, f"exit code {code}: {' / '.join(lines)}")
    expect_match("^obscuro: .*token", lines[0])
    return f"exit code 1: {lines[0]}"


def nobody_there(stage: Stage) -> str:
    """Start a bridge where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # it does not listen, and nobody else can
        other = stage.make_bridge(url=f"http://127.0.0.1:{probe.getsockname()[1]}")
        other.launch()
        return _gives_up(other, 60.0)


def mute_server(stage: Stage) -> str:
    """Wait for the end of the bridge on the mute server, which was started at the beginning."""
    return _gives_up(stage.bridge_on_mute_server, 300.0)


def _gives_up(bridge: BridgeProcess, seconds: float) -> str:
    code = bridge.child.wait(seconds)
    tries, last = len(bridge.lines("trying again")), bridge.lines("")[-1]
    expect(code == 1, f"exit code {code}: {last}")
    expect_match("^obscuro: ", last)
    return f"{tries + 1} attempts, exit code 1: {last}"


def secret(stage: Stage) -> str:
    """Look for the token where others could read it."""
    game = stage.human().play("w")
    game.exchange()
    family = stage.bridge.child.family()
    expect(len(family) > 1, "the bridge has no engine")
    for each in family:
        expect(stage.token not in " ".join(each.cmdline()), f"{each.cmdline()} has the token")
    for each in family[1:]:
        expect(
            stage.token not in str(each.environ()), f"{each.cmdline()} has it in its environment"
        )
    files = [path for path in stage.folder.glob("bridge*/*") if path.is_file()]
    for path in files:
        expect(stage.token.encode() not in path.read_bytes(), f"{path.name} has the token")
    game.resign()
    stage.end_of(game.name)
    return f"not in {len(files)} files, {len(family)} command lines, {len(family) - 1} environments"


MUTE_SERVER = Scenario(
    "server without an answer",
    "a bridge where connections are taken and nothing is said",
    "some attempts, exit code 1",
    mute_server,
)
CRASHES = (
    Scenario(
        "server killed, human's turn",
        "SIGKILL, started again with its database",
        "the game goes on",
        lambda stage: server_dies(stage, bots_turn=False),
    ),
    Scenario(
        "server killed, bot's turn",
        "SIGKILL while the engine thinks, started again with its database",
        "the game goes on",
        lambda stage: server_dies(stage, bots_turn=True),
    ),
    Scenario(
        "server killed, games lost",
        "SIGKILL, started again with an empty database",
        "the bridge gives that game up and plays the next",
        server_forgets,
    ),
    Scenario(
        "server silent in mid-game",
        f"the server stands still for {SILENCE_SECONDS:g} s on the bot's turn",
        "the game goes on",
        server_is_silent,
    ),
    Scenario(
        "bridge killed, human's turn",
        "SIGKILL; the human moves; started again",
        "no engine is left; the game goes on",
        lambda stage: bridge_dies(stage, bots_turn=False),
    ),
    Scenario(
        "bridge killed, bot's turn",
        "SIGKILL while the engine thinks, started again",
        "no engine is left; the game goes on",
        lambda stage: bridge_dies(stage, bots_turn=True),
    ),
    Scenario(
        "bridge killed before move 1, bot as Black",
        "SIGKILL before the human's first move, started again",
        "the game goes on",
        lambda stage: bridge_dies_early(stage, "w"),
    ),
    Scenario(
        "bridge killed before move 1, bot as White",
        "SIGKILL between acceptance and the bot's first move, started again",
        "the bot makes the first move",
        lambda stage: bridge_dies_early(stage, "b"),
    ),
    Scenario(
        "Ctrl-C in mid-game",
        "one SIGINT; another challenge comes",
        "the game is played to its end, the challenge declined, exit code 0",
        ctrl_c,
    ),
    Scenario("the token", "processes and files are searched for it", "it is nowhere", secret),
    Scenario("wrong token", "a bridge with another token", "one line, exit code 1", wrong_token),
    Scenario(
        "no server", "a bridge where nothing listens", "some attempts, exit code 1", nobody_there
    ),
    MUTE_SERVER,
)

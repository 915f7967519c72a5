"""Scenarios of games as people play them: to the end, by every button of the board."""

from __future__ import annotations

import time

import chess

from tools.proofs.pychess.human import ANSWER_SECONDS, HumanGame
from tools.proofs.pychess.processes import FAREWELL, GREETING, until
from tools.proofs.pychess.stage import Scenario, Stage, expect, expect_match

SWALLOWED_SECONDS = 6.0
"""By then the engine has answered to a move that was taken back, and the server ignored it."""


def _go_on(stage: Stage, game: HumanGame) -> str:
    """Play on, and return how far the game came."""
    game.exchange(2)
    plies = game.board["ply"]
    game.resign()
    stage.end_of(game.name)
    return f"to ply {plies}"


def on_our_turn(stage: Stage, colour: str) -> str:
    """Take back the bot's move and our own on our turn; move otherwise."""
    game = stage.human().play(colour)
    game.wait_for_turn()
    game.exchange()
    game.wait_for_turn()
    uci = game.calm_move()
    game.wait_for_turn()
    before = game.board["ply"]
    ply = game.take_back()
    expect(ply == before - 2, f"the server went from ply {before} to {ply}")
    game.calm_move(avoid=uci)
    game.wait_for_turn()
    return f"the server went from ply {before} to {ply}; another move, and on {_go_on(stage, game)}"


def to_the_start(stage: Stage) -> str:
    """Take back the first move of each."""
    game = stage.human().play("w")
    uci = game.calm_move()
    game.wait_for_turn()
    ply = game.take_back()
    expect(ply == 0, f"the server is at ply {ply}")
    game.calm_move(avoid=uci)
    game.wait_for_turn()
    return f"back at ply 0; another move, and on {_go_on(stage, game)}"


def twice(stage: Stage) -> str:
    """Take back twice in a row."""
    game = stage.human().play("w")
    game.exchange(3)
    before = game.board["ply"]
    game.take_back()
    ply = game.take_back()
    expect(ply == before - 4, f"the server went from ply {before} to {ply}")
    game.calm_move(avoid="h2h3")
    game.wait_for_turn()
    return f"the server went from ply {before} to {ply}; another move, and on {_go_on(stage, game)}"


def while_thinking(stage: Stage, same: bool, pause: float) -> str:
    """Take back our move while the engine thinks about it; move again after a pause."""
    game = stage.human().play("w", minutes=1, increment=2)
    game.exchange(2)
    before = game.board["ply"]
    uci = game.calm_move()
    ply = game.take_back()
    expect(ply == before, f"too late, the bot had moved: ply {ply}")
    time.sleep(pause)
    expect(game.look()["ply"] == before, "the bot moved out of turn")
    if same:
        expect(game.move(uci), "the server does not take the same move again")
    else:
        game.calm_move(avoid=uci)
    game.wait_for_turn()
    what = "the same move" if same else "another move"
    return f"back at ply {ply}; {what}, answered; on {_go_on(stage, game)}"


TAKEBACKS = (
    Scenario(
        "takeback on the human's turn, bot as Black",
        "two plies are taken back, another move is made",
        "the bot answers it",
        lambda stage: on_our_turn(stage, "w"),
    ),
    Scenario(
        "takeback on the human's turn, bot as White",
        "two plies are taken back, another move is made",
        "the bot answers it",
        lambda stage: on_our_turn(stage, "b"),
    ),
    Scenario(
        "takeback to the start",
        "the first two plies are taken back, another move is made",
        "the bot answers it",
        to_the_start,
    ),
    Scenario(
        "two takebacks",
        "four plies are taken back in two steps, another move is made",
        "the bot answers it",
        twice,
    ),
    Scenario(
        "takeback while the engine thinks",
        "one ply is taken back and another move made at once",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=False, pause=0.0),
    ),
    Scenario(
        "takeback while the engine thinks, the same move",
        "one ply is taken back and the same move made at once",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=True, pause=0.0),
    ),
    Scenario(
        "late answer to a move taken back, another move",
        f"one ply is taken back; {SWALLOWED_SECONDS:g} s later, when the server has ignored the "
        "bot's move, another move is made",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=False, pause=SWALLOWED_SECONDS),
    ),
    Scenario(
        "late answer to a move taken back, the same move",
        f"one ply is taken back; {SWALLOWED_SECONDS:g} s later the same move is made again",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=True, pause=SWALLOWED_SECONDS),
    ),
)


LONGEST_GAME = 120
"""Plies after which the human resigns a whole game."""
NO_MOVE_NEXT = "7K/8/8/8/8/8/pp1p4/krbR4 w - - 0 1"
"""Black is shut in: if White's king moves, Black has no move."""


def whole_game(stage: Stage, colour: str) -> str:
    """Play at random until a king falls; both sides must agree about the winner."""
    game = stage.human().play(colour, minutes=0.25, increment=1)
    while not game.over and game.board["ply"] < LONGEST_GAME:
        until(lambda: game.our_turn or game.over, ANSWER_SECONDS, f"the bot's move in {game.name}")
        if not game.over:
            game.random_move()
    if not game.over:
        game.resign()
    result, plies = game.result, game.board["ply"]
    said = stage.end_of(game.name)
    won = "lost" if result.startswith(f"{'1-0' if colour == 'w' else '0-1'} ") else "won"
    expect(said.startswith("drawn" if "1/2" in result else won), f"{result}; the bridge: {said}")
    until(lambda: game.name in stage.bridge.games(), ANSWER_SECONDS, "the game's PGN")
    (kept,) = (each for each in stage.bridge.games().split("[Event ") if game.name in each)
    expect(f'[Result "{result.split()[0]}"]' in kept, f"{result}; the PGN: {kept}")
    return f"{result} after {plies} plies, in the PGN too; the bridge: {said}"


def human_resigns(stage: Stage) -> str:
    """Resign after a few moves."""
    game = stage.human().play("w")
    game.exchange(2)
    game.resign()
    said = stage.end_of(game.name)
    expect_match("^won", said)
    return f"{game.result}; the bridge: {said}"


def bot_resigns(stage: Stage) -> str:
    """Let a bridge play that takes every position for lost."""
    other = stage.make_bridge("--resign-score", "30000", "--resign-moves", "1")
    with stage.only(other):
        game = stage.human().play("w")
        game.wait_for_turn()
        game.calm_move()
        said = other.wait_for(rf"game {game.name}: lost", ANSWER_SECONDS)
        until(lambda: game.look()["status"] > -1, ANSWER_SECONDS, "the end on the server")
        result = game.result
    expect(result.startswith("1-0"), result)
    return f"{result}; the bridge: {said.partition(': ')[2]}"


def abort_by_human(stage: Stage) -> str:
    """Abort before the human has moved."""
    game = stage.human().play("b")
    game.wait_for_ply(1)
    game.send("abort")
    game.socket.wait("gameEnd")
    said = stage.end_of(game.name)
    expect_match("abort", game.result)
    return f"{game.result}; the bridge: {said}"


def abort_by_bot(stage: Stage) -> str:
    """Never begin."""
    game = stage.human().play("w")
    game.socket.wait("gameEnd", seconds=40.0)
    said = stage.end_of(game.name)
    expect_match("abort", game.result)
    expect_match("abort", said)
    return f"{game.result}; the bridge: {said}"


def out_of_time(stage: Stage) -> str:
    """Stop moving, and let the clock run out."""
    game = stage.human().play("w", minutes=0.25, increment=0)
    game.exchange(2)
    game.socket.wait("gameEnd", seconds=60.0)
    said = stage.end_of(game.name)
    expect(game.result == "0-1 time", game.result)
    expect_match("^won", said)
    return f"{game.result}; the bridge: {said}"


def rematch(stage: Stage) -> str:
    """Resign and ask for another game with the colours changed."""
    first = stage.human().play("w")
    first.exchange()
    first.resign()
    first.send("rematch", handicap=False)
    name = str(first.socket.wait("new_game")["gameId"])
    board = first.human.sit_down(name, chess.WHITE)
    colour = "WHITE" if board.our_turn else "BLACK"
    board.colour = board.our_turn
    if colour == "BLACK":
        board.wait_for_turn()
    board.exchange(2)
    plies = board.board["ply"]
    board.resign()
    stage.end_of(name)
    return f"the human plays {colour.lower()} in the next game; {plies} plies were played"


def draw_offer(stage: Stage) -> str:
    """Offer a draw; the server has no way to tell a bot of it."""
    game = stage.human().play("w")
    game.exchange()
    game.send("draw")
    game.socket.wait("draw_offer")
    game.calm_move()
    game.wait_for_turn()
    game.exchange()
    said = "refused" if _heard(game, "draw_rejected") else "not answered"
    plies = game.board["ply"]
    game.resign()
    stage.end_of(game.name)
    return f"the offer is {said}; the game went on to ply {plies}"


def chat(stage: Stage) -> str:
    """Say something in the chat of the game."""
    game = stage.human().play("w")
    game.exchange()
    game.send("roundchat", message='Hello! \u2654 {"type": "gameEnd"}', room="player")
    game.socket.wait("roundchat", lambda said: "Hello" in str(said.get("message")))
    game.exchange()
    game.resign()
    stage.end_of(game.name)
    until(lambda: FAREWELL in game.chat(), ANSWER_SECONDS, "the bot's farewell")
    expect(GREETING in game.chat(), f"the bot's greeting was not shown, only: {game.chat()}")
    return f"the game went on; the bot said: {', '.join(game.chat())}"


def more_time(stage: Stage) -> str:
    """Give the bot more time, on its turn and on ours."""
    game = stage.human().play("w")
    game.exchange()
    game.send("moretime")
    game.calm_move()
    game.send("moretime")
    game.wait_for_turn()
    game.exchange()
    game.resign()
    stage.end_of(game.name)
    return "the game went on"


def no_move(stage: Stage) -> str:
    """Leave the bot without a move: on this server that is a draw."""
    game = stage.human().play("w", fen=NO_MOVE_NEXT)
    game.wait_for_turn()
    expect(game.move("h8g8"), "the server does not take the move")
    until(lambda: game.over, ANSWER_SECONDS, "the end of the game")
    result, said = game.result, stage.end_of(game.name)
    expect(result.startswith("1/2"), result)
    expect_match("drawn", said)
    return f"{result}; the bridge: {said}"


def unwanted_challenge(stage: Stage) -> str:
    """Challenge for a game that is too fast."""
    human = stage.human()
    name = human.challenge("w", minutes=0.0, increment=1)
    line = stage.bridge.wait_for(rf"challenge {name} .*declined", ANSWER_SECONDS)
    page = human.page(f"/bot-challenge/{name}")
    expect("declined" in page, "the server does not tell the human")
    return f"{line.partition(': ')[2]}; the human's page says so"


def three_at_once(stage: Stage) -> str:
    """Challenge three times where two games are allowed at a time."""
    games = [stage.human().play("w"), stage.human().play("b")]
    name = stage.human().challenge("w")
    line = stage.bridge.wait_for(rf"challenge {name} .*declined", ANSWER_SECONDS)
    for game in games:
        game.exchange(2)
    for game in games:
        game.resign()
        stage.end_of(game.name)
    return f"the third: {line.partition(': ')[2]}; the other two were played"


def _heard(game: HumanGame, kind: str) -> bool:
    return any(said.get("type") == kind for said in game.socket.heard)


ORDINARY_GAMES = (
    Scenario(
        "whole game, bot as Black",
        "the human plays White at random, 15 s + 1 s, to the end",
        "server, bridge and its PGN agree about the result",
        lambda stage: whole_game(stage, "w"),
    ),
    Scenario(
        "whole game, bot as White",
        "the human plays Black at random, 15 s + 1 s, to the end",
        "server, bridge and its PGN agree about the result",
        lambda stage: whole_game(stage, "b"),
    ),
    Scenario(
        "resignation", "the human resigns after two moves", "the bridge knows it won", human_resigns
    ),
    Scenario(
        "the bot resigns",
        "a bridge with `--resign-score 30000 --resign-moves 1` gets to move",
        "the game is lost on the server, and the bridge knows",
        bot_resigns,
    ),
    Scenario("abort", "the human aborts at ply 1", "the bridge ends the game", abort_by_human),
    Scenario(
        "no first move",
        "the human does not begin; `--abort-after 12`",
        "the bridge aborts, and the human is told",
        abort_by_bot,
    ),
    Scenario(
        "time",
        "the human stops moving, 15 s",
        "server and bridge agree about the result",
        out_of_time,
    ),
    Scenario("rematch", "the human resigns and asks for a rematch", "the bot plays it", rematch),
    Scenario(
        "draw offer", "the human offers a draw after a move of each", "the game goes on", draw_offer
    ),
    Scenario(
        "chat",
        "the human writes in the chat; `--greeting`, `--farewell`",
        "the game goes on, and the human reads what the bot says",
        chat,
    ),
    Scenario("more time", "the human gives the bot time, twice", "the game goes on", more_time),
    Scenario(
        "no move",
        "the human leaves the bot without a move",
        "drawn, for server and bridge",
        no_move,
    ),
    Scenario(
        "too fast",
        "a challenge of 0 s + 1 s",
        "declined with a reason the human sees",
        unwanted_challenge,
    ),
    Scenario(
        "three at once",
        "three challenges; `--games 2`",
        "two are played, one is declined",
        three_at_once,
    ),
)

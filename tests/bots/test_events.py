"""Reading what servers say, of both dialects, and what makes no sense."""

from __future__ import annotations

from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.bots.bot_settings import Policy
from obscuro.bots.events import (
    Challenge,
    ChallengeGone,
    GameEnd,
    GameFull,
    GameStart,
    GameState,
    OpponentGone,
    Ping,
    ServerClock,
    parse_event,
    parse_game_event,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 1e308])
    | st.floats(allow_nan=True)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KEYS = [
    "id",
    "game",
    "challenge",
    "challenger",
    "variant",
    "timeControl",
    "state",
    "moves",
    "wtime",
    "winc",
    "status",
    "white",
    "initialFen",
    "claimWinInSeconds",
    "limit",
    "increment",
    "name",
]
TYPES = ["challenge", "gameStart", "gameFull", "gameState", "gameEnd", "opponentGone", "ping", "x"]


@given(
    st.sampled_from(TYPES),
    st.dictionaries(
        st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4)
    ),
)
def test_nothing_that_is_json_raises(kind: str, message: dict[str, Any]) -> None:
    parse_event({**message, "type": kind}, "me")
    parse_game_event({**message, "type": kind})


def test_a_challenge_of_lichess() -> None:
    challenge = {
        "id": "H9fIRZUk",
        "url": "https://lichess.org/H9fIRZUk",
        "status": "created",
        "challenger": {"id": "bot1", "name": "Bot1", "rating": 1500, "title": "BOT"},
        "destUser": {"id": "me", "name": "Me"},
        "variant": {"key": "fogOfWar", "name": "Fog of War", "short": "Fog"},
        "rated": True,
        "speed": "rapid",
        "timeControl": {"type": "clock", "limit": 600, "increment": 3, "show": "10+3"},
        "color": "random",
        "direction": "in",
    }
    expected = Challenge("H9fIRZUk", "Bot1", True, "fogofwar", False, True, ServerClock(600, 3))
    assert parse_event({"type": "challenge", "challenge": challenge}, "Me") == expected
    for ours in ({"direction": "out"}, {"challenger": {"id": "me"}}):
        event = parse_event({"type": "challenge", "challenge": {**challenge, **ours}}, "Me")
        assert isinstance(event, Challenge) and event.ours


def test_a_challenge_of_pychess() -> None:
    challenge = {
        "id": "abcd1234",
        "challenger": {"name": "Guest", "rating": 1500, "title": ""},
        "variant": {"key": "fogofwar"},
        "rated": "false",  # it has said it so
        "timeControl": {"type": "correspondence", "daysPerTurn": 2},
        "chess960": False,
        "level": 6,
    }
    expected = Challenge("abcd1234", "Guest", False, "fogofwar", False, False, None)
    assert parse_event({"type": "challenge", "challenge": challenge}, "Me") == expected


@pytest.mark.parametrize(
    ("message", "event"),
    [
        ({"type": "ping"}, Ping()),
        ({"type": "gameStart", "game": {"id": "a", "variant": {"key": "x"}}}, GameStart("a", "x")),
        ({"type": "gameStart", "game": {"fullId": "abc", "gameId": "a"}}, GameStart("a", "")),
        ({"type": "gameStart", "game": {}}, None),
        ({"type": "gameEnd", "game": {"id": "a"}}, GameEnd("a")),
        (
            {
                "type": "gameFinish",
                "game": {"gameId": "a", "status": {"id": 31, "name": "resign"}, "winner": "black"},
            },
            GameEnd("a", "resign", chess.BLACK),
        ),
        ({"type": "challengeCanceled", "challenge": {"id": "c"}}, ChallengeGone("c")),
        ({"type": "somethingNew", "game": {"id": "a"}}, None),
        ({}, None),
    ],
)
def test_other_events(message: dict[str, Any], event: object) -> None:
    assert parse_event(message, "me") == event


def test_a_game_of_lichess() -> None:
    full = parse_game_event(
        {
            "type": "gameFull",
            "id": "g",
            "variant": {"key": "fogOfWar", "name": "Fog of War"},
            "white": {"id": "me", "name": "Me", "title": "BOT"},
            "black": {"aiLevel": 3},
            "initialFen": "startpos",
            "state": {
                "type": "gameState",
                "moves": "e2e4 e7e5",
                "wtime": 59_000,
                "btime": 2_147_483_647,
                "winc": 2000,
                "binc": 0,
                "status": "resign",
                "winner": "white",
                "bdraw": True,
                "wtakeback": True,
            },
        }
    )
    assert isinstance(full, GameFull)
    assert (full.variant, full.start) == ("fogofwar", None)
    assert (full.color_of("ME"), full.color_of("you")) == (chess.WHITE, None)
    state = full.state
    assert state.moves == ("e2e4", "e7e5")
    assert (state.clock(chess.WHITE), state.clock(chess.BLACK), state.winc) == (59_000, None, 2000)
    assert state.over and state.winner == chess.WHITE
    assert state.offers_draw(chess.BLACK) and not state.offers_draw(chess.WHITE)
    assert state.asks_takeback(chess.WHITE)


def test_a_game_of_pychess() -> None:
    full = parse_game_event(
        {
            "type": "gameFull",
            "id": "g",
            "variant": {"name": "fogofwar"},
            "white": {"name": "You"},
            "black": {"name": "Me"},
            "initialFen": chess.STARTING_FEN,
            "createdAt": 1,
            "state": {"type": "gameState", "moves": "", "wtime": 60000, "btime": 60000, "winc": 3},
        }
    )
    assert isinstance(full, GameFull)
    assert (full.variant, full.start, full.color_of("me")) == ("fogofwar", None, chess.BLACK)
    assert full.state == GameState((), 60_000, 60_000, winc=3000)
    assert not full.state.over


def test_the_other_side_leaves() -> None:
    message = {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8}
    assert parse_game_event(message) == OpponentGone(True, 8.0)
    assert parse_game_event({"type": "opponentGone", "gone": False}) == OpponentGone(False, None)
    assert parse_game_event({"type": "chatLine", "text": "hello"}) is None


def test_what_others_choose_breaks_no_line_and_leads_nowhere() -> None:
    challenge = {"id": "a", "challenger": {"name": "x\ny\x1b[2J" + "z" * 100}}
    event = parse_event({"type": "challenge", "challenge": challenge}, "me")
    assert isinstance(event, Challenge)
    assert event.challenger.startswith("x?y?[2Jz") and len(event.challenger) == 60
    for bad in ("../../account", "a/b", "", "a b", "a" * 65, "é", 7):
        for kind, key in (("challenge", "challenge"), ("gameStart", "game"), ("gameEnd", "game")):
            assert parse_event({"type": kind, key: {"id": bad}}, "me") is None


HUGE = 10**400


@pytest.mark.parametrize("number", [HUGE, -HUGE, float("nan"), float("inf"), "60", [], True])
def test_a_time_that_cannot_be_read_is_too_slow(number: object) -> None:
    for time in ({"limit": number, "increment": 2}, {"limit": 60, "increment": number}):
        challenge = {
            "id": "a",
            "challenger": {"name": "x"},
            "variant": "fogofwar",
            "timeControl": {"type": "clock", **time},
        }
        event = parse_event({"type": "challenge", "challenge": challenge}, "me")
        assert isinstance(event, Challenge)
        for unlimited in (False, True):
            policy = Policy(most_base=1e9, most_increment=1e9, unlimited=unlimited)
            assert policy.judge(event, 0) == "tooSlow"


@pytest.mark.parametrize("number", [HUGE, float("nan"), float("inf"), "60", True])
def test_numbers_that_no_server_means_are_none(number: object) -> None:
    state = {"type": "gameState", "moves": "", "wtime": number, "btime": 5, "winc": number}
    assert parse_game_event(state) == GameState((), None, 5)
    gone = {"type": "opponentGone", "gone": True, "claimWinInSeconds": number}
    assert parse_game_event(gone) == OpponentGone(True, None)


def test_a_challenge_to_another_account_is_not_ours() -> None:
    challenge = {"id": "a", "challenger": {"name": "x"}, "destUser": {"id": "you", "name": "You"}}
    assert parse_event({"type": "challenge", "challenge": challenge}, "me") is None
    assert parse_event({"type": "challenge", "challenge": challenge}, "YOU") is not None
    challenge["destUser"] = {}
    assert parse_event({"type": "challenge", "challenge": challenge}, "me") is not None


@pytest.mark.parametrize(
    "said",
    [
        {"variant": {"key": "fogofwar"}, "chess960": True},
        {"variant": {"key": "fogofwar960"}},
        {"variant": "Fog of War 960"},
    ],
)
def test_chess960_is_a_flag_or_a_part_of_the_name(said: dict[str, Any]) -> None:
    event = parse_event({"type": "challenge", "challenge": {"id": "c", **said}}, "me")
    assert isinstance(event, Challenge)
    assert (event.variant, event.chess960) == ("fogofwar", True)
    full = parse_game_event({"type": "gameFull", "id": "g", **said})
    assert isinstance(full, GameFull)
    assert (full.variant, full.chess960) == ("fogofwar", True)

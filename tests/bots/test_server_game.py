"""One game as a state machine: single steps, then games in which everything goes wrong at once."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field, replace

import chess
import pytest

from obscuro.bots.bot_settings import GameSettings
from obscuro.bots.events import GameEnd, GameFull, GameState, OpponentGone, Ping
from obscuro.bots.game_end import LOOK_BACK_SECONDS
from obscuro.bots.game_messages import (
    Action,
    Ask,
    Connected,
    Disconnected,
    Finish,
    LookBack,
    Message,
    Missing,
    Note,
    Resync,
    Say,
    Send,
    Sent,
    StopThinking,
    Thought,
    Wait,
)
from obscuro.bots.game_turns import ECHO_SECONDS, FIRST_MOVE_MS, OVERDUE_LOOKS
from obscuro.bots.server_game import (
    MOST_IGNORED,
    MOST_UNREADABLE,
    RESIGNED,
    ServerGame,
)
from obscuro.client.engine import Think
from obscuro.rules.board import FogOfWarBoard
from tests.uci.games import turns_of

ME, YOU = frozenset({"me"}), frozenset({"you"})


def state(*moves: str, **values: object) -> GameState:
    clocks = {"wtime": 60_000, "btime": 60_000, "winc": 1000, "binc": 1000, "status": "started"}
    return GameState(moves, **{**clocks, **values})  # type: ignore[arg-type]


def full(*moves: str, bot: chess.Color = chess.WHITE, **values: object) -> GameFull:
    white, black = (ME, YOU) if bot == chess.WHITE else (YOU, ME)
    return GameFull("g", "fogofwar", white, black, None, state(*moves, **values))


class Play:
    """A game and its clock; says what is done, without the notes."""

    def __init__(self, settings: GameSettings | None = None) -> None:
        self.game = ServerGame("g", "Me", settings or GameSettings())
        self.now = 100.0

    def tell(self, *messages: Message) -> list[Action]:
        actions = [action for m in messages for action in self.game.handle(m, self.now)]
        return [action for action in actions if not isinstance(action, Note)]

    def begin(self, *moves: str, bot: chess.Color = chess.WHITE, **values: object) -> list[Action]:
        return self.tell(Connected(), full(*moves, bot=bot, **values))

    def think(self, *moves: str, **values: object) -> Think:
        (think,) = self.begin(*moves, **values)  # type: ignore[arg-type]
        assert isinstance(think, Think)
        return think


# -- single steps -----------------------------------------------------------------------------


def test_our_turn_is_thought_about_and_sent() -> None:
    play = Play()
    think = play.think()
    assert (think.position, think.since) == ("position fog white startpos turns", 100.0)
    assert play.tell(Thought(think.number, "e2e4", 20)) == [Send(think.number, "e2e4")]
    (wait,) = play.tell(Sent(think.number, "e2e4"))
    assert isinstance(wait, Wait) and " turns e2e4 " in wait.position
    assert play.tell(state("e2e4")) == [wait]
    (second,) = play.tell(state("e2e4", "e7e5"))
    assert isinstance(second, Think)
    assert second.position.split()[5:] == turns_of(chess.WHITE, ["e2e4", "e7e5"])


def test_a_state_before_the_whole_game_waits_for_it() -> None:
    play = Play()
    assert play.tell(Connected(), state("e2e4", "e7e5"), Ping()) == []
    (think,) = play.tell(full("e2e4", "e7e5"))
    assert isinstance(think, Think)


@pytest.mark.parametrize("again", [state("e2e4", "e7e5"), full("e2e4", "e7e5")])
def test_what_is_known_already_changes_nothing(again: Message) -> None:
    play = Play()
    think = play.think("e2e4", "e7e5")
    assert play.tell(again) == []
    assert play.tell(Thought(think.number, "g1f3")) == [Send(think.number, "g1f3")]
    assert play.tell(again) == []


def test_what_waited_while_nobody_listened_is_not_read() -> None:
    play = Play()
    think = play.think("e2e4", "e7e5")
    old = [Connected(), state("e2e4"), state("e2e4", "c7c5")]
    assert play.tell(*old, full("e2e4", "e7e5"), Ping()) == []
    assert play.tell(Thought(think.number, "g1f3")) == [Send(think.number, "g1f3")]


def test_an_answer_to_what_is_no_more_asked_is_not_sent() -> None:
    play = Play()
    think = play.think("e2e4", "e7e5")
    stopped, new = play.tell(
        state("e2e4", "e7e5", "d2d4", "a7a6")
    )  # somebody else has moved for us
    assert stopped == StopThinking() and isinstance(new, Think)
    assert play.tell(Thought(think.number, "g1f3")) == []
    assert play.tell(Sent(think.number, "g1f3", "no", True)) == []


def test_a_move_on_its_way_is_not_sent_twice_and_sent_again_when_lost() -> None:
    play = Play()
    think = play.think()
    play.tell(Thought(think.number, "e2e4"))
    assert play.tell(Connected(), full()) == []  # it is still on its way
    assert play.tell(Sent(think.number, "e2e4", "lost")) == [Resync()]
    assert play.tell(state()) == []  # it may have arrived, so it is not sent again
    assert play.tell(Connected(), full()) == []  # the server may have more to say
    assert play.tell(Ping()) == [Send(think.number, "e2e4")]


def sent(play: Play, *moves: str) -> str:
    """Make a move that the server takes; return the move."""
    think = play.think(*moves)
    move = {0: "e2e4", 2: "g1f3"}[len(moves)]
    play.tell(Thought(think.number, move), Sent(think.number, move))
    return move


def test_a_whole_game_written_before_our_move_arrived_is_asked_for_again() -> None:
    play = Play()
    sent(play)
    assert play.tell(Connected(), full()) == [Resync()]
    (wait,) = play.tell(Connected(), full("e2e4"))
    assert isinstance(wait, Wait)


def test_a_whole_game_told_before_our_move_arrived_waits_for_the_rest() -> None:
    play = Play()
    sent(play)
    play.tell(Connected(), full())
    stopped, *_ = play.tell(Connected(), full())
    assert stopped == StopThinking()
    (wait,) = play.tell(state("e2e4"))
    assert isinstance(wait, Wait)
    assert play.tell(Ping()) == [wait]


def test_a_server_that_has_lost_our_move_gets_it_again() -> None:
    play = Play()
    sent(play)
    assert play.tell(Connected(), full()) == [Resync()]
    play.tell(Connected(), full())
    ((send),) = play.tell(Ping())  # it has no more to say
    assert isinstance(send, Send) and send.move == "e2e4"


def test_a_server_that_ignores_our_move_without_end_is_left() -> None:
    play = Play()
    sent(play)
    for _ in range(MOST_IGNORED):
        assert play.tell(Connected(), full()) == [Resync()]
        play.tell(Connected(), full())
        ((send),) = play.tell(Ping())
        assert isinstance(send, Send)
        play.tell(Sent(send.number, send.move))
    (finish,) = play.tell(Connected(), full(), Connected(), full())[1:]
    assert isinstance(finish, Finish) and not finish.known


# -- moves that are not made, and moves that are taken back -------------------------------------


def test_a_move_that_the_stream_does_not_show_is_looked_for() -> None:
    play = Play()
    sent(play)
    assert play.tell(Ping()) == []  # it may be on its way
    play.now += ECHO_SECONDS
    assert play.tell(Ping()) == [Resync()]
    assert play.tell(Ping(), state("e2e4")) == []  # what the closed stream still says
    (wait,) = play.tell(Connected(), full("e2e4"))
    assert isinstance(wait, Wait)


def test_a_server_that_never_shows_our_moves_is_asked_once() -> None:
    play = Play()
    sent(play)
    play.now += ECHO_SECONDS
    assert play.tell(Ping(), Ping()) == [Resync()]
    play.tell(Connected(), full("e2e4"))
    (think,) = (a for a in play.tell(state("e2e4", "e7e5")) if isinstance(a, Think))
    play.tell(Thought(think.number, "g1f3"), Sent(think.number, "g1f3"))
    play.now += ECHO_SECONDS
    assert play.tell(Ping()) == []


def test_a_move_that_the_stream_shows_is_not_looked_for() -> None:
    play = Play()
    sent(play)
    play.tell(state("e2e4"))
    play.now += ECHO_SECONDS
    assert play.tell(Ping()) == []


@pytest.mark.parametrize(
    "after",
    [
        ("e2e4", "c7c5"),
        ("d2d4", "c7c5"),  # what we played before is not ours any more
        ("e2e4", "e7e5"),  # taken back and made again
        ("e2e4", "c7c5", "b1c3", "a7a6"),  # and a later position that we never saw
    ],
)
def test_moves_taken_back_on_the_other_sides_turn(after: tuple[str, ...]) -> None:
    play = Play()
    sent(play, "e2e4", "e7e5")
    play.tell(state("e2e4", "e7e5", "g1f3"), state("e2e4", "e7e5", "g1f3", "b8c6"))
    think = play.game._turn
    assert think is not None
    play.tell(Thought(think.number, "f1b5"), Sent(think.number, "f1b5"))
    play.tell(state("e2e4", "e7e5", "g1f3", "b8c6", "f1b5"))
    (new,) = play.tell(state(*after))
    assert isinstance(new, Think)
    assert new.position.split()[5:] == turns_of(chess.WHITE, list(after))
    assert play.tell(Thought(new.number, "b1c3")) == [Send(new.number, "b1c3")]


@pytest.mark.parametrize(
    "after", [("e2e4", "d7d5", "b1c3"), ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3"), ("d2d4",)]
)
def test_a_move_taken_back_while_we_think_drops_the_search(after: tuple[str, ...]) -> None:
    play = Play()
    (old,) = play.begin("e2e4", "d7d5", "e4d5", bot=chess.BLACK)
    assert isinstance(old, Think)
    stopped, new = play.tell(state(*after))
    assert stopped == StopThinking() and isinstance(new, Think)
    assert new.position.split()[5:] == turns_of(chess.BLACK, list(after))
    assert play.tell(Thought(old.number, "e7e5")) == []
    assert play.tell(Thought(new.number, "e7e6")) == [Send(new.number, "e7e6")]


@pytest.mark.parametrize("again", ["e2e4", "d2d4"])
def test_a_move_taken_back_leaves_the_search_if_we_see_the_same(again: str) -> None:
    play = Play()
    (think,) = play.begin("e2e4", bot=chess.BLACK)
    assert isinstance(think, Think)
    assert play.tell(state(again)) == []
    assert play.tell(Thought(think.number, "e7e5")) == [Send(think.number, "e7e5")]


def test_a_move_taken_back_before_our_answer_arrived_and_made_again() -> None:
    """The server answers 200 and does not make our move, since it is not our turn."""
    play = Play()
    (think,) = play.begin("e2e4", bot=chess.BLACK)
    assert isinstance(think, Think)
    play.tell(Thought(think.number, "e7e5"), Sent(think.number, "e7e5"))
    assert play.tell(state("e2e4")) == [Resync()]
    play.tell(Connected(), full("e2e4", bot=chess.BLACK))
    play.tell(Connected(), full("e2e4", bot=chess.BLACK))
    ((send),) = play.tell(Ping())
    assert isinstance(send, Send) and send.move == "e7e5"


def test_a_move_taken_back_before_our_answer_arrived_and_another_made() -> None:
    play = Play()
    (think,) = play.begin("e2e4", bot=chess.BLACK)
    assert isinstance(think, Think)
    play.tell(Thought(think.number, "e7e5"), Sent(think.number, "e7e5"))
    (new,) = play.tell(state("d2d4"))
    assert isinstance(new, Think)
    assert new.position.split()[5:] == turns_of(chess.BLACK, ["d2d4"])


def test_moves_taken_back_while_the_connection_is_lost() -> None:
    play = Play()
    think = play.think("e2e4", "e7e5")
    stopped, wait = play.tell(Connected(), full("e2e4"))
    assert stopped == StopThinking() and isinstance(wait, Wait)
    (new,) = play.tell(state("e2e4", "c7c5"))
    assert isinstance(new, Think)
    assert play.tell(Thought(think.number, "g1f3"), Thought(new.number, "g1f3")) == []
    assert play.tell(Ping()) == [Send(new.number, "g1f3")]  # nothing more was on its way


def test_scores_of_moves_taken_back_do_not_resign() -> None:
    play = Play(GameSettings(resign_score=-500, resign_moves=2))
    think = play.think()
    play.tell(Thought(think.number, "e2e4", -900), Sent(think.number, "e2e4"), state("e2e4"))
    (second,) = play.tell(state("d2d4", "e7e5"))
    assert isinstance(second, Think)
    (send,) = play.tell(Thought(second.number, "g1f3", -900))
    assert isinstance(send, Send)


def test_a_state_that_cannot_be_read_is_told_anew() -> None:
    play = Play()
    think = play.think("e2e4", "e7e5")
    assert play.tell(state("e2e4", "e7e5", "e4e5", "a7a6")) == [Resync()]
    assert play.tell(Connected(), full("e2e4", "e7e5"), Ping()) == []
    assert play.tell(Thought(think.number, "g1f3")) == [Send(think.number, "g1f3")]


# -- refusals ---------------------------------------------------------------------------------


def test_a_refused_move_is_replaced_if_it_is_still_our_turn() -> None:
    play = Play()
    think = play.think()
    play.tell(Thought(think.number, "e2e4"))
    assert play.tell(Sent(think.number, "e2e4", "400", True)) == [Resync()]
    (send,) = play.tell(Connected(), full(), Ping())
    assert isinstance(send, Send) and send.move != "e2e4"
    for _ in range(2):
        assert play.tell(Sent(send.number, send.move, "400", True)) == [Resync()]
        (send,) = play.tell(Connected(), full(), Ping())
    ask, say, finish = play.tell(Sent(send.number, send.move, "400", True))
    assert (ask, say) == (Ask("resign"), Say(RESIGNED)) and isinstance(finish, Finish)


def test_a_refused_move_is_forgotten_if_it_had_arrived() -> None:
    play = Play()
    think = play.think()
    play.tell(Thought(think.number, "e2e4"), Sent(think.number, "e2e4", "not your turn", True))
    (wait,) = play.tell(Connected(), full("e2e4"))
    assert isinstance(wait, Wait)


def test_an_end_that_comes_before_the_last_moves_waits_for_them() -> None:
    play = Play()
    play.think()
    assert play.tell(GameEnd("g", "resign", chess.WHITE)) == [StopThinking(), LookBack()]
    (finish,) = play.tell(Missing("no such game"))
    assert isinstance(finish, Finish) and str(finish.verdict) == "won: resign"


@pytest.mark.parametrize(
    ("message", "result"),
    [
        (state(status="resign", winner=chess.WHITE), "won: resign"),
        (state(status="outoftime", winner=chess.BLACK), "lost: outoftime"),
        (state(status="draw"), "drawn: draw"),
        (state(status="aborted"), "aborted"),
        (Missing("no such game"), "no such game"),
    ],
)
def test_the_end_of_a_game(message: Message, result: str) -> None:
    play = Play()
    play.think()
    stopped, finish = play.tell(message)
    assert stopped == StopThinking()
    assert isinstance(finish, Finish) and str(finish.verdict) == result
    assert play.tell(message, full()) == [] and play.game.finished


KING_TAKEN = ["e2e4", "f7f6", "d1h5", "a7a6", "h5e8"]


def verdict(actions: list[Action]) -> str:
    (finish,) = (action for action in actions if isinstance(action, Finish))
    return str(finish.verdict)


def test_a_captured_king_is_the_end_whatever_the_server_says() -> None:
    assert verdict(Play().begin(*KING_TAKEN)) == "won: king captured (the board shows it)"
    play = Play()
    think = play.think(*KING_TAKEN[:-1])
    play.tell(Thought(think.number, "h5e8"))
    assert play.tell(Sent(think.number, "h5e8")) == []  # it may not have been made
    assert verdict(play.tell(GameEnd())) == "won: king captured (the board shows it)"


def test_a_king_captured_by_a_move_that_was_not_made_is_no_end() -> None:
    play = Play()
    think = play.think(*KING_TAKEN[:-1])
    play.tell(Thought(think.number, "h5e8"), Sent(think.number, "h5e8"))
    (wait,) = play.tell(Connected(), full(*KING_TAKEN[:-2]))
    assert isinstance(wait, Wait)
    assert not play.game.finished


@pytest.mark.parametrize(
    ("known", "kept", "result"),
    [
        (KING_TAKEN[:-2], KING_TAKEN, "won: king captured (the board shows it)"),
        (["e2e4"], ["e2e4", "e7e5"], "aborted or resigned before the second move"),
        (
            ["e2e4", "e7e5", "g1f3"],
            ["e2e4", "e7e5", "g1f3"],
            "won: the other side resigned or left",
        ),
        (
            ["g1f3", "g8f6", "f3g1", "f6g8"] * 2,
            ["g1f3", "g8f6", "f3g1", "f6g8"] * 2,
            "drawn: repetition (the board shows it)",
        ),
        (["e2e4", "e7e5", "g1f3"], ["e2e4", "nonsense"], "won: the other side resigned or left"),
    ],
)
def test_an_end_without_a_result_is_read_from_the_whole_game(
    known: list[str], kept: list[str], result: str
) -> None:
    play = Play()
    play.begin(*known)
    ended = play.tell(GameEnd("g"))
    if LookBack() in ended:
        assert play.game.ended and not play.game.finished
        ended = play.tell(Disconnected(), Ping(), Connected(), state("a2a3"), full(*kept))
    assert verdict(ended).startswith(result)
    assert play.game.finished


def test_the_other_sides_capture_of_our_king_is_told_by_the_whole_game_only() -> None:
    play = Play()
    play.begin(*KING_TAKEN[:-1], bot=chess.BLACK)
    assert play.tell(GameEnd()) == [LookBack()]
    ended = play.tell(Connected(), full(*KING_TAKEN, bot=chess.BLACK))
    assert verdict(ended) == "lost: king captured (the board shows it)"


@pytest.mark.parametrize(("bot", "result"), [(chess.WHITE, "won"), (chess.BLACK, "lost")])
def test_an_end_after_the_time_has_run_out_is_by_time(bot: chess.Color, result: str) -> None:
    play = Play()
    play.begin("e2e4", "e7e5", "g1f3", bot=bot)
    play.now += 60
    play.tell(GameEnd())
    ended = play.tell(Connected(), full("e2e4", "e7e5", "g1f3", bot=bot))
    assert verdict(ended) == f"{result}: time (by our count of the clock)"


def test_an_end_as_our_move_is_on_its_way_is_not_called_a_win() -> None:
    play = Play()
    sent(play, "e2e4", "e7e5")
    play.tell(GameEnd())
    ended = play.tell(Connected(), full("e2e4", "e7e5"))
    assert verdict(ended).startswith("over as our move g1f3 was on its way")


def test_a_last_move_is_not_looked_for_without_end() -> None:
    play = Play()
    play.begin("e2e4", "e7e5", "g1f3")
    play.tell(GameEnd())
    play.now += LOOK_BACK_SECONDS
    assert play.tell(Disconnected()) == []
    play.now += 1
    assert verdict(play.tell(Disconnected())).startswith("won: the other side resigned or left")
    play = Play()
    play.begin("e2e4", "e7e5", "g1f3")
    play.tell(GameEnd())
    assert verdict(play.tell(Missing("404"))).startswith("won: the other side resigned or left")


def test_a_game_that_we_aborted_is_aborted() -> None:
    play = Play()
    play.begin(bot=chess.BLACK)
    play.now += 121
    assert play.tell(Ping()) == [Ask("abort")]
    play.tell(GameEnd())
    assert verdict(play.tell(Connected(), full(bot=chess.BLACK))) == "aborted"


@pytest.mark.parametrize(
    ("kept", "result"),
    [
        (KING_TAKEN, "won: king captured (the board shows it)"),
        (["e2e4", "e7e5", "g1f3"], "over while we were away"),
    ],
)
def test_a_game_that_ended_while_we_were_away_is_not_played(kept: list[str], result: str) -> None:
    play = Play()
    assert verdict(play.tell(Connected(), GameEnd(), full(*kept))) == result


# -- chat -------------------------------------------------------------------------------------

TALK = GameSettings(greeting="Hello", farewell="Bye")


def said(actions: list[Action]) -> list[str]:
    return [action.text for action in actions if isinstance(action, Say)]


def test_people_are_greeted_once_they_have_moved_and_told_goodbye() -> None:
    play = Play(TALK)
    assert said(play.begin("e2e4")) == []  # nobody may be looking yet
    assert said(play.tell(state("e2e4", "e7e5"))) == ["Hello"]
    again = (Connected(), full("e2e4", "e7e5"), state("d2d4", "e7e5"))
    assert said(play.tell(*again)) == []
    assert said(play.tell(state("e2e4", "e7e5", status="resign", winner=True))) == ["Bye"]
    assert said(Play(TALK).begin("e2e4", bot=chess.BLACK)) == ["Hello"]


def test_bots_and_games_that_go_on_are_not_greeted() -> None:
    play = Play(TALK)
    bots = replace(full(), bots=frozenset({chess.BLACK}))
    ended = state("e2e4", "e7e5", status="resign", winner=True)
    assert said(play.tell(Connected(), bots, state("e2e4", "e7e5"), ended)) == []
    assert said(Play(TALK).begin("e2e4", "e7e5")) == []
    play = Play(TALK)
    play.game = ServerGame("g", "Me", TALK, resumed=True)
    assert said(play.begin("e2e4", bot=chess.BLACK)) == []


def test_nothing_is_said_unless_it_was_asked_for() -> None:
    play = Play()
    assert said(play.begin("e2e4", bot=chess.BLACK)) == []
    assert said(play.tell(state(status="resign", winner=True))) == []


def test_an_aborted_game_needs_no_farewell() -> None:
    play = Play(TALK)
    play.begin()
    assert said(play.tell(state(status="aborted"))) == []


# -- games that are left ------------------------------------------------------------------------


def test_games_that_are_not_ours() -> None:
    play = Play()
    (finish,) = play.tell(Connected(), replace(full(), variant="atomic"))
    assert isinstance(finish, Finish) and "left alone" in str(finish.verdict)
    play = Play()
    (finish,) = play.tell(Connected(), replace(full(), white=frozenset({"x"})))
    assert isinstance(finish, Finish) and "left alone" in str(finish.verdict)


def test_a_game_that_cannot_be_followed_is_given_up() -> None:
    play = Play()
    ask, finish = play.tell(Connected(), replace(full(), start="8/8/8/8/8/8/8/8 w - - 0 1"))
    assert ask == Ask("abort") and isinstance(finish, Finish)
    play = Play()
    play.think("e2e4", "e7e5")
    wrong = full("e2e4", "e7e5", "e4e5", "a7a6")
    for _ in range(MOST_UNREADABLE):
        assert play.tell(Connected(), wrong) == [Resync()]
    *_, ask, say, finish = play.tell(Connected(), wrong)
    assert (ask, say) == (Ask("resign"), Say(RESIGNED)) and isinstance(finish, Finish)


# -- clocks -----------------------------------------------------------------------------------


def test_the_clock_of_our_turn() -> None:
    think = Play().think("e2e4", "e7e5", wtime=50_000, btime=40_000)
    assert (think.clocks, think.movetime) == ((50_000, 40_000, 1000, 1000), None)


def test_the_clock_runs_while_the_connection_is_lost() -> None:
    """pychess.org says the clock as it was when the turn began."""
    play = Play()
    first = play.think("e2e4", "e7e5")
    play.now += 20
    assert play.tell(Connected(), full("e2e4", "e7e5")) == []  # the search goes on, by its clock
    assert first.since == 100.0


@pytest.mark.parametrize(("clock", "movetime"), [(60_000, 3000), (3_600_000, FIRST_MOVE_MS)])
def test_the_first_move_is_made_early(clock: int, movetime: int) -> None:
    assert Play().think(wtime=clock).movetime == movetime
    assert Play().think("e2e4", bot=chess.BLACK, btime=clock).movetime == movetime


def test_where_there_is_no_clock() -> None:
    think = Play(GameSettings(movetime=5)).think("e2e4", "e7e5", wtime=None, btime=None)
    assert (think.clocks, think.movetime) == (None, 5)


def test_a_first_move_that_never_comes() -> None:
    play = Play()
    play.begin(bot=chess.BLACK)
    play.now += 119
    assert play.tell(Ping()) == []
    play.now += 2
    assert play.tell(Ping(), Ping()) == [Ask("abort")]


def test_an_opponent_who_is_overdue_is_looked_after_and_then_given_up() -> None:
    play = Play()
    play.begin("e2e4", "e7e5", "g1f3")
    play.now += 60 + 59
    assert play.tell(Ping()) == []
    for _ in range(OVERDUE_LOOKS):
        play.now += 61
        assert play.tell(Ping(), Connected(), full("e2e4", "e7e5", "g1f3"))[0] == Resync()
    play.now += 61
    (finish,) = play.tell(Ping())
    assert isinstance(finish, Finish) and not finish.known


def test_a_win_is_claimed_when_it_may_be() -> None:
    play = Play()
    play.begin("e2e4", "e7e5", "g1f3")
    assert play.tell(OpponentGone(True, 5.0)) == []
    play.now += 6
    assert play.tell(Ping(), Ping()) == [Ask("claim-victory")]
    play.tell(OpponentGone(True, 5.0), OpponentGone(False, None))
    play.now += 6
    assert play.tell(Ping()) == []


# -- offers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "score", "answer"),
    [
        (GameSettings(draw_plies=0), -150, "draw/yes"),
        (GameSettings(draw_plies=0), -50, "draw/no"),
        (GameSettings(draw_plies=10), -150, "draw/no"),
        (GameSettings(draw_plies=0, draw_score=None), -9000, "draw/no"),
    ],
)
def test_draw_offers(settings: GameSettings, score: int, answer: str) -> None:
    play = Play(settings)
    think = play.think()
    play.tell(Thought(think.number, "e2e4", score), Sent(think.number, "e2e4"))
    offer = state("e2e4", bdraw=True)
    assert [a for a in play.tell(offer, offer) if isinstance(a, Ask)] == [Ask(answer)]
    again = play.tell(state("e2e4", "e7e5", bdraw=True))
    assert Ask(answer) in again  # a new offer, one ply later


def test_our_own_offer_is_none_of_theirs_and_takebacks_are_refused() -> None:
    play = Play()
    assert not [a for a in play.begin("e2e4", wdraw=True) if isinstance(a, Ask)]
    assert Ask("takeback/no") in play.tell(state("e2e4", btakeback=True))


def test_resigning() -> None:
    play = Play(GameSettings(resign_score=-500, resign_moves=2))
    think = play.think()
    play.tell(Thought(think.number, "e2e4", -900), Sent(think.number, "e2e4"))
    (think,) = (a for a in play.tell(state("e2e4", "e7e5")) if isinstance(a, Think))
    ask, say, finish = play.tell(Thought(think.number, "g1f3", -501))
    assert (ask, say) == (Ask("resign"), Say(RESIGNED)) and isinstance(finish, Finish)


# -- everything at once -------------------------------------------------------------------------


@dataclass
class World:
    """A server, a network and an engine, for one game: all that happens, happens by chance.

    echoes: whether the server sends our own moves back. kind: whether it makes no move of ours out
    of turn and says nothing (pychess), or refuses it (lichess); whether moves can be taken back
    without a word; whether the end comes without the last move. truth: the game as it has it.
    """

    rng: random.Random
    bot: chess.Color
    echoes: bool
    kind: str = "lichess"
    truth: FogOfWarBoard = field(default_factory=FogOfWarBoard)
    stream: deque[Message] = field(default_factory=deque)  # what is on its way to us
    thinking: list[Think] = field(default_factory=list)
    sending: list[Send] = field(default_factory=list)
    answers: list[Message] = field(default_factory=list)
    positions: set[str] = field(default_factory=set)  # those in which it was our turn
    finish: Finish | None = None
    takebacks: int = 0

    def __post_init__(self) -> None:
        self.play = Play()
        self.changed()
        self.connect()

    @property
    def moves(self) -> list[str]:
        return [move.uci() for move in self.truth.move_stack]

    @property
    def over(self) -> bool:
        return self.truth.is_variant_end()

    def changed(self) -> None:
        if self.truth.turn == self.bot:
            turns = " ".join(turns_of(self.bot, self.moves))
            position = f"position fog {chess.COLOR_NAMES[self.bot]} startpos"
            self.positions.add(f"{position} turns {turns}".rstrip())

    def connect(self) -> None:
        """Open the stream anew. What was on its way is lost, or it waited and comes first."""
        waited = [m for m in self.stream if not isinstance(m, Connected)]
        self.stream.clear()
        self.stream.append(Connected())
        if self.kind == "pychess" and self.rng.random() < 0.5:
            self.stream += waited[1:]
        self.stream.append(full(*self.moves, bot=self.bot))

    def step(self) -> None:
        self.play.now += 0.2
        things = ["deliver"] * 4 + ["drop"]
        things += ["think"] * 2 if self.thinking else []
        things += ["send"] * 2 if self.sending else []
        things += ["answer"] * 2 if self.answers else []
        if self.truth.turn != self.bot and not self.over:
            things.append("other")
        if self.kind == "pychess" and len(self.moves) >= 2 and self.takebacks < 8 and not self.over:
            things.append("take_back")
        getattr(self, self.rng.choice(things))()

    def hear(self, message: Message) -> None:
        for action in self.play.tell(message):
            self.do(action)

    def do(self, action: Action) -> None:
        match action:
            case Think():
                assert action.position in self.positions
                self.thinking, self.sending = [action], []
            case Wait() | StopThinking():
                self.thinking, self.sending = [], []
            case Send():
                self.sending = [action]
            case Resync() | LookBack():
                self.connect()
            case Finish():
                self.finish = action
            case Ask():
                raise AssertionError(action)

    def deliver(self) -> None:
        self.hear(self.stream.popleft() if self.stream else Ping())

    def drop(self) -> None:
        if self.rng.random() < 0.3:
            self.connect()

    def think(self) -> None:
        think = self.thinking.pop()
        self.hear(Thought(think.number, self.rng.choice(think.moves), 0))

    def send(self) -> None:
        """Our move arrives, or it doesn't; and so does the answer."""
        send = self.sending.pop()
        lost = Sent(send.number, send.move, "timed out")
        answer: Message = Sent(send.number, send.move)
        view = self.play.game.view
        assert view is not None
        if self.rng.random() < 0.2:
            answer = lost
        elif self.truth.turn != self.bot or self.over:
            if self.kind == "lichess":
                answer = Sent(send.number, send.move, "not your turn", True)
        elif self.takebacks and self.stream and list(view.moves) != self.moves:
            answer = lost  # it would be made in another position; nobody could help that
        else:
            assert list(view.moves) == self.moves
            self.make(send.move)
        self.answers.append(lost if self.rng.random() < 0.2 else answer)

    def answer(self) -> None:
        self.hear(self.answers.pop(0))

    def other(self) -> None:
        self.make(self.rng.choice(sorted(map(str, self.truth.legal_moves))))

    def make(self, move: str) -> None:
        ours = self.truth.turn == self.bot
        assert move in map(str, self.truth.legal_moves)
        self.truth.push_uci(move)
        self.changed()
        if self.over and self.kind == "pychess":
            self.stream.append(GameEnd())
        elif self.echoes or not ours:
            self.stream.append(state(*self.moves))

    def take_back(self) -> None:
        for _ in range(2 if self.truth.turn != self.bot else 1):
            self.truth.pop()
        self.changed()
        self.takebacks += 1


@pytest.mark.parametrize(
    ("kind", "echoes"), [("lichess", True), ("lichess", False), ("pychess", True)]
)
@pytest.mark.parametrize("seed", range(6))
def test_a_game_survives_everything(seed: int, kind: str, echoes: bool) -> None:
    world = World(random.Random(seed), seed % 2 == 0, echoes, kind)
    steps = 0
    while world.finish is None and len(world.moves) < 60:
        world.step()
        steps += 1
        assert steps < 20_000, "it doesn't get on"
    if world.finish is not None:
        won = world.truth.turn != world.bot
        assert world.over, world.finish
        assert str(world.finish.verdict).startswith("won" if won else "lost")

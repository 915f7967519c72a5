"""The table of the players, and the front end with each of them."""

from __future__ import annotations

import pytest

from obscuro.cli.main import uci
from obscuro.engine.options import Option
from obscuro.installation import how_to_add
from obscuro.matches.builtin_players import check_entrant
from obscuro.matches.event import Entrant
from obscuro.players.roster import PLAYERS, player_kind
from tests.uci.dialogue import InProcess

ERROR = "info string error "
SMALL = {
    "Threads": "1",
    "Hash": "16",
    "Evaluator": "material",
    "Seed": "1",
}
"""Options for tests, where a player has them."""


class Talk(InProcess):
    """The front end of a player in a thread of this process."""

    def __init__(self, name: str) -> None:
        kind = player_kind(name)
        super().__init__(kind)
        names = {option.name for option in kind.options}
        self.say(*(f"setoption name {n} value {v}" for n, v in SMALL.items() if n in names))

    def best(self, *lines: str) -> str:
        self.say(*lines)
        return self.until("bestmove")[-1].split()[1]


def talks(names: tuple[str, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", names)


@talks(tuple(PLAYERS))
def test_a_player_introduces_itself_with_the_options_that_it_has(name: str) -> None:
    talk = Talk(name)
    talk.say("uci")
    lines = talk.until("uciok")
    own = "Obscuro " if name == "obscuro" else f"Obscuro {name} "
    assert lines[0].startswith(f"id name {own}")
    assert lines[2] == f"info string capabilities {' '.join(PLAYERS[name].capabilities)}"
    assert lines[3:-1] == [option.uci() for option in PLAYERS[name].options]
    assert "option name UCI_Variant type combo default fogofwar var fogofwar" in lines
    talk.leave()


@talks(tuple(PLAYERS))
def test_a_player_plays_by_both_forms_of_position(name: str) -> None:
    talk = Talk(name)
    talk.ask()
    moves = talk.best("position startpos moves e2e4 d7d5", "go nodes 50")
    assert talk.best("position fen 8/8/8/8/8/k7/8/K6r w - -", "go nodes 50") in (
        "a1a2",
        "a1b1",
        "a1b2",
    )
    fog = "position fog white startpos turns e2e4 - ********/********/1*******/*1*p1**1/4P3/4*3/"
    assert talk.best(f"{fog}PPPP1PPP/RNBQKBNR", "go nodes 50")
    assert len(moves) == 4
    talk.leave()
    assert not [line for line in talk.heard if line.startswith(ERROR)]


@talks(tuple(PLAYERS))
def test_an_option_of_another_player_is_an_error(name: str) -> None:
    names = {option.name for option in PLAYERS[name].options}
    others: set[Option] = {option for kind in PLAYERS.values() for option in kind.options}
    talk = Talk(name)
    for option in sorted({option.name for option in others} - names):
        talk.say(f"setoption name {option} value 1")
        assert talk.hear() == f"{ERROR}no such option: '{option}'"
    talk.leave()


def test_an_unknown_player_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"no player 'nobody'; there are obscuro, random"):
        player_kind("nobody")


@talks(("random",))
def test_a_player_without_a_belief_says_so(name: str) -> None:
    talk = Talk(name)
    assert talk.ask("belief") == [f"{ERROR}belief: the player {name} keeps no belief"]
    talk.best("position startpos", "go nodes 1")
    said = talk.ask("coverage 8/8/8/8/8/k7/8/K6r w - -")
    assert said == [f"{ERROR}coverage: the player {name} keeps no belief"]
    lines = talk.ask("d")
    assert lines[-1].startswith("fog fen ") and not any("belief" in line for line in lines)
    talk.leave()


def test_a_player_without_its_package_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"zs21 needs highspy; run: {how_to_add('zs21')}"
    monkeypatch.setattr("obscuro.engine.player_kind.find_spec", lambda name: None)
    assert PLAYERS["zs21"].lack == said
    assert PLAYERS["depth1"].lack is None
    assert uci(None, "zs21") == 1
    assert capsys.readouterr().err == f"obscuro: {said}\n"
    with pytest.raises(ValueError, match="zs21 needs highspy"):
        check_entrant(Entrant("zs21", "zs21"))

"""Tournament files: what they ask for, one clear line for every mistake, and those of the docs."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.openings import PLAIN, default_openings
from obscuro.matches.play_event import play_event
from obscuro.matches.rating import Anchor
from obscuro.matches.report_page import report_html
from obscuro.matches.standings import Standings
from obscuro.matches.time_control import TimeControl
from obscuro.matches.tournament_file import (
    FILE_KEYS,
    PLAYER_KEYS,
    TournamentFile,
    TournamentFileError,
    parse_tournament,
    read_tournament,
)
from tests.docs.pages import ROOT

PATH = Path("cup.toml")
TWO = """
[[player]]
name = "one"
player = "random"
[[player]]
name = "two"
player = "random"
"""


def parsed(text: str) -> TournamentFile:
    return parse_tournament(text, PATH)


def names(text: str) -> list[str]:
    return [entrant.name for entrant in parsed(text).event.entrants]


def pairings(text: str) -> set[tuple[str, str]]:
    event = parsed(text).event
    return {
        (event.entrants[task.white].name, event.entrants[task.black].name) for task in event.tasks
    }


def test_what_a_file_does_not_say_has_a_default() -> None:
    found = parsed(TWO)
    assert found.event.name == "cup"
    assert len(found.event.tasks) == 10
    assert found.event.control == TimeControl(1000)
    assert found.event.max_plies == 1000
    assert found.event.coverage and found.event.stalemate == "loss"
    assert {task.opening for task in found.event.tasks} <= set(default_openings())
    assert (found.anchor, found.concurrency) == (Anchor(None, 0), 1)


def test_all_that_a_file_can_say() -> None:
    found = parsed(
        """
        name = "Everything"
        format = "round-robin"
        games = 4
        tc = "10+0.1"
        openings = "none"
        seed = 7
        concurrency = 3
        max_moves = 60
        coverage = false
        stalemate = "draw"
        resign = 9
        anchor = "old"
        anchor_rating = 2000
        [[player]]
        name = "old"
        player = "obscuro"
        movetime = 250
        [player.options]
        Threads = 1
        Ponder = false
        Evaluator = "material"
        [[player]]
        player = "random"
        [[player]]
        name = "slow"
        player = "random"
        tc = "20+0.2"
        """
    )
    old, random, slow = found.event.entrants
    assert found.event.name == "Everything"
    assert old.options == {"Threads": "1", "Ponder": "false", "Evaluator": "material"}
    assert old.control == TimeControl(250)
    assert (random.name, random.control) == ("random", None)
    assert slow.control == TimeControl.parse("20+0.2")
    assert found.event.control == TimeControl.parse("10+0.1")
    assert len(found.event.tasks) == 3 * 4
    assert {task.opening for task in found.event.tasks} == {PLAIN}
    assert (found.event.max_plies, found.event.coverage) == (120, False)
    assert (found.event.stalemate, found.event.resign) == ("draw", 9)
    assert (found.anchor, found.concurrency) == (Anchor(0, 2000), 3)


def test_movetimes_make_a_player_for_each_time() -> None:
    text = """
        [[player]]
        name = "engine"
        player = "random"
        movetimes = [62, 250, 1000, 1500]
        """
    assert names(text) == ["engine 62 ms", "engine 250 ms", "engine 1 s", "engine 1.5 s"]
    controls = [entrant.control for entrant in parsed(text).event.entrants]
    assert controls == [TimeControl(time) for time in (62, 250, 1000, 1500)]


def test_a_gauntlet_is_the_challengers_against_all_others() -> None:
    players = "\n".join(f'[[player]]\nname = "{one}"\nplayer = "random"' for one in "abcd")
    found = pairings(f'format = "gauntlet"\nchallengers = ["b", "c"]\n{players}')
    assert found == {(one, two) for one, two in found if (one in "bc") != (two in "bc")}
    assert len(found) == 2 * 2 * 2
    family = TWO + '[[player]]\nname = "x"\nplayer = "random"\nmovetimes = [1, 2]'
    found = pairings(f'format = "gauntlet"\nchallengers = ["x"]\n{family}')
    assert {one for one, _ in found} == {"one", "two", "x 1 ms", "x 2 ms"}
    assert ("x 1 ms", "x 2 ms") not in found


def test_openings_lie_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("french: e2e4 e7e6\n")
    file = tmp_path / "cup.toml"
    file.write_text(f'openings = "lines.txt"\n{TWO}')
    assert {task.opening.name for task in read_tournament(file).event.tasks} == {"french"}


def test_a_player_may_be_a_command_line() -> None:
    text = TWO + f"[[player]]\nname = 'x'\nplayer = '{sys.executable} -m some.engine --fast'"
    assert parsed(text).event.entrants[2].player == f"{sys.executable} -m some.engine --fast"


MISTAKES = [
    ("games = ", "cup.toml, line 1: invalid value"),
    ("games = 10 20" + TWO, "cup.toml, line 1: expected newline or end of document after"),
    ('name = "never ends', "cup.toml, line 1: "),
    ("[[player]\n", "cup.toml, line 1: "),
    ("games = " + "9" * 5000, "cup.toml: a number has too many digits"),
    ("games = " + "[" * 5000, "cup.toml: its lists and tables are nested too deep"),
    ("x = 1\nx = 2", "line 2: cannot overwrite a value"),
    ("", "cup.toml: a tournament needs two players or more: [[player]]"),
    (TWO.partition("[[player]]\nname = \"two\"")[0], "line 2: a tournament needs two players"),
    ("player = 3", "line 1: write each player as a table of its own: [[player]]"),
    ("[player]\nname = 'x'", "line 1: write each player as a table of its own: [[player]]"),
    ("\n\nmovtime = 5" + TWO, "cup.toml, line 3: unknown key 'movtime'; a tournament has: name,"),
    (TWO + "mvtime = 5", "line 8: unknown key 'mvtime'; a player has: name, player,"),
    (TWO + "[[player]]\nname = 'x'", "line 8: a player needs the key 'player'"),
    (TWO + "[[player]]\nplayer = 'random'\nname = 'one'", "line 10: two players are called 'one'"),
    (TWO + "[[player]]\nplayer = 'random'\nname = ''", "line 10: name must be a text in quotes"),
    (TWO + '[[player]]\nplayer = "random"\nname = "a\\nb"', "line 10: name must be a text"),
    (TWO + "[[player]]\nplayer = 7", "line 9: player must be a text in quotes, not 7"),
    (TWO + "[[player]]\nplayer = 'no such program'", "line 9: 'no such program' is neither"),
    (TWO + "[[player]]\nplayer = \"'\"", "line 9: can't read the command"),
    ("games = 3" + TWO, "line 1: games must be even: each opening is played once with either"),
    ("games = 0" + TWO, "line 1: games must be a whole number from 1 on, not 0"),
    ("games = true" + TWO, "line 1: games must be a whole number from 1 on, not True"),
    ("games = '4'" + TWO, "line 1: games must be a whole number from 1 on, not '4'"),
    ("movetime = 0" + TWO, "line 1: movetime must be a whole number from 1 on, not 0"),
    ("tc = '1+1'\nnodes = 5" + TWO, "line 2: tc and nodes exclude each other"),
    ("movetime = 5\ntc = '1+1'" + TWO, "line 2: movetime and tc exclude each other"),
    ("tc = 'fast'" + TWO, "line 1: tc: 'fast' is not a clock such as 60+0.5"),
    ("tc = 60" + TWO, "line 1: tc must be a text in quotes, not 60"),
    ("seed = -1" + TWO, "line 1: seed must be a whole number from 0 on, not -1"),
    ("concurrency = 0" + TWO, "line 1: concurrency must be a whole number from 1 on"),
    ("stalemate = 'win'" + TWO, "line 1: stalemate is loss or draw, not 'win'"),
    ("coverage = 'yes'" + TWO, "line 1: coverage must be true or false, not 'yes'"),
    ("anchor = 'three'" + TWO, "line 1: anchor: no player is called 'three', but: one, two"),
    ("anchor_rating = nan" + TWO, "line 1: anchor_rating must be a number, not nan"),
    ("openings = 'nowhere.txt'" + TWO, "line 1: openings: can't read nowhere.txt: No such file"),
    ("format = 'swiss'" + TWO, "line 1: format must be round-robin or gauntlet, not 'swiss'"),
    ("format = 'gauntlet'" + TWO, "line 1: a gauntlet needs challengers = [...]"),
    ("challengers = ['one']" + TWO, "line 1: challengers goes with format = 'gauntlet' only"),
    ("format = 'gauntlet'\nchallengers = ['x']" + TWO, "line 2: challengers: no player is called"),
    ("format = 'gauntlet'\nchallengers = []" + TWO, "line 2: challengers must be a list with"),
    ("format = 'gauntlet'\nchallengers = [['one']]" + TWO, "line 2: challengers: no player is"),
    ("format = 'gauntlet'\nchallengers = ['one', 'two']" + TWO, "line 2: all players are chall"),
    ("games = 1000002" + TWO, "line 1: that makes 1000002 games; at most 1000000 go"),
    (TWO + 'options = { X = "1\\nquit" }', "option 'X' must be one line of printable characters"),
    (TWO + "movetimes = 5", "line 8: movetimes must be a list with something in it, not 5"),
    (TWO + "movetimes = [5, 0]", "line 8: movetimes must be whole numbers from 1 on, not 0"),
    (TWO + "movetimes = [5, 5]", "line 8: movetimes has a time twice"),
    (TWO + "movetimes = [5]\nmovetime = 6", "line 8: movetimes excludes movetime, tc and nodes"),
    (TWO + "options = 5", "line 8: options must be like { Threads = 1 }, not 5"),
    (TWO + "options = { Threads = 1 }", "line 8: no such option: 'Threads'"),
    (TWO + "[[player]]\nplayer = 'obscuro'\noptions = { Sead = 1 }", "line 10: no such option"),
    (TWO + "[[player]]\nplayer = 'obscuro'\n[player.options]\nThreads = 0", "Threads must be betw"),
    (TWO + "[[player]]\nplayer = 'obscuro'\n[player.options]\nThreads = [1]", "line 11: option Thr"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(TournamentFileError) as caught:
        parsed(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_can_not_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(TournamentFileError, match=r"can't read .*: No such file"):
        read_tournament(tmp_path / "nothing.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TournamentFileError, match="is not a text file"):
        read_tournament(tmp_path / "bytes.toml")


VALUES = st.recursive(
    st.integers() | st.booleans() | st.floats() | st.text(max_size=5) | st.just("random"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


def toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + "".join(f"\\U{ord(one):08x}" for one in value) + '"'
        case list():
            return f"[{', '.join(toml(one) for one in value)}]"
        case dict():
            return f"{{{', '.join(f'{toml(key)} = {toml(one)}' for key, one in value.items())}}}"
        case _:
            return str(value)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.sampled_from(sorted(FILE_KEYS)), VALUES, max_size=3),
    st.dictionaries(st.sampled_from(sorted(PLAYER_KEYS)), VALUES, max_size=3),
)
def test_whatever_stands_in_a_file_is_read_or_refused(
    file: dict[str, object], player: dict[str, object]
) -> None:
    if isinstance(games := file.get("games"), int):
        file["games"] = min(games, 9)
    text = "\n".join(f"{key} = {toml(value)}" for key, value in file.items())
    if "player" not in file:
        text += TWO + "[[player]]\n"
        text += "\n".join(f"{key} = {toml(value)}" for key, value in player.items())
    try:
        parsed(text)
    except TournamentFileError as error:
        assert str(error).startswith("cup.toml")
        assert "\n" not in str(error)


EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.toml"))


def small(wanted: TournamentFile) -> TournamentFile:
    """The same tournament between random players, of the first game of each pair of players."""
    event = wanted.event
    entrants = tuple(replace(one, player="random", options={}) for one in event.entrants)
    meetings = {frozenset((task.white, task.black)): task for task in reversed(event.tasks)}
    tasks = tuple(replace(task, number=number) for number, task in enumerate(meetings.values()))
    return replace(wanted, event=replace(event, entrants=entrants, tasks=tasks, max_plies=16))


def test_there_are_examples() -> None:
    assert [path.stem for path in EXAMPLES] == [
        "gauntlet",
        "opponents",
        "round_robin",
        "time_scaling",
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_played(path: Path) -> None:
    event = small(read_tournament(path)).event
    result = play_event(event, LocalWorkers(1, lambda text: None))
    assert result.complete
    html = report_html(Standings(event, result.games), "Played.", complete=True)
    assert all(entrant.name in html for entrant in event.entrants)


def test_the_time_scaling_has_a_curve() -> None:
    path = ROOT / "docs" / "examples" / "time_scaling.toml"
    event = read_tournament(path).event
    seconds = [event.control_of(player).movetime for player in range(len(event.entrants))]
    assert seconds == [62, 125, 250, 500, 1000, 2000, 4000]
    assert len({(one.player, tuple(one.options)) for one in event.entrants}) == 1


def test_what_is_commented_out_can_be_taken_in() -> None:
    path = ROOT / "docs" / "examples" / "gauntlet.toml"
    text = path.read_text().replace("\n# [[", "\n[[").replace("\n# name", "\nname")
    text = text.replace('\n# player = "/opt/other/engine --uci"', '\nplayer = "sh -c exit"')
    event = parse_tournament(text, path).event
    assert event.entrants[-1].name == "other"


PAGE = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")


def keys_of_table(after: str) -> set[str]:
    """The keys in the first column of the first table after this text."""
    rows = PAGE.partition(after)[2].partition("|---|---|---|\n")[2].partition("\n\n")[0]
    return {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_key_is_on_the_page() -> None:
    assert keys_of_table("The keys of the file are:") == FILE_KEYS.keys() - {"player"}
    assert keys_of_table("Each table `[[player]]` is one player:") == PLAYER_KEYS.keys()


def test_the_files_on_the_page_can_be_read() -> None:
    files = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    events = [parse_tournament(text, Path("page.toml")).event for text in files]
    assert [event.name for event in events] == ["First round robin", "Time scaling"]

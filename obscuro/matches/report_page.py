"""The report of a tournament: one HTML file that needs no server and no network."""

from __future__ import annotations

import math
from importlib import resources

from obscuro import __version__
from obscuro.matches import plots
from obscuro.matches.coverage_table import coverage_tables
from obscuro.matches.game_record import OWN_OBSERVATIONS
from obscuro.matches.markup import Content, Element, element, page
from obscuro.matches.report_parts import (
    elo_text,
    error_text,
    estimate_text,
    percent_text,
    points_text,
    section,
    table,
)
from obscuro.matches.standings import Results, SeatedGame, Standings
from obscuro.matches.statistics import QUANTITIES, number
from obscuro.matches.time_scaling import TimeFamily, time_text

_STYLE = "report.css"
_STATED = {"belief": 0, "nodes": 0, "depth": 1}
"""The quantities of a player's moves in the report, with their decimals."""


def report_html(standings: Standings, state: str, *, complete: bool) -> str:
    """Return the whole page as text.

    state: how far the tournament has come, in a sentence; it is marked unless *complete*.
    """
    style = resources.files("obscuro.matches").joinpath(_STYLE).read_text(encoding="utf-8")
    name = standings.event.name
    contents: list[Element] = [_head(standings, state, complete)]
    if standings.games:
        contents += [
            _ratings(standings),
            *(_time_scaling(standings) if standings.families else ()),
            _cross_table(standings),
            _players(standings),
            *_coverage(standings),
            _games_and_lengths(standings),
            *(_openings(standings) if len(standings.openings()) > 1 else ()),
            *(_irregular(standings) if standings.irregular() else ()),
            _list_of_games(standings),
        ]
    return page(name, style, *contents)


# -- the sections ---------------------------------------------------------------------------


def _head(standings: Standings, state: str, complete: bool) -> Element:
    event = standings.event
    facts = [
        f"{len(event.entrants)} players",
        f"{len(standings.games)} of {len(event.tasks)} games",
        _times(standings),
    ]
    started = sorted(game.record.started[:10] for game in standings.games if game.record.started)
    if started:
        facts.append(" to ".join(dict.fromkeys((started[0], started[-1]))))
    return element(
        "header",
        element("h1", event.name),
        element("p", " · ".join(facts), class_="soft"),
        element("p", state, class_="soft" if complete else "warn"),
    )


def _times(standings: Standings) -> str:
    """Name the time of all players, if it is one."""
    event = standings.event
    times = {str(event.control_of(player)) for player in range(len(event.entrants))}
    return times.pop() if len(times) == 1 else "each player has its own time"


def _ratings(standings: Standings) -> Element:
    found = standings.ratings
    bars = [
        plots.Bar(standings.entrants[rating.player].name, rating.elo, rating.error)
        for rating in found.ratings
    ]
    rows = []
    for rank, rating in enumerate(found.ratings):
        following = found.ratings[rank + 1 : rank + 2]
        superior = found.superiority(rating.player, following[0].player) if following else math.nan
        tally = standings.tally(rating.player)
        rows.append(
            [
                str(rank + 1),
                standings.entrants[rating.player].name,
                f"{rating.elo:+.0f}" + ("*" if rating.loose else ""),
                error_text(rating.error),
                f"{points_text(tally.points)} / {tally.games}",
                percent_text(tally.points, tally.games),
                percent_text(tally.draws, tally.games),
                "" if math.isnan(superior) else f"{superior:.1%}",
            ]
        )
    heads = ["", "player", "Elo", "± 95 %", "points", "score", "drawn", "better than next"]
    return section(
        "Ratings",
        element(
            "div",
            plots.rating_plot(bars),
            element("div", *(element("p", text, class_="small soft") for text in notes(standings))),
            class_="two",
        ),
        table(heads, rows, ["", "name"]),
    )


def notes(standings: Standings) -> list[str]:
    """Return the sentences that a reader of the ratings needs."""
    found = standings.ratings
    anchor = standings.anchor
    zero = (
        f"The mean of the ratings is {anchor.elo:g}."
        if anchor.player is None
        else f"{standings.entrants[anchor.player].name} has the rating {anchor.elo:g}; "
        "errors are those of the difference from it."
    )
    said = [
        "One model rates all players by all games: Bradley and Terry's, with an advantage for "
        "White, where a draw is half a point. The bars are 95 % intervals, in which a pair of games "
        "(same opening, colours swapped) is one sample. " + zero,
        f"White's advantage: {found.white_advantage} Elo. Between equal players the model expects "
        f"{found.draw_rate:.0%} draws.",
        "“Better than next” is the likelihood that a player is stronger than the one below it.",
    ]
    if any(rating.loose for rating in found.ratings):
        said.append(
            "* took no point from the main field, or gave it none. Only a weak prior keeps the "
            "distance finite, so read it as a bound."
        )
    if found.groups > 1:
        said.append(
            f"The players form {found.groups} groups that never met. Ratings of different groups "
            "can't be compared."
        )
    return said


def _time_scaling(standings: Standings) -> list[Element]:
    curves = [_curve(standings, family) for family in standings.families]
    tables = []
    for family in standings.families:
        steps = family.steps(standings.ratings)
        texts = [time_text(seconds) for seconds in family.seconds]
        rows = [
            [shorter, longer, estimate_text(step)]
            for shorter, longer, step in zip(texts, texts[1:], steps, strict=False)
        ]
        tables += [
            element(
                "p",
                f"{family.name}: a doubling of the time is worth ",
                element("strong", f"{family.per_doubling} Elo"),
                " on average (the dashed line).",
            ),
            table(["from", "to", "Elo for each doubling"], rows),
        ]
    return [
        section(
            "Time",
            element("div", plots.scaling_plot(curves), element("div", *tables), class_="two"),
            element(
                "p",
                "Bars are 95 % intervals relative to the mean of these players.",
                class_="small soft",
            ),
        )
    ]


def _curve(standings: Standings, family: TimeFamily) -> plots.Curve:
    points = []
    for player, seconds, error in zip(family.members, family.seconds, family.errors, strict=True):
        name, rating = standings.entrants[player].name, standings.ratings.of(player)
        points.append(plots.TimedPoint(seconds, rating.elo, error, name))
    slope = family.per_doubling.value
    return plots.Curve(family.name, tuple(points), slope, family.middle, family.level)


def _cross_table(standings: Standings) -> Element:
    order = standings.order
    head = element(
        "tr",
        element("th"),
        element("th", "player", class_="left"),
        *(element("th", str(rank + 1)) for rank in range(len(order))),
    )
    rows = []
    for rank, player in enumerate(order):
        cells = [element("td", str(rank + 1))]
        cells.append(element("td", standings.entrants[player].name, class_="name"))
        cells += [_encounter(standings, player, other) for other in order]
        rows.append(element("tr", *cells))
    return section(
        "Cross table",
        element(
            "div",
            element("table", element("thead", head), element("tbody", *rows), class_="cross"),
            class_="wide",
        ),
        element(
            "p",
            "Points of the player in the row against the one in the column; below, the difference "
            "in Elo that this score alone means, with its 95 % interval.",
            class_="small soft",
        ),
    )


def _encounter(standings: Standings, player: int, other: int) -> Element:
    if player == other:
        return element("td", "—", class_="self")
    found = standings.encounter(player, other)
    if found is None:
        return element("td", "")
    score = found.tally.points / found.tally.games
    color = "--good" if score > 0.5 else "--bad"
    return element(
        "td",
        f"{points_text(found.tally.points)} / {found.tally.games}",
        element("span", elo_text(found.elo), class_="under"),
        style=f"background: rgb(var({color}) / {0.7 * abs(score - 0.5):.2f})",
        title=f"won, drawn, lost: {found.tally}; {found.elo} Elo",
    )


def _players(standings: Standings) -> Element:
    rows: list[list[Content]] = []
    for player in standings.order:
        entrant = standings.entrants[player]
        stated = standings.statistics(player)
        setting = [entrant.player, str(standings.event.control_of(player))]
        setting += [f"{name}={value}" for name, value in entrant.options.items()]
        if standings.told(player) != OWN_OBSERVATIONS:
            setting.append(f"was told {standings.told(player)}")
        under = element("span", ", ".join(setting), class_="under")
        rows.append(
            [
                element("span", entrant.name, under),
                f"{stated.seconds:.3f} s",
                *(number(stated.means[key], digits) for key, digits in _STATED.items()),
                number(stated.largest_belief),
                number(stated.overrun),
                number(stated.moves),
            ]
        )
    heads = ["player", "time a move"]
    heads += [QUANTITIES[key] for key in _STATED]
    heads += ["largest |P|", "overrun, ms", "moves"]
    return section("Players", table(heads, rows, ["name"]))


def _coverage(standings: Standings) -> list[Element]:
    """Return where the true position was in the players' searches, if any of them told it."""
    told = coverage_tables(record for _, record in standings.games)
    if not told:
        return []
    rows = []
    for player in standings.order:
        name = standings.entrants[player].name
        for row in told.get(name, []):
            shares = [_share_text(each) for each in (row.in_infoset, row.expanded)]
            weight = "-" if row.weight is None else f"{row.weight:.4f}"
            first = [name, row.size, number(row.turns)]
            rows.append([*first, _share_text(row.in_belief), *shares, weight])
    heads = ["player", "|P|", "turns", "in P", "at the root", "expanded", "weight"]
    return [
        section(
            "Where the true position was",
            element(
                "p",
                "The referee asked after each move. P is the set of positions that a player held "
                "possible. The last three columns count the turns with a search.",
                class_="small soft",
            ),
            table(heads, rows, ["name"]),
        )
    ]


def _share_text(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _games_and_lengths(standings: Standings) -> Element:
    total = standings.results()
    lengths = [(len(game.record.plies), game.record.result) for game in standings.games]
    rows = [
        [cause, str(count), percent_text(count, total.games)]
        for cause, count in standings.endings()
    ]
    return section(
        "Lengths and endings",
        element(
            "div",
            plots.length_plot(lengths),
            element(
                "div",
                element(
                    "p",
                    f"White won {total.white}, drew {total.drawn} and lost {total.black} "
                    f"of {total.games} games: {percent_text(total.white + total.drawn / 2, total.games)}.",
                ),
                table(["ending", "games", ""], rows, ["words"]),
            ),
            class_="two",
        ),
    )


def _openings(standings: Standings) -> list[Element]:
    rows: list[list[Content]] = [
        [name, str(one.games), percent_text(one.white + one.drawn / 2, one.games), _share(one)]
        for name, one in standings.openings().items()
    ]
    return [
        section(
            "Openings",
            table(["opening", "games", "White's score", "won, drawn, lost"], rows, ["words"]),
        )
    ]


def _share(results: Results) -> Element:
    """Draw the shares of a row of results as a bar."""
    kinds = [kind for kind, _ in plots.RESULT_NAMES.values()]
    return element(
        "span",
        *(
            element("span", class_=kind, style=f"width: {100 * count / results.games:.1f}%")
            for kind, count in zip(kinds, results, strict=True)
        ),
        class_="share",
        title=f"White won {results.white}, drew {results.drawn}, lost {results.black}",
    )


def _irregular(standings: Standings) -> list[Element]:
    rows = [
        [str(task.number + 1), record.white, record.black, record.result, record.ending]
        for task, record in standings.irregular()
    ]
    heads = ["game", "White", "Black", "result", "ending"]
    return [
        section(
            "Irregular games",
            element("p", "The rules did not end these games.", class_="small soft"),
            table(heads, rows, ["", "words", "words", "", "words"]),
        )
    ]


def _list_of_games(standings: Standings) -> Element:
    rows = [_game_row(game) for game in standings.games]
    heads = ["game", "White", "Black", "result", "moves", "ending", "opening"]
    return element(
        "section",
        element(
            "details",
            element("summary", f"All {len(rows)} games"),
            table(heads, rows, ["", "words", "words", "", "", "words", "words"]),
        ),
        element("p", f"Made by obscuro {__version__}.", class_="small soft"),
    )


def _game_row(game: SeatedGame) -> list[str]:
    record = game.record
    return [
        str(game.task.number + 1),
        record.white,
        record.black,
        record.result,
        str((len(record.plies) + 1) // 2),
        record.ending,
        game.task.opening.name,
    ]

"""The figures of README.md, from the raw files of the pages that they lead to, and its BibTeX.

Only figures whose raw files are kept may stand on the front page: a figure that was copied from a page
raises RenderError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import chess

from tools.common import ROOT, table
from tools.play import first_moves, level_matches, paper_claims
from tools.play.paper_tables import counts
from tools.proofs import small_games
from tools.results.manifest import Loaded
from tools.results.matches import added, match_row
from tools.results.render import RenderError, wrap
from tools.speed.search_scale import PAPER, Look

MATCHES: Mapping[str, str] = {
    "paper.random": "`obscuro` against `random`",
    "strength.zs21_5s": "`obscuro` against `zs21`",
    "opponents.zs21_depth1": "`zs21` against `depth1`",
    "opponents.depth1_greedy": "`depth1` against `greedy`",
    "opponents.greedy_random": "`greedy` against `random`",
    "opponents.misty": "`obscuro` against Misty, a program by somebody else",
}
"""The matches of the table of strength, in its order, by the run's name: `PAGE.RUN`."""
RESULTS = "docs/results"


def by_name(loaded: Sequence[Loaded]) -> dict[str, Loaded]:
    """Return runs by `PAGE.RUN`. Raises RenderError if one was copied from a page."""
    found = {f"{each.run.page}.{each.run.name}": each for each in loaded}
    if copied := [name for name, each in found.items() if each.raw.transcribed_from_page]:
        raise RenderError(f"README.md: the raw figures of {', '.join(copied)} were not kept")
    return found


# -- how strong it is ---------------------------------------------------------------------------


def render_strength(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield one table: matches against other players, then the levels of strength."""
    found = by_name(loaded)
    rows = []
    for name, players in MATCHES.items():
        if name in found:
            parts = [each for each in loaded if each.run.in_one_row(found[name].run)]
            rows.append([players, *_match(parts)])
    if "levels.matches" in found:
        rows.append(_levels(found["levels.matches"].raw.data))
    headings = ["players", "time", "games", "won / drawn / lost", "Elo, 95 %", "page"]
    yield from table(headings, rows, "llrrrl")


def _match(parts: Sequence[Loaded]) -> list[str]:
    assert all(each.raw.games for each in parts), "the games of all these matches are kept"
    page = parts[0].run.page
    row = added([match_row(each.raw, each.folder) for each in parts])
    kept = f"raw/{page}/{parts[0].raw.games}" if len(parts) == 1 else f"{page}.md#matches"
    games = f"[{row.tally.games:,}]({RESULTS}/{kept})"
    return [row.time, games, counts(row.tally), row.elo, _link(page)]


def _levels(figures: dict[str, Any]) -> list[str]:
    """Return the row of the levels: the highest and the lowest on their own scale."""
    ratings = level_matches.ratings_of(figures["matches"])
    names = [name for name in ratings.names if name.startswith("level ")]
    elo = sorted(ratings.elo(name).value for name in names)
    games = sum(len(match["scores"]) for match in figures["matches"])
    players = (
        f"`--level 1` to `--level {len(names)}`, where `greedy` has {level_matches.ANCHOR_ELO}"
    )
    link = f"[{games:,}]({RESULTS}/raw/levels/games.pgn.gz)"
    return [players, "by nodes", link, "", f"{elo[0]:.0f} to {elo[-1]:.0f}", _link("levels")]


def _link(page: str) -> str:
    return f"[{page.replace('_', ' ')}]({RESULTS}/{page}.md)"


# -- what was measured ----------------------------------------------------------------------------


def render_claims(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what became of the paper's claims, in one sentence."""
    statuses = paper_claims.statuses(loaded)
    absent = (paper_claims.UNTESTED, paper_claims.UNPLAYED)
    measured = [status for status in statuses if status not in absent]
    contrary = sum(paper_claims.is_contrary(status) for status in measured)
    undecided = sum(paper_claims.OPEN in status for status in measured)
    yield from wrap(
        f"{len(measured)} of the paper's {len(statuses)} claims about play are measured again, from "
        f"raw games and searches that are kept. {contrary} do not come out as in the paper, and "
        f"{undecided} are open, wholly or in part ([every claim]({RESULTS}/paper.md#every-claim))."
    )


def render_figures(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the table of figures, each with the page that it is from."""
    found = {name: each.raw.data for name, each in by_name(loaded).items()}
    white, black = found["paper.searches_white"], found["paper.searches_black"]
    rows = [
        ["The size of a tree", _trees(found["paper.scale"]), _link("paper")],
        ["The first moves", f"{_share(white, 'd4')}; {_share(black, 'c5')}", _link("paper")],
        [
            "Games whose solution is known",
            _solved(found["small_games.solved"]),
            _link("small_games"),
        ],
        ["Proofs that take minutes", _passed(found["proofs.last_run"]), _link("proofs")],
        ["A bot on pychess.org's server", _bot(found["real_pychess.run"]), _link("real_pychess")],
    ]
    yield from table(["what", "measured", "page"], rows, "lll")


def _trees(figures: dict[str, Any]) -> str:
    looks = [Look(*each) for each in figures["looks"]]
    settings = figures["settings"]
    seconds, threads = settings["movetime"] / 1000, settings["threads"]
    nodes, depth = fmean(each.nodes for each in looks), fmean(each.depth for each in looks)
    return (
        f"{nodes:,.0f} nodes after {seconds:g} s in {threads} threads, {depth:.1f} plies deep (mean "
        f"of {len(looks):,} searches); the paper's program: {PAPER['nodes']:,} on 5 cores, "
        f"{PAPER['depth']} plies"
    )


def _share(searches: Sequence[dict[str, Any]], move: str) -> str:
    """Return how often a first move was chosen, with its 95 % error, and the paper's share."""
    count = len(searches)
    share = sum(each["move"] == move for each in searches) / count
    error = 1.96 * math.sqrt(share * (1 - share) / count)
    side = chess.BLACK if searches[0]["opening"] else chess.WHITE
    paper = first_moves.PAPER[side][move]
    name = f"1.{move}" if side == chess.WHITE else f"1…{move}"
    return (
        f"{name} in {100 * share:.0f} ± {100 * error:.0f} % of {count} searches (paper: {paper} %)"
    )


def _solved(figures: Sequence[Sequence[Any]]) -> str:
    measured = small_games.runs([small_games.Row(*row) for row in figures])
    good = sum(small_games.good_from(run) is not None for run in measured)
    games = len({run[0].game for run in measured})
    return f"exploitable by less than 10⁻³ in {good} of {len(measured)} runs of {games} games"


def _passed(figures: Sequence[dict[str, Any]]) -> str:
    passed = sum(each["result"] == "passed" for each in figures)
    return f"{passed} of {len(figures)} passed"


def _bot(figures: dict[str, Any]) -> str:
    passed = sum(row["passed"] for row in figures["rows"])
    return f"{passed} of {len(figures['rows'])} scenarios ended as expected"


# -- how to cite ----------------------------------------------------------------------------------


def render_citation(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what CITATION.cff says, as BibTeX: the program, then the papers."""
    import yaml  # noqa: PLC0415 - nothing else here reads it

    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    program = {**said, "year": str(said["date-released"])[:4], "kind": "software", "key": "obscuro"}
    yield "```bibtex"
    yield from bibtex(program)
    for paper in said["references"]:
        first = paper["authors"][0]["family-names"].lower()
        yield ""
        yield from bibtex({**paper, "kind": "inproceedings", "key": f"{first}{paper['year']}"})
    yield "```"


def bibtex(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield a BibTeX entry. entry: fields of CITATION.cff, a `kind` and a `key`."""
    arxiv = [each["value"] for each in entry.get("identifiers", []) if "arXiv" in each["value"]]
    fields = {
        "title": entry["title"],
        "author": " and ".join(map(_author, entry["authors"])),
        "booktitle": entry.get("collection-title"),
        "pages": f"{entry['start']}--{entry['end']}" if "start" in entry else None,
        "year": entry["year"],
        "version": entry.get("version"),
        "note": ", ".join(arxiv) or None,
    }
    yield f"@{entry['kind']}{{{entry['key']},"
    for name, value in fields.items():
        if value is not None:
            lines = wrap(f"  {name} = {{{value}}},", "    ")
            yield from (f"  {lines[0].lstrip()}", *lines[1:])
    yield "}"


def _author(author: Mapping[str, str]) -> str:
    """Return an author as BibTeX takes it; a name in braces is no person's."""
    if "name" in author:
        return f"{{{author['name']}}}"
    return f"{author['family-names']}, {author['given-names']}"

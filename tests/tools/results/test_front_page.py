"""The figures of README.md: from raw files that are kept, and as the pages say them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.tables import rows
from tools.common import ROOT
from tools.play import paper_claims
from tools.results import front_page, matches, raw, render
from tools.results.manifest import Loaded, ManifestError, Run, load
from tools.results.render import RenderError, load_runs, render_page

MANIFEST = load()
PAGE = MANIFEST.page("readme")


def loaded(section: str) -> list[Loaded]:
    """What a section of the README is rendered from."""
    return load_runs(MANIFEST, MANIFEST.runs_of(PAGE, PAGE.sections[section]))


def test_the_page_is_the_readme_and_is_rendered_by_make_pages() -> None:
    file = MANIFEST.page_file(PAGE)
    assert file == ROOT / "README.md"
    assert render_page(MANIFEST, PAGE) == file.read_text(encoding="utf-8"), "run `make pages`"


def test_a_figure_that_is_changed_by_hand_is_found(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    changed = text.replace("1000 / 0 / 0", "1001 / 0 / 0")
    assert changed != text
    (tmp_path / "README.md").write_text(changed, encoding="utf-8")
    page = replace(PAGE, file=str(tmp_path / "README.md"))
    assert render_page(MANIFEST, page) == text


def test_all_players_and_the_levels_are_in_the_table_of_strength() -> None:
    found = rows("\n".join(front_page.render_strength(loaded("strength"))))
    players = " ".join(row[0] for row in found)
    for name in ("random", "greedy", "depth1", "zs21", "--level 9"):
        assert f"`{name}`" in players
    (won,) = [row for row in found if row[0] == "`obscuro` against `random`"]
    assert won[1] == "50 ms a move" and won[3] == "1000 / 0 / 0"


def test_a_match_that_was_played_in_parts_is_one_row_of_all_its_games() -> None:
    runs = loaded("strength")
    parts = [each for each in runs if each.run.name.startswith("zs21_5s")]
    assert len(parts) > 1
    games = sum(matches.match_row(each.raw, each.folder).tally.games for each in parts)
    found = rows("\n".join(front_page.render_strength(runs)))
    (row,) = [row for row in found if row[0] == "`obscuro` against `zs21`"]
    assert row[2] == f"[{games}](docs/results/strength.md#matches)"


def test_figures_that_are_not_kept_do_not_get_onto_the_page() -> None:
    copied = [
        each._replace(raw=replace(each.raw, transcribed_from_page=True))
        for each in loaded("strength")
    ]
    with pytest.raises(RenderError, match=r"raw figures of paper\.random, .* were not kept"):
        list(front_page.render_strength(copied))


def shown_runs(section: str) -> list[Run]:
    """The runs of a section of the README that have been measured."""
    runs = MANIFEST.runs_of(PAGE, PAGE.sections[section])
    return [run for run in runs if not MANIFEST.is_to_come(run)]


@pytest.mark.parametrize("section", ["strength", "figures"])
def test_a_figure_links_to_the_page_that_its_raw_file_is_for(section: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, shown = render.blocks(text)[section]
    linked = set(re.findall(r"\(docs/results/(\w+)\.md\)", shown))
    assert linked == {run.page for run in shown_runs(section)}


@pytest.mark.parametrize("section", ["strength", "claims", "figures"])
def test_that_page_renders_the_figure_from_raw_as_well(section: str) -> None:
    runs = shown_runs(section)
    assert runs
    for run in runs:
        assert not raw.load(MANIFEST.raw_file(run)).transcribed_from_page, run
        page = MANIFEST.page(run.page)
        parts = {part.name for part in page.sections.values() if run.name in part.runs}
        marks = render.blocks(MANIFEST.page_file(page).read_text(encoding="utf-8"))
        assert parts and {marks[part][0] for part in parts} == {"begin"}, run


def test_claims_are_counted_as_their_page_has_them() -> None:
    runs = loaded("claims")
    found = [row[4] for row in rows("\n".join(paper_claims.render(runs)))]
    text = " ".join(front_page.render_claims(runs))
    measured = [status for status in found if status not in ("not tested", "not yet played")]
    assert text.startswith(f"{len(measured)} of the paper's {len(found)} claims")
    assert f" {sum('**' in status for status in measured)} do not come out" in text
    assert f" {sum('open' in status for status in measured)} are open" in text


def test_each_figure_links_to_its_page() -> None:
    found = rows("\n".join(front_page.render_figures(loaded("figures"))))
    assert len(found) == 5
    assert "18 of 18 runs" in found[2][1]
    for row in found:
        target = row[2].partition("(")[2].rstrip(")")
        assert (ROOT / target).is_file()


def test_the_bibtex_says_what_the_citation_file_says() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    text = "\n".join(front_page.render_citation([]))
    assert text.count("@") == 1 + len(said["references"])
    joined = " ".join(text.split())
    for entry in (said, *said["references"]):
        assert f"title = {{{entry['title']}}}" in joined
    assert f"version = {{{said['version']}}}" in text
    assert "author = {Zhang, Brian Hu and Sandholm, Tuomas}" in text
    assert "note = {arXiv:2506.01242}" in text


def test_a_section_may_show_all_runs_of_another_one(tmp_path: Path) -> None:
    names = [each.run.name for each in loaded("claims")]
    claims = MANIFEST.page("paper").sections["claims"]
    wanted = load_runs(MANIFEST, MANIFEST.runs_of(MANIFEST.page("paper"), claims))
    assert names == [each.run.name for each in wanted]
    text = '[one.sections.part]\nothers = ["two:none"]\nrender_runs = "a:b"\n'
    (tmp_path / "manifest.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match="no run two:none"):
        load(tmp_path / "manifest.toml")


def test_a_section_without_runs_names_no_commands() -> None:
    lines = list(render.render_section(MANIFEST, PAGE, PAGE.sections["figures"]))
    assert lines[0].startswith("| what |")


def test_a_match_that_is_to_come_says_so() -> None:
    assert list(matches.render_planned([])) == ["Not yet played."]
    kept = load_runs(MANIFEST, [MANIFEST.page("opponents").runs["greedy_random"]])
    lines = list(matches.render_planned(kept))
    assert lines[0] == "```" and "| `greedy` against `random` |" in "\n".join(lines)

"""The pages under docs/results as they are committed: they are what their raw files say."""

from __future__ import annotations

import argparse
import importlib

import pytest

from obscuro.cli.arguments import build_parser
from tests.tools.results.recorded_commands import words_of_today
from tools.common import ROOT
from tools.results import raw, render
from tools.results.manifest import Manifest, Page, Run, find_function, load


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load()


PAGES = list(load().pages)


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, manifest: Manifest) -> Page:
    return manifest.pages[request.param]


def measured(manifest: Manifest, page: Page) -> list[Run]:
    return [run for run in page.runs.values() if not manifest.is_to_come(run)]


def test_page_is_what_its_raw_files_say(manifest: Manifest, page: Page) -> None:
    text = manifest.page_file(page).read_text(encoding="utf-8")
    assert render.render_page(manifest, page) == text, "run `make pages`"


def test_pictures_are_drawn_from_their_raw_files(manifest: Manifest, page: Page) -> None:
    for picture in page.pictures.values():
        assert render.is_current(manifest, page, picture), f"run `make pages`: {picture.file}"


def test_what_is_measured_by_hand_says_so(manifest: Manifest, page: Page) -> None:
    blocks = render.blocks(manifest.page_file(page).read_text(encoding="utf-8"))
    for name, reason in page.by_hand.items():
        said = " ".join(blocks[name][1].split())
        assert reason.startswith("measured by hand") == (
            "Measured by hand, cannot be remade" in said
        )


def test_raw_file_and_manifest_have_one_command(manifest: Manifest, page: Page) -> None:
    for run in measured(manifest, page):
        assert words_of_today(raw.load(manifest.raw_file(run)).command) == run.words


def test_copied_figures_name_a_commit_and_a_date(manifest: Manifest, page: Page) -> None:
    for run in measured(manifest, page):
        found = raw.load(manifest.raw_file(run))
        assert found.commit and found.date.startswith("20") and found.machine_line()


def test_every_page_is_in_the_manifest_and_every_raw_file_exists(manifest: Manifest) -> None:
    here = {name for name, page in manifest.pages.items() if not page.file}
    assert {file.stem for file in manifest.folder.glob("*.md")} == here
    folder = manifest.folder / "raw"
    wanted = {folder / file for page in manifest.pages.values() for file in page.kept}
    for run in manifest.runs():
        if manifest.is_to_come(run):
            continue
        file = manifest.raw_file(run)
        games = raw.load(file).games
        wanted |= {file} | ({file.parent / games} if games else set())
    assert wanted <= {file for file in folder.rglob("*") if file.is_file()}


def test_pictures_of_the_manifest_exist(manifest: Manifest) -> None:
    known = {picture.file for page in manifest.pages.values() for picture in page.pictures.values()}
    assert known <= {file.name for file in manifest.folder.glob("*.png")}


def test_every_command_names_a_program_that_reads_its_arguments(page: Page) -> None:
    for run in page.runs.values():
        program, *words = run.words
        if program == "obscuro":
            build_parser().parse_args(words)
        else:
            assert words[0] == "-m"
            parser: argparse.ArgumentParser = importlib.import_module(words[1]).make_parser()
            assert parser.prog == f"python -m {words[1]}"
            parser.parse_args([*words[2:], "--raw", "file.json"])


def test_every_function_of_the_manifest_exists(page: Page) -> None:
    for section in page.sections.values():
        find_function(section.render or section.render_runs)
    for picture in page.pictures.values():
        find_function(picture.draw)


def test_makefile_starts_both_tools() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m tools.results.remake $(PAGE)" in makefile
    assert "-m tools.results.pages" in makefile

"""docs/lichess_bot.md and docs/examples/lichess_bot: what lichess-bot is given works here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import chess
import chess.variant
import pytest
import yaml

from obscuro.engine.options import Options
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import PositionReader
from tests.docs.pages import ROOT, page

FOLDER = ROOT / "docs" / "examples" / "lichess_bot"
HANDLERS = FOLDER / "extra_game_handlers.py"
CONFIG: dict[str, Any] = yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8"))


@pytest.fixture
def handlers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("extra_game_handlers", HANDLERS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def enabled(settings: dict[str, Any]) -> Iterator[str]:
    """Yield the sections that are switched on, at any depth."""
    for name, values in settings.items():
        if isinstance(values, dict):
            if values.get("enabled"):
                yield name
            yield from enabled(values)


def shown(language: str) -> list[str]:
    """Return the page's code blocks in a language."""
    blocks = page("docs/lichess_bot.md").blocks
    return [block.text for block in blocks if block.language == language]


def test_the_engine_has_every_option_of_the_configuration() -> None:
    options = Options()
    for name, value in CONFIG["engine"]["uci_options"].items():
        options.set(name, str(value).lower() if isinstance(value, bool) else str(value))


def test_the_configuration_names_our_engine_and_the_variant() -> None:
    engine = ROOT / Path(CONFIG["engine"]["dir"]).name / CONFIG["engine"]["name"]
    assert engine.is_file()
    assert CONFIG["engine"]["protocol"] == "uci"
    assert [chess.variant.find_variant(name) for name in CONFIG["challenge"]["variants"]] == [
        FogOfWarBoard
    ]


def test_nothing_that_sees_the_whole_board_is_switched_on() -> None:
    engine = CONFIG["engine"]
    assert list(enabled(engine)) == []
    assert set(engine["online_moves"]) == {
        "chessdb_book",
        "lichess_cloud_analysis",
        "lichess_opening_explorer",
        "online_egtb",
    }
    assert set(engine["lichess_bot_tbs"]) == {"syzygy", "gaviota"}
    assert engine["polyglot"] == {"enabled": False}


def test_the_handlers_register_the_variant_without_compiled_code() -> None:
    code = f"""
import runpy, sys, chess.variant
runpy.run_path({str(HANDLERS)!r})
assert chess.variant.find_variant("fogofwar").uci_variant == "fogofwar"
assert chess.variant.find_variant("Fog of War").uci_variant == "fogofwar"
assert not {{"numba", "numpy"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("fen", "accepted"),
    [
        ("startpos", True),
        (chess.STARTING_FEN, True),
        ("4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", False),
    ],
)
def test_only_games_from_the_usual_start_are_accepted(
    handlers: ModuleType, fen: str, accepted: bool
) -> None:
    assert handlers.is_supported_extra(SimpleNamespace(initial_fen=fen)) is accepted
    assert handlers.game_specific_options(SimpleNamespace()) == {}


def test_the_position_as_python_chess_sends_it_is_the_usual_start() -> None:
    """For a variant python-chess sends `fen …` also for the usual start."""
    reader = PositionReader()
    told = reader.read(f"fen {chess.STARTING_FEN} moves e2e4 d7d5")
    usual = PositionReader().read("startpos moves e2e4 d7d5")
    assert (told.side, told.plies) == (usual.side, usual.plies)


def test_the_page_shows_the_files_as_they_are() -> None:
    *ours, pychess = shown("python")
    for text in ours:
        assert text in HANDLERS.read_text(encoding="utf-8")
    assert "X-PyChess-Bot-Capabilities" in pychess
    for section, values in yaml.safe_load(shown("yaml")[0]).items():
        for name, value in values.items():
            whole = CONFIG[section][name]
            assert value.items() <= whole.items() if isinstance(value, dict) else value == whole


def test_the_lines_for_pychess_put_the_header_into_every_session() -> None:
    requests = pytest.importorskip("requests")
    plain = requests.sessions.default_headers
    try:
        exec(compile(shown("python")[-1], "docs/lichess_bot.md", "exec"), {})
        sent = requests.Session().headers
    finally:
        requests.sessions.default_headers = plain
    assert json.loads(sent["X-PyChess-Bot-Capabilities"])["variants"] == ["fogofwar"]
    assert "User-Agent" in sent

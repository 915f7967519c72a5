"""The page is one file that loads nothing, and no text of a game can become markup in it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from obscuro.viewer.browser_parts.parts import read_part
from obscuro.viewer.html_page import (
    EXPLORER_MODULES,
    MODULES,
    PART,
    SPECIFIER,
    html_page,
    served_page,
)
from obscuro.viewer.make_document import make_document
from tests.viewer.recorded import SHORT_GAME, game_of

WEB = resources.files("obscuro.viewer") / "web"
HOSTILE = "</script><script>alert(1)</script><!--\u2028'\"&amp;$title<img src=x onerror=alert(2)>"


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and the texts of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}
        self.title = ""
        self.inside: tuple[str, str | None] = ("", None)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.inside = (tag, dict(attributes).get("type"))

    def handle_endtag(self, tag: str) -> None:
        self.inside = ("", None)

    def handle_data(self, data: str) -> None:
        tag, kind = self.inside
        if tag == "script":
            self.scripts[kind] = data
        elif tag == "title":
            self.title += data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return html_page(make_document(game_of(SHORT_GAME, tmp_path_factory.mktemp("games")), 1000))


def test_the_page_names_nothing_to_load(page: str) -> None:
    for tag, attributes in Elements(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "srcset", "data"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")


def test_modules_are_the_files_of_the_package(page: str) -> None:
    imports = json.loads(Elements(page).scripts["importmap"])["imports"]
    for name in MODULES:
        start, _, data = imports[SPECIFIER.format(name)].partition(",")
        assert start == "data:text/javascript;base64"
        assert base64.b64decode(data).decode() == (WEB / f"{name}.js").read_text(encoding="utf-8")
    assert set(imports) == {PART} | {SPECIFIER.format(name) for name in MODULES}
    files = {Path(str(path)).name for path in WEB.iterdir()}
    assert files == {f"{name}.js" for name in (*MODULES, *EXPLORER_MODULES)} | {
        *("page.html", "style.css", "explorer.html", "explorer.css")
    }


def test_the_page_of_a_server_has_the_same_elements_and_nothing_inline(page: str) -> None:
    served = Elements(served_page("<!-- map -->"))
    ids = [attributes["id"] for _, attributes in served.elements if "id" in attributes]
    in_file = [attributes["id"] for _, attributes in Elements(page).elements if "id" in attributes]
    assert set(ids) - set(in_file) == {"home"}
    assert set(in_file) - set(ids) == {"game"}
    assert served_page("<!-- map -->").count("<!-- map -->") == 1
    for tag, attributes in served.elements:
        assert tag != "style" and "style" not in attributes
        assert tag != "script" or attributes["src"] == "/js/look_page.js"


def test_the_curves_library_is_in_it_with_its_licence(page: str) -> None:
    imports = json.loads(Elements(page).scripts["importmap"])["imports"]
    text = base64.b64decode(imports[PART].partition(",")[2]).decode()
    assert read_part("uplot.js") in text and read_part("uplot.LICENSE") in text
    assert read_part("uplot.css") in page


def test_modules_import_each_other_and_the_curves_library_only() -> None:
    known = {PART} | {SPECIFIER.format(name) for name in (*MODULES, *EXPLORER_MODULES)}
    for name in (*MODULES, *EXPLORER_MODULES):
        text = (WEB / f"{name}.js").read_text(encoding="utf-8")
        assert set(re.findall(r'^import .* from "(.*)";$', text, re.M)) <= known
        assert "innerHTML" not in text and "document.write" not in text


def test_the_document_is_in_it_whole(page: str, tmp_path: Path) -> None:
    text = Elements(page).scripts["application/json"]
    assert json.loads(text) == make_document(game_of(SHORT_GAME, tmp_path), 1000)


def test_texts_of_a_game_stay_texts(page: str, tmp_path: Path) -> None:
    game = game_of(SHORT_GAME, tmp_path)
    for name in ("White", "Black", "Event", "Termination", "Result"):
        game.headers[name] = HOSTILE
    game.end().comment = HOSTILE
    hostile = Elements(html_page(make_document(game, 1000)))
    tags = [tag for tag, _ in Elements(page).elements]
    assert [tag for tag, _ in hostile.elements] == tags
    document = json.loads(hostile.scripts["application/json"])
    assert document["white"] == document["black"] == document["ending"] == HOSTILE
    assert hostile.title == f"{HOSTILE} – {HOSTILE} {HOSTILE}"


@pytest.mark.parametrize("name", [*MODULES, EXPLORER_MODULES[-1]])
def test_node_can_read_the_modules(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; the tests in a browser run the modules too")
    path = tmp_path / f"{name}.mjs"
    path.write_text((WEB / f"{name}.js").read_text(encoding="utf-8"), encoding="utf-8")
    result = subprocess.run([node, "--check", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr

"""The files that browsers get: a fixed table, whose pages name nothing that is not in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from obscuro.web.static_table import StaticTable


@pytest.fixture(scope="module")
def table() -> StaticTable:
    return StaticTable()


def test_the_import_map_of_a_page_is_the_only_script_in_it(table: StaticTable) -> None:
    for page in table.pages.values():
        inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page.body.decode(), re.S)
        assert len(inline) == 1
        digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert page.policy is not None
        assert f"script-src 'self' 'sha256-{digest}'" in page.policy
        for address in json.loads(inline[0])["imports"].values():
            assert address.removeprefix("/") in table.files


def test_a_page_names_files_of_the_table_only(table: StaticTable) -> None:
    for page in table.pages.values():
        named = re.findall(r'(?:src|href)="(/(?:js|css|parts)/[^"]+)"', page.body.decode())
        assert named
        assert [name for name in named if name.removeprefix("/") not in table.files] == []


def test_every_module_that_a_module_imports_is_in_the_map(table: StaticTable) -> None:
    page = next(iter(table.pages.values())).body.decode()
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.S)
    assert found is not None
    known = json.loads(found[1])["imports"]
    for name, file in table.files.items():
        if name.startswith("js/"):
            imports = re.findall(r'^import[^"]*"([^"]+)"', file.body.decode(), re.M)
            assert [each for each in imports if each not in known] == [], name

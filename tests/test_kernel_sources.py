"""The stamps of kernels: which changes of which modules make new ones."""

import math
import os
from pathlib import Path

import pytest

from obscuro.kernel_sources import KernelSources

KERNEL = '''"""A kernel."""
from obscuro.kernels import kernel
from obscuro.layout import SHIFT

@kernel
def shift(x):
    """Shift x."""
    return x << SHIFT  # to the left
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a kernel, a constant compiled into it, and a module apart from both."""
    root = tmp_path / "obscuro"
    (root / "room").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "kernels.py").write_text("kernel = None\n")
    (root / "kernel_cache.py").write_text("PLACE = 'here'\n")
    (root / "moves.py").write_text(KERNEL)
    (root / "layout.py").write_text("from obscuro.sizes import (\n    WIDTH,\n)\nSHIFT = WIDTH\n")
    (root / "sizes.py").write_text("WIDTH = 8\n")
    (root / "text.py").write_text("GREETING = 'hello'\n")
    (root / "room" / "__init__.py").write_text("from obscuro import text\n")
    (root / "room" / "inner.py").write_text("def f():\n    from ..layout import SHIFT\n")
    return root


def stamp(package: Path, module: str = "moves") -> str:
    found = KernelSources(str(package), loaded_after=math.inf).stamp(f"obscuro.{module}")
    assert found is not None
    return found


def names(package: Path, module: str) -> set[str]:
    return KernelSources(str(package), loaded_after=math.inf).dependencies(f"obscuro.{module}")


@pytest.mark.parametrize("module", ["moves.py", "layout.py", "sizes.py", "kernels.py"])
def test_changes_with_the_kernel_and_with_what_it_imports(package: Path, module: str) -> None:
    before = stamp(package)
    (package / module).write_text((package / module).read_text() + "MORE = 1\n")
    assert stamp(package) != before


def test_does_not_change_with_a_module_that_the_kernel_does_not_use(package: Path) -> None:
    before = stamp(package)
    (package / "text.py").write_text("GREETING = 'good morning'\n")
    (package / "moves.txt").write_text("njit")
    assert stamp(package) == before


def test_does_not_change_with_what_decides_only_where_kernels_are_kept(package: Path) -> None:
    (package / "kernels.py").write_text("from obscuro import kernel_cache\n")
    before = stamp(package)
    (package / "kernel_cache.py").write_text("PLACE = 'there'\n")
    assert stamp(package) == before


def test_does_not_change_with_docstrings_comments_and_lines(package: Path) -> None:
    before = stamp(package)
    text = KERNEL.replace("A kernel.", "Kernels.\n\nA second line.").replace("# to the left", "")
    (package / "moves.py").write_text(text.replace('    """Shift x."""\n', "\n"))
    assert stamp(package) == before


def test_changes_with_a_number_in_the_kernel(package: Path) -> None:
    before = stamp(package)
    (package / "moves.py").write_text(KERNEL.replace("x << SHIFT", "x << SHIFT + 1"))
    assert stamp(package) != before


def test_changes_with_the_code_of_the_packages_around(package: Path) -> None:
    before = stamp(package, "room.inner")
    (package / "room" / "__init__.py").write_text("import os\n")
    assert stamp(package, "room.inner") != before


def test_the_modules_with_kernels_are_those_that_import_the_decorator(package: Path) -> None:
    (package / "text.py").write_text("from obscuro import moves\n")
    sources = KernelSources(str(package), loaded_after=math.inf)
    assert sources.kernel_modules("obscuro.text") == {"obscuro.moves"}


def test_relative_imports_and_those_in_functions_count(package: Path) -> None:
    assert {"obscuro.layout", "obscuro.sizes"} <= names(package, "room.inner")


def test_a_package_hands_on_its_imports_only_where_it_is_imported_by_name(package: Path) -> None:
    assert "obscuro.text" not in names(package, "room.inner")
    (package / "moves.py").write_text("from obscuro.room import text\n")
    assert "obscuro.text" in names(package, "moves")


def test_modules_that_import_each_other_are_no_trouble(package: Path) -> None:
    (package / "sizes.py").write_text("from obscuro import layout\nWIDTH = 8\n")
    assert names(package, "sizes") == names(package, "layout")


def test_is_the_same_in_another_checkout(package: Path, tmp_path: Path) -> None:
    before = stamp(package)
    for file in package.rglob("*.py"):
        os.utime(file, (1, 1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert stamp(package.rename(elsewhere / "obscuro")) == before


def test_a_module_changed_after_the_process_loaded_it_has_none(package: Path) -> None:
    loaded = (package / "sizes.py").stat().st_mtime + 1
    assert KernelSources(str(package), loaded_after=loaded).stamp("obscuro.moves") is not None
    (package / "sizes.py").write_text("WIDTH = 9\n")
    os.utime(package / "sizes.py", (loaded + 1, loaded + 1))
    assert KernelSources(str(package), loaded_after=loaded).stamp("obscuro.moves") is None


@pytest.mark.parametrize(
    "module", ["other.moves", "obscuro.nothing", "obscuro.moves.x", "__main__"]
)
def test_a_module_without_a_source_in_the_package_has_none(package: Path, module: str) -> None:
    assert KernelSources(str(package), loaded_after=math.inf).stamp(module) is None


def test_a_module_that_does_not_parse_has_none(package: Path) -> None:
    (package / "sizes.py").write_text("WIDTH =\n")
    assert KernelSources(str(package), loaded_after=math.inf).stamp("obscuro.moves") is None


class TestMemory:
    """What texts come to is remembered in a file."""

    def test_texts_are_parsed_once(
        self, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory = str(tmp_path / "memory.json")
        first = KernelSources(str(package), memory, math.inf).stamp("obscuro.moves")
        monkeypatch.setattr("obscuro.kernel_sources.parse", None)
        assert KernelSources(str(package), memory, math.inf).stamp("obscuro.moves") == first

    def test_a_changed_text_is_parsed_again(self, package: Path, tmp_path: Path) -> None:
        memory = str(tmp_path / "memory.json")
        first = KernelSources(str(package), memory, math.inf).stamp("obscuro.moves")
        (package / "sizes.py").write_text("WIDTH = 9\n")
        assert KernelSources(str(package), memory, math.inf).stamp("obscuro.moves") != first

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"python": 3}', '{"modules": {}}'])
    def test_a_spoilt_file_is_replaced(self, package: Path, tmp_path: Path, text: str) -> None:
        memory = tmp_path / "memory.json"
        memory.write_text(text)
        found = KernelSources(str(package), str(memory), math.inf).stamp("obscuro.moves")
        assert found == stamp(package)
        assert "obscuro.moves" in memory.read_text()

    def test_without_a_place_to_write_nothing_is_remembered(
        self, package: Path, tmp_path: Path
    ) -> None:
        memory = str(tmp_path / "no" / "directory" / "memory.json")
        found = KernelSources(str(package), memory, math.inf).stamp("obscuro.moves")
        assert found == stamp(package)


def test_the_sources_of_this_package() -> None:
    sources = KernelSources()
    moves = sources.dependencies("obscuro.rules.moves")
    assert {"obscuro.rules.layout", "obscuro.kernels"} <= moves, "what is compiled into them"
    assert "obscuro.kernel_cache" not in moves
    assert not [name for name in sources.dependencies("obscuro.search.solver") if "belief" in name]

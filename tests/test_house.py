"""The house rules that a reader relies on: one name for one thing, no circles, private is private.

All is read from the sources by `ast`; nothing is imported.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("obscuro", "tools")

# Methods of named tuples, and two functions of the standard library, are public in spite of their names.
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit", "_getframe"}

# These extend numba's cache of compiled code, which numba has no public interface for.
INSIDE_NUMBA = ("obscuro.kernels", "obscuro.numba_cache")


@cache
def parsed(root: Path = ROOT, rooms: tuple[str, ...] = ROOMS) -> dict[str, ast.Module]:
    """Every module of the rooms by its dotted name; a package is named as its folder."""
    modules = {}
    for room in rooms:
        for path in sorted((root / room).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            modules[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return modules


def is_private(name: str) -> bool:
    """Whether a name begins with one underscore and belongs to whoever defines it."""
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def own_names(module: ast.Module) -> set[str]:
    """The private names that a module gives to something: variables, functions, attributes of self."""
    names: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name=_, asname=str(name)):
                names.add(name)
    return names


def intrusions(modules: dict[str, ast.Module]) -> list[str]:
    """Reads of a private name that the reading module does not define: `module:line name`."""
    found = []
    for name, module in modules.items():
        own = own_names(module)
        for node in ast.walk(module):
            if isinstance(node, ast.Attribute):
                if is_private(node.attr) and node.attr not in own:
                    found.append(f"{name}:{node.lineno} {node.attr}")
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if is_private(alias.name):
                        found.append(f"{name}:{node.lineno} {alias.name}")
    return found


def imports(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules each module names in an import, in functions and for type checkers too."""
    graph = {}
    for name, module in modules.items():
        targets = {target for node in ast.walk(module) for target in _targets(node, modules)}
        graph[name] = targets & modules.keys() - {name}
    return graph


def _targets(node: ast.AST, modules: dict[str, ast.Module]) -> Iterator[str]:
    """The modules that an import names: of `from package import name`, the name if it is one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules else node.module


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The groups of modules of which each imports, directly or not, all others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = [start]
        while pending:
            for target in graph[pending.pop()] - seen:
                seen.add(target)
                pending.append(target)
        return seen

    reach = {name: reached(name) for name in graph}
    groups: list[set[str]] = []
    for name in graph:
        if name in reach[name] and not any(name in group for group in groups):
            groups.append({name} | {other for other in reach[name] if name in reach[other]})
    return groups


def repeated(pairs: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that stand in several places, with the places; pairs: (name, place)."""
    places = defaultdict(list)
    for name, place in pairs:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def file_names(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """The package's files, those that mark a package aside."""
    for path in sorted((root / "obscuro").rglob("*.py")):
        if path.name != "__init__.py":
            yield path.name, str(path.relative_to(root))


def classes(modules: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """The classes of the package, with the modules that define them."""
    for name, module in modules.items():
        if name.split(".")[0] == "obscuro":
            for node in ast.walk(module):
                if isinstance(node, ast.ClassDef):
                    yield node.name, name


def test_no_module_reads_what_is_private_to_another() -> None:
    found = intrusions(parsed())
    assert [place for place in found if not place.startswith(INSIDE_NUMBA)] == []


def test_no_two_files_of_the_package_have_one_name() -> None:
    assert repeated(file_names()) == {}


def test_no_two_classes_of_the_package_have_one_name() -> None:
    assert repeated(classes(parsed())) == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert circles(imports(parsed())) == []


def test_the_rules_see_what_breaks_them() -> None:
    sources = {
        "obscuro": "",
        "obscuro.a": "from obscuro.b import B\nclass A(B):\n    def f(self): return self._hidden",
        "obscuro.b": "class B:\n    def f(self, other):\n        self._hidden = other._hidden\n"
        "        from obscuro import c",
        "obscuro.c": "from obscuro.a import _x\nclass A: pass\nA()._fields, A().__dict__",
        "obscuro.d": "import obscuro.c\nfrom obscuro.c import A\nA()._hidden",
    }
    modules = {name: ast.parse(text) for name, text in sources.items()}
    assert intrusions(modules) == ["obscuro.a:3 _hidden", "obscuro.c:1 _x", "obscuro.d:3 _hidden"]
    assert circles(imports(modules)) == [{"obscuro.a", "obscuro.b", "obscuro.c"}]
    assert repeated(classes(modules)) == {"A": ["obscuro.a", "obscuro.c"]}

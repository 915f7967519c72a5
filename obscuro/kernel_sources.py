"""What a module's compiled kernels depend on: its code, and the code of all that it imports.

numba compiles a function anew when its own file changes, but not when a function or a constant does
that it uses from another file: it would go on with old machine code. So the kernels of a module are
kept under a stamp of every module of the package that it imports, directly or not, and of the
packages around them.

The stamp is made from syntax trees without docstrings: a comment, a docstring or a line that moves
changes nothing. Trees are slow to make, so they are made once for each text and remembered in a file.
"""

import ast
import contextlib
import hashlib
import json
import os
import sys
import threading
from typing import BinaryIO, NamedTuple

from obscuro import IMPORTED_AT

PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CLOCK_STEP = 0.01  # seconds by which a file's time may lag behind `time.time()`

# They decide where machine code is kept, never what it is.
_APART = frozenset({"kernel_cache", "kernel_sources", "numba_cache"})
_REMEMBERED = 2000  # texts
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
UNFINISHED = ".part"  # what the name of a file that is being written ends with

Imports = tuple[str, ...]


class _Parsed(NamedTuple):
    """What a text comes to."""

    code: str  # a hash of its syntax tree
    imports: Imports  # absolute dotted names of what it may import: modules, or what is in them


class KernelSources:
    """The modules of a package as they lie on the disk, and the stamps of their kernels.

    package: the directory of a top-level package. memory: a file in which to remember what texts
    come to, in a directory of our own; None: nothing is remembered. loaded_after: the time, as of
    `time.time()`, before which this process had loaded nothing of the package. Files are read once.
    """

    def __init__(
        self,
        package: str = PACKAGE,
        memory: str | None = None,
        loaded_after: float = IMPORTED_AT,
    ) -> None:
        self._loaded_after = loaded_after
        self._root, self._name = os.path.split(package)
        self._memory = memory
        self._known = _read_memory(memory) if memory else {}
        self._parsed: dict[str, _Parsed | None] = {}  # by module; None: there is no such module
        self._fresh = False  # something is known that the file does not hold

    def stamp(self, module: str) -> str | None:
        """Return a hash of the code that the module's kernels depend on, 16 hexadecimal digits.

        None if it is not known what code that is: the module is not part of the package, its source
        is not there, or a source has changed since this process may have loaded it.
        """
        try:
            parts = self._closure(module)
        except (OSError, SyntaxError, ValueError):
            return None
        if not parts:
            return None
        self._remember()
        text = "\n".join(f"{name} {parsed.code}" for name, parsed in sorted(parts.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def dependencies(self, module: str) -> set[str]:
        """Return the names of the modules whose code makes up the module's stamp."""
        return set(self._closure(module))

    def kernel_modules(self, module: str) -> set[str]:
        """Return those of the module's dependencies that define kernels."""
        decorator = f"{self._name}.kernels.kernel"
        closure = self._closure(module)
        return {name for name, parsed in closure.items() if decorator in parsed.imports}

    def _closure(self, module: str) -> dict[str, _Parsed]:
        """Return the modules that a module imports, itself, and the packages around all of these.

        Packages are run before what is in them, so their code counts. What they import counts only
        where they are imported by name: else nothing can be taken from them.
        """
        pending, found, around = [module], dict[str, _Parsed](), set[str]()
        while pending:
            name = pending.pop()
            if name in found or not (name + ".").startswith(self._name + "."):
                continue
            parsed = self._read(name)
            if parsed is not None:
                found[name] = parsed
                pending += parsed.imports
                around.update(_prefixes(name))
        for name in around - found.keys():
            parsed = self._read(name)
            if parsed is not None:
                found[name] = parsed
        return found if module in found else {}

    def _read(self, name: str) -> _Parsed | None:
        if name not in self._parsed:
            self._parsed[name] = self._parse(name)
        return self._parsed[name]

    def _parse(self, name: str) -> _Parsed | None:
        """Return what a module's text comes to; None if there is no such module, or it is apart."""
        if name.removeprefix(self._name + ".") in _APART:
            return None
        path = os.path.join(self._root, *name.split("."))
        is_package = os.path.isdir(path)
        path = os.path.join(path, "__init__.py") if is_package else path + ".py"
        try:
            with open(path, "rb") as stream:
                text = stream.read()
                found = os.fstat(stream.fileno())
        except (FileNotFoundError, NotADirectoryError):
            return None  # a name in a module
        if max(found.st_mtime, found.st_ctime) > self._loaded_after - _CLOCK_STEP:
            raise OSError(f"{path} has changed since the process began to load the package")
        key = f"{name} {hashlib.sha256(text).hexdigest()}"
        if key not in self._known:
            self._known[key] = parse(text, name, is_package)
            self._fresh = True
        return self._known[key]

    def _remember(self) -> None:
        if not (self._memory and self._fresh):
            return
        self._fresh = False
        kept = dict(list(self._known.items())[-_REMEMBERED:])
        text = json.dumps({"python": sys.version, "modules": kept})
        try:
            replace_file(self._memory, text.encode())
        except OSError:
            return  # no space, or no right to write: the next process parses again


def parse(text: bytes, name: str, is_package: bool) -> _Parsed:
    """Return what the text of the module called `name` comes to. Raises SyntaxError, ValueError."""
    tree = ast.parse(text)
    imports = tuple(sorted(_imports(tree, name, is_package)))
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return _Parsed(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports)


def _imports(tree: ast.Module, name: str, is_package: bool) -> set[str]:
    """Return all that is imported anywhere in a tree; too many names rather than too few."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                above = name.split(".")
                above = above[: len(above) - node.level + is_package]
                origin = ".".join([*above, origin] if origin else above)
            names.add(origin)
            names.update(f"{origin}.{alias.name}" for alias in node.names)
    return names


def _prefixes(name: str) -> list[str]:
    """Return the names of the packages around a module, the outermost first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def open_new(path: str) -> BinaryIO:
    """Make a file for this user alone, and open it for writing.

    Raises FileExistsError if the name is taken, by a symbolic link too.
    """
    return os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb"
    )


def replace_file(path: str, data: bytes) -> None:
    """Write a file that others see either as it was or complete. Raises OSError."""
    beside = f"{path}.{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}{UNFINISHED}"
    try:
        with open_new(beside) as stream:
            stream.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _read_memory(path: str) -> dict[str, _Parsed]:
    """Return what a file remembers; nothing if it is not there, spoilt, or another Python's."""
    try:
        with open(path, "rb") as stream:
            found = json.loads(stream.read())
        if found["python"] != sys.version:
            return {}
        return {
            key: _Parsed(str(code), tuple(imports))
            for key, (code, imports) in found["modules"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}

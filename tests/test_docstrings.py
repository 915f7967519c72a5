"""Docstrings of public functions on arrays state a shape, so a caller need not read the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import obscuro

PACKAGE = Path(obscuro.__file__).parent
SHAPE = re.compile(r"\b(u?int\d*|float\d*|bool|complex\d*|kind)\[[^\]\n]+\]")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the dotted name and the parsed text of every module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def is_array_type(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is `NDArray[...]` itself, as the value of an alias must be."""
    return isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith(
        "NDArray"
    )


def array_aliases(module: ast.Module) -> set[str]:
    """Return the module's own names for array types, such as `Words = NDArray[np.uint64]`."""
    return {
        target.id
        for node in module.body
        if isinstance(node, ast.Assign) and is_array_type(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def public_functions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield public functions and the public methods of public classes, with their names."""
    for node in body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{prefix}{node.name}.")


def takes_or_returns_arrays(
    function: ast.FunctionDef | ast.AsyncFunctionDef, array_names: set[str]
) -> bool:
    """Return whether an annotation of a parameter or of the result names an array type."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    annotations = [parameter.annotation for parameter in parameters] + [function.returns]
    words = {
        word
        for annotation in annotations
        if annotation is not None
        for word in re.findall(r"\w+", ast.unparse(annotation))
    }
    return bool(words & array_names)


def functions_without_a_shape(parsed: list[tuple[str, ast.Module]]) -> set[str]:
    """Return `module:name` of every public function on arrays whose docstring states no shape."""
    array_names = {"NDArray"}.union(*(array_aliases(module) for _, module in parsed))
    return {
        f"{name}:{function}"
        for name, module in parsed
        for function, node in public_functions(module.body)
        if takes_or_returns_arrays(node, array_names)
        and not SHAPE.search(ast.get_docstring(node) or "")
    }


def test_public_functions_on_arrays_state_a_shape() -> None:
    missing = functions_without_a_shape(list(modules()))
    assert not missing, "\n".join(sorted(missing))


def test_a_missing_shape_is_found() -> None:
    module = ast.parse(
        "Words = npt.NDArray[np.uint64]\n"
        "def stated(a: NDArray[np.int8]) -> None:\n    'Take int8[n].'\n"
        "def by_alias(a: Words | None) -> None:\n    'Take some words.'\n"
        "def result() -> npt.NDArray[np.int8]:\n    'Return [n] numbers.'\n"
        "def _private(a: Words) -> None: ...\n"
        "def scalar(a: int) -> int: ...\n"
        "class Public:\n    def method(self, *, a: Words) -> None: ...\n"
        "class _Private:\n    def method(self, a: Words) -> None: ...\n"
    )
    assert functions_without_a_shape([("module", module)]) == {
        "module:by_alias",
        "module:result",
        "module:Public.method",
    }

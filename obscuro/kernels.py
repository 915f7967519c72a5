"""The decorator of all compiled functions.

    @kernel
    def double(x):
        return 2 * x

numba compiles a kernel at its first call with arguments of new types. The machine code is kept for
later processes (see `obscuro.kernel_cache`); kernels release Python's lock while they run.
"""

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from numba import njit, types

from obscuro import kernel_cache

try:
    from obscuro.numba_cache import KernelCache
except (ImportError, AttributeError) as error:
    kernel_cache.note_problem(f"this numba keeps compiled code in a way that is new to us: {error}")
    KernelCache = None  # type: ignore[assignment, misc]

_plain: Callable[[Any], Any] = types.unliteral  # Literal[int](3) becomes int64
_named: dict[str, CodeType] = {}  # the first kernel of each name


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a kernel of a function; with options only, return a decorator that does.

    options: of `numba.njit`, such as `forceinline=True`. With NUMBA_DISABLE_JIT the function stays
    as it is.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    dispatcher = njit(nogil=True, **options)(function)
    if dispatcher is not function and isinstance(function, FunctionType):
        _compile_once_for_all_constants(dispatcher)
        if KernelCache is not None:
            dispatcher._cache = KernelCache(function, _file_name(function, options))
    return dispatcher


def _compile_once_for_all_constants(dispatcher: Any) -> None:
    """Make other kernels call the version for int64 where they pass a number from their text.

    numba would compile one for every number. LLVM puts a constant into what it inlines anyway.
    """
    of_types = dispatcher.get_call_template

    def get_call_template(arguments: Any, keywords: dict[str, Any]) -> Any:
        plain = {name: _plain(argument) for name, argument in keywords.items()}
        return of_types(tuple(map(_plain, arguments)), plain)

    dispatcher.get_call_template = get_call_template


def _file_name(function: FunctionType, options: dict[str, Any]) -> str:
    """Return a name that tells a kernel from others of its module.

    It has no line number where it can do without, so that a kernel may move in its file.
    """
    code = function.__code__
    full_name = f"{function.__module__}.{function.__qualname__}"
    words = [function.__qualname__.replace("<", "").replace(">", ""), *sorted(options)]
    if "<locals>" in full_name or _named.setdefault(full_name, code) is not code:
        words.append(f"line{code.co_firstlineno}")
    return "-".join(words)

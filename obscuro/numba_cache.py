"""How numba is told to keep a kernel in our files: what `Dispatcher.enable_caching` does for its own.

The one module that uses what numba does not document (0.61 to 0.68 agree in it).
"""

from __future__ import annotations

import io
import pickle
from hashlib import sha256
from types import FunctionType, SimpleNamespace
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from obscuro import kernel_cache


class _Impl(CompileResultCacheImpl):
    """numba's way to make bytes of a compiled function, without a place to keep it."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self._lineno = code.co_firstlineno
        self._locator = SimpleNamespace(_py_file=code.co_filename)  # for numba's warnings


class KernelCache(FunctionCache):
    """Keeps the compiled versions of one kernel, each in a file of its own.

    name: tells the kernel from others of its module. Nothing is read before the first version is
    needed. Where anything goes wrong the kernel is compiled, and `KernelFiles.problem` says why.
    """

    def __init__(self, function: FunctionType, name: str) -> None:
        self._py_func = function
        self._module = function.__module__
        self._file_name = name
        self._impl = _Impl(function)
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The directory of the module's kernels; None where they are not kept."""
        return kernel_cache.kernel_files().folder(self._module)

    def flush(self) -> None:
        """Do nothing: the files are right by their names, and other processes may use them."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled version for a signature; None if it is not kept."""
        try:
            return self._load(sig, target_context)
        except Exception as error:  # a spoilt file may raise anything, and so may another numba
            self._note(error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the version that has just been compiled for a signature, if numba can."""
        try:
            self._save(sig, data)
        except Exception as error:  # the kernel works all the same
            self._note(error)

    def _load(self, sig: Any, target_context: Any) -> Any:
        files = kernel_cache.kernel_files()
        if not self._enabled or files.folder(self._module) is None:
            return None
        target_context.refresh()  # as numba's own cache does
        key = self._index_key(sig, target_context.codegen())
        data = files.load(self._module, self._file(key))
        if data is None:
            return None
        stream = io.BytesIO(data)
        if pickle.load(stream) != key:
            return None
        return self._impl.rebuild(target_context, pickle.load(stream))

    def _save(self, sig: Any, data: Any) -> None:
        files = kernel_cache.kernel_files()
        if not self._enabled or files.folder(self._module) is None:
            return
        if not self._impl.check_cachable(data):
            return
        key = self._index_key(sig, data.codegen)
        files.save(self._module, self._file(key), dumps(key) + dumps(self._impl.reduce(data)))

    def _file(self, key: object) -> str:
        return (
            f"{self._file_name}-{sha256(repr(key).encode()).hexdigest()[:16]}{kernel_cache.SUFFIX}"
        )

    def _note(self, error: Exception) -> None:
        reason = f"{self._module}.{self._file_name}: {error!r}"
        kernel_cache.kernel_files().problem = reason

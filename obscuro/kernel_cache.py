"""Where compiled kernels are kept: a directory for each module and each version of its code.

    <place>/kernels/obscuro.rules.moves-<stamp>/<kernel>-<signature>.nbc
    <place>/kernels/sources.json      see `obscuro.kernel_sources`

The stamp is a hash of all that the machine code comes from: the module's code and the code of what
it imports, the compilers, the CPU, and the settings of both. So a file is right by its name, versions
stand side by side, and checkouts with the same code share what they have compiled.

Nothing is made, read or removed before the first kernel is needed. OBSCURO_CACHE_DIR names the place;
else it is the user's cache directory. What is found there is unpickled, so a place that other users
may write to is passed over.
"""

import atexit
import contextlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from hashlib import sha256

from obscuro.kernel_sources import UNFINISHED, KernelSources, open_new, replace_file

_NAME = "kernels"
SUFFIX = ".nbc"
"""What the name of a kept kernel ends with."""
_KEPT = 4  # versions of a module that survive, beside the one that is saved
_IN_USE = 3600.0  # seconds since the beginning of its last use in which a version is never removed
_FORGOTTEN = 30 * 86400.0  # seconds after which an unused version is removed
_COMPLETE = "complete-"
_SHARED_MEMORY = "/dev/shm"  # often the one place to write in a read-only container
_VERSION = re.compile(r"(.+)-[0-9a-f]{16}")

# Variables of ours that change the machine code, and numba's settings that do.
_VARIABLES = ("OBSCURO_NO_PEXT", "OBSCURO_SIMD")
_SETTINGS = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML",
    "ENABLE_AVX",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
    "USING_SVML",
)


class KernelFiles:
    """The compiled kernels of a package in one directory.

    directory: made if need be, and ours alone; None: nothing is kept. facts: what else than the
    package's code the machine code depends on.
    """

    def __init__(
        self,
        directory: str | None,
        facts: list[str],
        sources: KernelSources | None = None,
        problem: str = "",
    ) -> None:
        self.directory = directory
        self.problem = problem if directory or problem else "there is no place to write"
        memory = os.path.join(directory, "sources.json") if directory else None
        self._sources = sources or KernelSources(memory=memory)
        self._facts = "\0".join(facts)
        self._folders: dict[str, str | None] = {}  # by module
        self._pruned = False

    def folder(self, module: str) -> str | None:
        """Return the directory for this version of a module's kernels; None: they are not kept.

        It need not exist. If it does, it counts as used now.
        """
        if module not in self._folders:
            self._folders[module] = folder = self._find_folder(module)
            if folder is not None:
                with contextlib.suppress(OSError):  # not there yet, or not ours to write
                    os.utime(folder)
        return self._folders[module]

    def load(self, module: str, name: str) -> bytes | None:
        """Return what is kept under a name; None if there is nothing or it can't be read."""
        folder = self.folder(module)
        if folder is None:
            return None
        try:
            file = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW)
            with open(file, "rb") as stream:
                return stream.read() if _is_ours(os.fstat(file)) else None
        except OSError:
            return None

    def save(self, module: str, name: str, data: bytes) -> None:
        """Keep something; without space, or the right to write, note it as `problem`."""
        folder = self.folder(module)
        if folder is None:
            return
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            replace_file(os.path.join(folder, name), data)
        except OSError as error:
            self.problem = str(error)
            return
        if not self._pruned:
            self._pruned = True
            prune(os.path.dirname(folder))

    def count(self, module: str) -> int:
        """Return how many kernels are kept for a module and all that it imports, in these versions."""
        try:
            used = self._sources.kernel_modules(module)
        except (OSError, SyntaxError, ValueError):
            return 0
        folders = (self.folder(name) for name in used)
        return sum(_count_kernels(folder) for folder in folders if folder is not None)

    def is_complete(self, module: str, use: str) -> bool:
        """Tell whether all kernels for one use of a module were there at an earlier time.

        Its kernels are those in all modules that it imports. What is missing all the same is compiled
        when it is called.
        """
        marker = self._marker(module, use)
        return marker is not None and os.path.exists(marker)

    def note_complete(self, module: str, use: str) -> None:
        """Note that all kernels for one use of a module are there."""
        marker = self._marker(module, use)
        if marker is not None and not os.path.exists(marker):
            with contextlib.suppress(OSError):
                replace_file(marker, b"")

    def _marker(self, module: str, use: str) -> str | None:
        """Return the file that stands for these versions of the kernels that a module uses."""
        if self.directory is None:
            return None
        try:
            used = self._sources.kernel_modules(module)
        except (OSError, SyntaxError, ValueError):
            return None
        versions = sorted(os.path.basename(self.folder(name) or name) for name in used)
        digest = sha256("\0".join([use, *versions]).encode()).hexdigest()[:16]
        return os.path.join(self.directory, f"{_COMPLETE}{digest}")

    def _find_folder(self, module: str) -> str | None:
        if self.directory is None:
            return None
        stamp = self._sources.stamp(module)
        if stamp is None:
            return None
        version = sha256(f"{stamp}\0{self._facts}".encode()).hexdigest()[:16]
        return os.path.join(self.directory, f"{module}-{version}")


_files: list[KernelFiles] = []  # the one of this process, once it is needed


def _count_kernels(folder: str) -> int:
    try:
        return sum(name.endswith(SUFFIX) for name in os.listdir(folder))
    except OSError:
        return 0


def kernel_files() -> KernelFiles:
    """Return the kernels of this package, in the first place that can be written.

    Loads numba.
    """
    if not _files:
        _files.append(KernelFiles(find_directory(), facts()))
    return _files[0]


def note_problem(problem: str) -> None:
    """Note that kernels are not kept at all, and why."""
    _files[:] = [KernelFiles(None, [], problem=problem)]


def facts() -> list[str]:
    """Return what the kernels' machine code depends on beside their code. Loads numba."""
    import llvmlite  # noqa: PLC0415 - most uses of this module need none of these
    import numba  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    from llvmlite import binding  # noqa: PLC0415

    from obscuro.target_cpu import target_cpu  # noqa: PLC0415

    name, features = target_cpu()
    return [
        *(f"{package.__name__} {package.__version__}" for package in (llvmlite, numba, np)),
        f"{sys.implementation.cache_tag} {sys.version} {getattr(sys, 'abiflags', '')}",
        f"{binding.get_process_triple()} {name} {sorted(features)}",
        *(f"{name}={os.environ.get(name)}" for name in _VARIABLES),
        *(f"{name}={getattr(numba.config, name, None)!r}" for name in _SETTINGS),
    ]


def find_directory() -> str | None:
    """Return the first place for kernels that is ours and can be written; make it if need be."""
    return next(
        (each for each in candidates(_NAME) if _is_private(each) and _is_writable(each)), None
    )


def candidates(name: str) -> Iterator[str]:
    """Yield the directories called `name` in which to keep things, the best first.

    They need not exist, nor be writable; the last ones are removed at the end of the process.
    """
    base = os.environ.get("OBSCURO_CACHE_DIR")
    if base:
        yield os.path.join(os.path.abspath(os.path.expanduser(base)), name)
    else:
        import platformdirs  # noqa: PLC0415 - slow, hence only here

        caches = platformdirs.user_cache_dir("obscuro", appauthor=False)
        if os.path.isabs(caches):  # else there is no home directory
            yield os.path.join(caches, name)

    import tempfile  # noqa: PLC0415 - slow, hence only here

    try:
        temporary = tempfile.gettempdir()
    except OSError:
        temporary = _SHARED_MEMORY
    for parent in (temporary, _SHARED_MEMORY):
        private = os.path.join(parent, f"obscuro-{os.getuid()}")
        if _is_private(private):
            yield os.path.join(private, name)
        try:
            passing = tempfile.mkdtemp(prefix="obscuro-", dir=parent)
        except OSError:
            continue
        atexit.register(_remove_if_ours, passing, os.getpid())
        yield passing


def _is_writable(directory: str) -> bool:
    """Make the directory if need be, and try whether it takes a file."""
    probe = os.path.join(directory, f"probe-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        with open_new(probe) as stream:
            stream.write(bytes(4096))
        os.unlink(probe)
    except OSError:
        return False
    return True


def _is_private(directory: str) -> bool:
    """Make the directory if need be; tell whether it is ours alone.

    What is found in the cache is unpickled, so no other user may be able to put anything there.
    """
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        found = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_ours(found)


def _is_ours(found: os.stat_result) -> bool:
    """Tell whether no other user can write to what was found."""
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _remove_if_ours(directory: str, owner: int) -> None:
    """Remove the directory at the end of the process that made it, not at a forked child's."""
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


def prune(directory: str) -> None:
    """Remove versions that have been out of use for long, and what killed processes left behind.

    directory: that of all kernels. A module's newest versions survive until they are forgotten.
    """
    now = time.time()
    removed = False
    versions: dict[str, int] = {}  # of each module, counted from the newest
    for used, path in sorted(_entries(directory), reverse=True):
        name = os.path.basename(path)
        if match := _VERSION.fullmatch(name):
            module = match[1]
            versions[module] = versions.get(module, 0) + 1
            spare = versions[module] > _KEPT + 1 or used < now - _FORGOTTEN
            if spare and used < now - _IN_USE:
                shutil.rmtree(path, ignore_errors=True)
                removed = True
        elif name.endswith(UNFINISHED) and used < now - _IN_USE:
            with contextlib.suppress(OSError):
                os.unlink(path)
    if removed:
        for _, path in _entries(directory):
            if os.path.basename(path).startswith(_COMPLETE):
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _entries(directory: str) -> list[tuple[float, str]]:
    """Return the time and the path of everything in a directory."""
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
                except OSError:  # another process has removed it
                    continue
    except OSError:
        return []
    return found

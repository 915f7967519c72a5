"""Where numba keeps the compiled kernels: one directory for each version of their sources.

numba compiles a function anew when its own file changes, but not when a function or a constant that
it uses from another file does: it would go on with old machine code. So all kernels share a
directory whose name is a hash of everything that goes into them: their sources, the compilers, and
the CPU. A change of any of these starts a fresh directory; old ones are removed.

This must happen before numba is imported, so `import obscuro` does it, whatever NUMBA_CACHE_DIR
says. OBSCURO_CACHE_DIR names the directory that holds the kernel directories.
"""

import atexit
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_PREFIX = "kernels-"
_KEPT = 4  # directories of other versions that survive
_IN_USE = 3600.0  # seconds since its last use began in which a directory is never removed
_SHARED_MEMORY = "/dev/shm"  # often the one place to write in a read-only container

_COMPILERS = ("numba", "llvmlite")
_MARKS = (b"njit", b"intrinsic")
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]*)", re.M)
_WORD = re.compile(rb"[\w.]+")
# Variables that change the machine code and that numba's own index does not know.
_VARIABLES = (
    "OBSCURO_NO_PEXT",
    "OBSCURO_SIMD",
    "NUMBA_BOUNDSCHECK",
    "NUMBA_DEBUGINFO",
    "NUMBA_OPT",
)
_CPU_FIELDS = ("model name", "flags", "Features", "CPU implementer", "CPU part", "cpu model", "isa")


def activate() -> str | None:
    """Point numba to the directory for this version of the kernels; make it if need be.

    Returns the directory. None where the system has no place to write at all: then numba compiles
    the kernels anew in every process.
    """
    places = candidates(_PREFIX + cache_key())
    directory = next(filter(_is_writable, places), None)
    if directory is None:
        os.environ.pop("NUMBA_CACHE_DIR", None)
        _compile_without_cache()
        return None
    os.environ["NUMBA_CACHE_DIR"] = directory
    config = sys.modules.get("numba.core.config")
    if config is not None:  # numba has read its environment already
        config.CACHE_DIR = directory  # type: ignore[attr-defined]
    _prune(directory)
    return directory


def cache_key(package: str = _PACKAGE) -> str:
    """Return a hash of all that the kernels' machine code depends on, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, text in sorted(kernel_sources(package).items()):
        digest.update(b"%s\0%d\0" % (name.encode(), len(text)))
        digest.update(text)
    facts = [sys.version, platform.machine(), _cpu(), *map(_compiler_version, _COMPILERS)]
    facts += [f"{name}={os.environ.get(name)}" for name in _VARIABLES]
    digest.update("\0".join(facts).encode())
    return digest.hexdigest()[:16]


def kernel_sources(package: str = _PACKAGE) -> dict[str, bytes]:
    """Return the text of every module that can change a kernel, by its dotted name.

    These are the modules that define kernels (they say `njit` or `intrinsic` somewhere), and what
    they import from the package, directly or not: numba compiles the values of global names, such
    as a constant from another module, into the code.
    """
    modules = dict(_modules(package))
    pending = [name for name, text in modules.items() if any(mark in text for mark in _MARKS)]
    sources: dict[str, bytes] = {}
    while pending:
        name = pending.pop()
        if name in modules and name not in sources:
            sources[name] = modules[name]
            pending += _imports(modules[name])
    return sources


def _modules(package: str) -> Iterator[tuple[str, bytes]]:
    """Yield the dotted name and the text of every module below the directory `package`."""
    root = os.path.dirname(package)
    for folder, subfolders, files in os.walk(package):
        subfolders[:] = [name for name in subfolders if name != "__pycache__"]
        dotted = os.path.relpath(folder, root).replace(os.sep, ".")
        for file in files:
            if not file.endswith(".py"):
                continue
            try:
                with open(os.path.join(folder, file), "rb") as stream:
                    text = stream.read()
            except OSError:  # taken away between the listing and the reading
                continue
            yield dotted if file == "__init__.py" else f"{dotted}.{file[:-3]}", text


def _imports(text: bytes) -> Iterator[str]:
    """Yield the dotted names that a module's text may import; too many rather than too few."""
    for origin, names in _IMPORT.findall(text):
        if origin:
            yield origin.decode()
        for name in _WORD.findall(names):
            yield (origin + b"." + name if origin else name).decode()


def _cpu() -> str:
    """Return the model and the instruction sets of the first CPU."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace", buffering=4096) as lines:
            fields: list[str] = []
            for line in lines:
                if not line.strip() and fields:  # the next CPU begins
                    break
                if line.split(":")[0].strip() in _CPU_FIELDS:
                    fields.append(line.strip())
            return "\n".join(fields)
    except OSError:
        return platform.processor()


def _compiler_version(name: str) -> str:
    """Return what tells one version of an installed package from another, without importing it.

    Reading the file that holds the version takes a tenth of the time of `importlib.metadata`.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py"), "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        from importlib.metadata import version  # noqa: PLC0415 - slow, hence only here

        return version(name)


def candidates(name: str) -> Iterator[str]:
    """Yield the directories called `name` in which to keep things, the best first.

    They need not exist, nor be writable; the last ones are removed at the end of the process.
    """
    base = os.environ.get("OBSCURO_CACHE_DIR")
    if base:
        yield os.path.join(os.path.abspath(os.path.expanduser(base)), name)
    else:
        caches = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(caches):
            caches = os.path.join(os.path.expanduser("~"), ".cache")
        if os.path.isabs(caches):  # else there is no home directory
            yield os.path.join(caches, "obscuro", name)

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
    """Make the directory if need be, mark it as used now, and try whether it takes a file."""
    probe = os.path.join(directory, f"probe-{os.getpid()}")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        with open(probe, "wb") as stream:
            stream.write(bytes(4096))
        os.unlink(probe)  # also renews the directory's time, which `_prune` goes by
    except OSError:
        return False
    return True


def _is_private(directory: str) -> bool:
    """Make the directory if need be; tell whether it is ours alone.

    numba unpickles what it finds in its cache, so nobody else may be able to put anything there.
    """
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        found = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _remove_if_ours(directory: str, owner: int) -> None:
    """Remove the directory at the end of the process that made it, not at a forked child's."""
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


def _compile_without_cache() -> None:
    """Make numba ignore `cache=True`, which without a place to write is an error to it."""
    from numba.core.dispatcher import Dispatcher  # noqa: PLC0415 - numba is loaded in this case only

    Dispatcher.enable_caching = lambda self: None  # type: ignore[method-assign]


def _prune(current: str) -> None:
    """Remove kernel directories beside `current` that have been out of use for long."""
    parent, name = os.path.split(current)
    if not name.startswith(_PREFIX):  # a passing directory in a place that isn't ours
        return
    try:
        with os.scandir(parent) as entries:
            others = [
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if re.fullmatch(_PREFIX + "[0-9a-f]{16}", entry.name)
                and entry.is_dir(follow_symlinks=False)
                and entry.path != current
            ]
    except OSError:
        return
    for used, path in sorted(others, reverse=True)[_KEPT:]:
        if used < time.time() - _IN_USE:
            shutil.rmtree(path, ignore_errors=True)

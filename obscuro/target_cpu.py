"""The processor that kernels are compiled for: this machine's, or one that stands for many.

numba compiles for NUMBA_CPU_NAME with NUMBA_CPU_FEATURES where both are set. So an image or a shared
directory can hold kernels for any machine of a level, as with `NUMBA_CPU_NAME=x86-64-v3` and
`NUMBA_CPU_FEATURES=` (empty). What a kernel may use then is what the level has, whatever this
machine has besides.
"""

from functools import cache

import llvmlite.binding as llvm
from numba.core import config

_V2 = frozenset({"cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
LEVELS = {"x86-64": frozenset[str](), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
"""LLVM's names of the levels of the x86-64 psABI, and those of their features that we ask for."""


@cache
def target_cpu() -> tuple[str, frozenset[str]]:
    """Return LLVM's name of the processor that is compiled for, and the features that it has.

    Of a named processor that is no level, no feature counts as there.
    """
    name, features = config.CPU_NAME, config.CPU_FEATURES  # type: ignore[attr-defined]  # set at run time
    if name is not None and features is not None:
        given = {word[1:] for word in features.split(",") if word.startswith("+")}
        return name, LEVELS.get(name, frozenset()) | given
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM can't tell on some systems; numba then goes by the CPU's name too
        found = {}
    return name or llvm.get_host_cpu_name(), frozenset(each for each, has in found.items() if has)

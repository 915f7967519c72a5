"""Obscuro: an engine for Fog of War chess (dark chess).

Importing the package loads neither numba nor numpy and changes nothing in the process: compiled
kernels are looked for when the first one is called (see `obscuro.kernel_cache`).
"""

import time

__version__ = "0.3.0"

IMPORTED_AT = time.time()  # seconds; every other module of the package is loaded later

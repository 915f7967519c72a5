"""Obscuro: an engine for Fog of War chess (dark chess).

Importing the package costs a few milliseconds: it loads neither numba nor numpy, it only says where
numba is to keep the compiled kernels (see `obscuro.kernel_cache`).
"""

from obscuro import kernel_cache

__version__ = "0.2.0"

kernel_cache.activate()

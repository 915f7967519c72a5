"""How long a test waits for something that must happen."""

HANG_SECONDS = 600.0
"""Nothing takes so long, not even a start that compiles all kernels: it ends a test that hangs."""

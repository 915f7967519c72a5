"""The consoles of the command line's tests, for benchmarks, which print too."""

from tests.cli.conftest import console, terminal

__all__ = ["console", "terminal"]

"""Settings shared by all tests."""

from __future__ import annotations

import hypothesis

# The first call of a kernel compiles it, so a deadline would measure the compiler.
hypothesis.settings.register_profile("obscuro", deadline=None)
hypothesis.settings.load_profile("obscuro")

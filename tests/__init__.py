"""Tests, one folder for each package; ``tests.reference`` is their slow oracle."""

"""Benchmarks of the engine's parts, one module for each `obscuro bench NAME`."""

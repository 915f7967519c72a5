"""Benchmarks: `obscuro bench NAME`, one module each. They measure what the papers leave to the machine."""

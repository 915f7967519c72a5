"""Depth-limited solving with value functions of both players' ranges, in small games."""

"""Slow checks: exactness of beliefs, small games, faults, endurance."""

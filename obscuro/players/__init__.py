"""Opponents for the engine, behind the same front end."""

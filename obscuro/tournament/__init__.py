"""Tournaments: their files, standings, ratings against time, and the HTML report."""

"""Measurements of time and memory that take long or a quiet machine."""

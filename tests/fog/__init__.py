"""Tests of the rules of the fog."""

"""Samples whose best weights are known, and a network that needs no Stockfish."""

from __future__ import annotations

import functools

import numpy as np

from obscuro.evaluation.fog_values.correction import CONSTANT, FIRST_FEATURE, WEIGHT_COUNT
from obscuro.evaluation.fog_values.sight_features import FEATURES
from obscuro.learn.problem import design_of
from obscuro.learn.samples import SampleFile, Samples
from tests.evaluation.naive import game_boards, words_of

GAMES = 20
TAU = 6.0
SQUARES = FIRST_FEATURE + FEATURES.index("tens of squares seen")
UNSEEN = FIRST_FEATURE + FEATURES.index("pieces that the enemy does not see, without pawns")
ORIGIN = {"obscuro": "0", "network": "made up", "search": None}


@functools.cache
def positions() -> np.ndarray:
    return words_of(game_boards(seed=5, count=400))


def known_weights() -> np.ndarray:
    weights = np.zeros(WEIGHT_COUNT)
    weights[CONSTANT] = 0.4
    weights[SQUARES], weights[UNSEEN] = -0.1, 0.25
    return weights


def samples(seed: int = 1, noise: float = 0.0) -> Samples:
    """Samples in which solved trees say what the known weights say, and results follow them."""
    random = np.random.default_rng(seed)
    states = positions()
    count = len(states)
    pawns = random.normal(0, 2, count)
    leaf = np.tanh(pawns / TAU).astype(np.float32)
    added = design_of(states, TAU * np.arctanh(leaf.astype(float))) @ known_weights()
    value = np.tanh((TAU * np.arctanh(leaf.astype(float)) + np.clip(added, -2, 2)) / TAU)
    solved = np.clip(value + random.normal(0, noise, count), -1, 1)
    return Samples(
        states,
        leaf,
        solved.astype(np.float32),
        np.full(count, 0.5, np.float32),
        np.ones(count, np.bool_),
        (np.arange(count) % GAMES).astype(np.uint64),
        (np.arange(count) // GAMES).astype(np.int16),
        np.where(random.random(count) < (1 + value) / 2, 1, -1).astype(np.int8),
    )


def sample_file(**more: float) -> SampleFile:
    return SampleFile(samples(**more), ORIGIN, np.arange(GAMES, dtype=np.uint64))

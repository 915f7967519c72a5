"""Random numbers for kernels (splitmix64); the caller passes the state in."""

import numpy as np

from obscuro.kernels import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S40 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(40)
_UNIT = np.float32(2.0**-24)


@kernel
def uniform(state):
    """The next number in [0, 1) as float32; state: uint64[1], advanced."""
    state[0] += _STEP
    word = state[0]
    word = (word ^ (word >> _S30)) * _M1
    word = (word ^ (word >> _S27)) * _M2
    word ^= word >> _S31
    return np.float32(word >> _S40) * _UNIT


@kernel
def sample(state, weights):
    """Draw an index in proportion to `weights`, float32[k] of any sum; -1 if all are 0."""
    total = np.float32(0)
    for weight in weights:
        total += weight
    if total <= 0:
        return -1
    left = uniform(state) * total
    last = -1
    for index in range(weights.shape[0]):
        if weights[index] > 0:
            last = index
            left -= weights[index]
            if left < 0:
                return index
    return last

"""Questions about a set of records, answered by one pass over it."""

from obscuro.belief.record import unpack
from obscuro.kernels import kernel
from obscuro.rules.layout import ALL
from obscuro.rules.observation_words import OBSERVATION_WORDS, observation_words


@kernel
def find(records, record):
    """The first row of uint64[n, 3] that is equal to uint64[3], or -1."""
    for row in range(records.shape[0]):
        if (
            records[row, 0] == record[0]
            and records[row, 1] == record[1]
            and records[row, 2] == record[2]
        ):
            return row
    return -1


@kernel
def common_king(records):
    """Squares where the other side has a king in every record, as a uint64 mask."""
    common = ALL
    for row in range(records.shape[0]):
        common &= records[row, 0] & ~(records[row, 1] | records[row, 2])
        if common == 0:
            break
    return common


@kernel
def common_observation(tables, known, records, side, observed):
    """Whether `side` observes the same in all records; written to `observed`: uint64[9].

    known: see `record`.
    """
    for row in range(records.shape[0]):
        pos = unpack(known, records[row, 0], records[row, 1], records[row, 2])
        actual = observation_words(tables, pos, side)
        for word in range(OBSERVATION_WORDS):
            if row == 0:
                observed[word] = actual[word]
            elif observed[word] != actual[word]:
                return False
    return records.shape[0] > 0

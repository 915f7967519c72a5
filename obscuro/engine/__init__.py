"""One side's player: its options, clock and turns. It knows nothing but what its side saw."""

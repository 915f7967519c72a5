"""One side's player: its options, its clock and its turn loop. Sees nothing but what its side saw."""

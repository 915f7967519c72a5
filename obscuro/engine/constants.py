"""The engine's own constants: shares of a turn's time and of the clock."""

# Shares of one turn's time.
BELIEF_SHARE = 0.5  # the belief update is cut by sampling past this
SAMPLING_SHARE = 0.3  # no more positions are added at the root past this share of what is left
SAMPLING_CHUNK = 32  # positions expanded between two looks at the clock

# Shares of the clock.
MOVES_TO_GO = 35  # moves that the remaining time is spread over, without `movestogo`
INCREMENT_SHARE = 0.8
MOST_OF_CLOCK = 0.25  # of the remaining time, for one move
UNSETTLED_FACTOR = 2.5  # times the usual, at most, for a move that is not settled
LEAST_SECONDS = 0.01

FIFTY_MOVES = 100  # plies without pawn move or capture that end a game
REPETITIONS = 3

"""The engine's own constants: shares of a turn's time and of the clock."""

# Shares of one turn's time.
BELIEF_SHARE = 0.5  # past this the belief update stops, and keeps a sample
SAMPLING_SHARE = 0.4  # of what is left after that; past this the root gets no more positions
SAMPLING_CHUNK = 32  # positions expanded between two looks at the clock

# Shares of the clock.
MOVES_TO_GO = 35  # the remaining time is for so many moves if there is no `movestogo`
INCREMENT_SHARE = 0.8
MOST_OF_CLOCK = 0.25  # of the remaining time, for one move
UNSETTLED_FACTOR = 2.5  # a move that is not settled may take so many times the usual
LEAST_SECONDS = 0.01

FIFTY_MOVES = 100  # plies without a pawn move or a capture; then the game is drawn
REPETITIONS = 3

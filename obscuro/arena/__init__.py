"""Games between players under a referee's eye: matches, their statistics, Elo and PGN."""

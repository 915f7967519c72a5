"""Games between players under a referee: matches, their statistics, Elo and PGN."""

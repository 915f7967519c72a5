"""A bot account on a server with the lichess bot API: its challenges, its games and its engine."""

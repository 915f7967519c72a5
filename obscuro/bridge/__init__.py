"""A bot account on a server with the lichess bot API: challenges, games, and the engine behind them."""

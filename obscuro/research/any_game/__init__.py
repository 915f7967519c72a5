"""Any two-player zero-sum game with perfect recall, solved or played by the search of the engine.

A game is a class that implements `obscuro.research.games.extensive_form.ExtensiveForm`. `solved_game.solve`
solves a small one, `game_player.GamePlayer` plays one turn by turn, and `game_referee.play` is the
referee of a game between two players. `game_check.check_game` finds faults of a game and names a
history that shows them. No file in here knows chess.
"""

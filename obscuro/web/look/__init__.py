"""Pages that show games: finished ones, games of files, and two engines as they play."""

"""The engine's front end: UCI, plus what fog needs. Parses, referees, prints.

Whole games end here: what goes on to `obscuro.engine` is one side's moves and what it saw.
"""

"""The engine's front end: UCI, and what the fog needs beside it. It parses, referees and prints.

A whole game never leaves this package: `obscuro.engine` gets one side's moves and what it saw.
"""

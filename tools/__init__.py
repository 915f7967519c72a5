"""Tools for developers; each is started from the top of the repository as `python -m tools.ROOM.NAME`."""

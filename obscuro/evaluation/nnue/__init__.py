"""Stockfish's network in this process, read from the user's own copy of Stockfish.

Importing this package imports none of its modules. The modules that read and store the network do
not load numba.

The kernels share these parameters:

    weights        the network's parameters, a record with the fields of `weights.weight_fields`
    work           one thread's memory, a record with the fields of `workspace.workspace_fields`
    frame          the index of a ply's frame in `work`
    pos            a position, a tuple of 8 uint64 words (`board.position.load`)
    tables         the attack tables of `board.tables`
    perspective    the side in whose view a number is, 0 = White
"""

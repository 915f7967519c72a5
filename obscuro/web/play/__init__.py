"""Games of a person against the engine, and of two engines: referee, clocks, file, sockets."""

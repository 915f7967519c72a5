"""The board in the browser: games against the engine, with this server as the referee."""

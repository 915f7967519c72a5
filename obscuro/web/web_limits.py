"""The limits of the web server, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebLimits:
    """What browsers may ask of the server. Times are seconds, sizes bytes.

    games: awake at the same time; each has an engine's process, a match of two engines has two.
    visitor_games: unfinished games of one visitor. stored: games that are kept. sockets: of all
    browsers. game_sockets: of one player's game. body, file, message: the most bytes. body_seconds,
    send_seconds: after these a slow browser is given up. sleep_after: a game sleeps that nobody has
    looked at for so long.

    post_burst, post_rate: requests that change something, of one visitor. created_burst,
    created_rate: new games of all visitors together. message_burst, message_rate: messages on one
    socket. strikes: refused messages in a row that close a socket. pause: an engine's move is shown
    no sooner than this after its turn began. pause_clock: it waits only if its clock shows more.
    """

    games: int = 8
    visitor_games: int = 20
    stored: int = 10_000
    sockets: int = 256
    game_sockets: int = 32
    body: int = 4096
    file: int = 1 << 20
    message: int = 4096
    body_seconds: float = 10.0
    send_seconds: float = 20.0
    post_burst: float = 20
    post_rate: float = 0.5
    created_burst: float = 30
    created_rate: float = 0.5
    message_burst: float = 20
    message_rate: float = 5
    strikes: int = 100
    sleep_after: float = 600.0
    pause: float = 0.5
    pause_clock: float = 10.0

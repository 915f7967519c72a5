"""All games of the server: starts them, wakes them, lets them sleep, and keeps to the limits."""

from __future__ import annotations

import asyncio
import datetime
import logging
import secrets
import string

from obscuro.web.play.game_room import GameRoom, GameServices
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.game_store import StoredGame
from obscuro.web.play.hosted_game import HostedGame, RefusedMove
from obscuro.web.web_limits import (
    CONFLICT,
    NOT_FOUND,
    TOO_MANY,
    UNAVAILABLE,
    BucketTable,
    WebError,
)

ID_LENGTH = 12
MOST_ROOMS = 2_000
"""Games in memory; past that those sleep that nobody looks at."""
_LETTERS = string.ascii_lowercase + string.digits
_SWEEP_SECONDS = 30.0

logger = logging.getLogger("obscuro.web")


class GameLobby:
    """The games under way, by id. Others are in the file.

    A game sleeps while no browser looks at it and nothing happens in it: it is not in memory then,
    and wakes when its player comes back. A game of two engines sleeps while nobody looks at it.
    """

    def __init__(self, services: GameServices) -> None:
        self.store = services.store
        self._services = services
        self._limits = services.limits
        self._rooms: dict[str, GameRoom] = {}
        limits = services.limits
        self._created = BucketTable(limits.created_burst, limits.created_rate, services.clock)

    @property
    def has_matches(self) -> bool:
        """Whether two engines may play each other."""
        return self._limits.matches and self._limits.games > 1

    def is_awake(self, game_id: str) -> bool:
        """Tell whether a game is in memory."""
        return game_id in self._rooms

    # -- games ------------------------------------------------------------------------------

    def create(self, setup: GameSetup, visitor: str, address: str = "") -> GameRoom:
        """Start a game. visitor: the hash of who wants it. address: where the wish comes from.

        Raises WebError, StoreError.
        """
        limits = self._limits
        if setup.human is None and not self.has_matches:
            raise WebError(CONFLICT, "on this server no two engines play each other")
        if not self._created.take(address):
            raise WebError(TOO_MANY, "too many new games; wait a little")
        if self.store.count_unfinished(visitor) >= limits.visitor_games:
            raise WebError(
                TOO_MANY, f"you have {limits.visitor_games} unfinished games; end one first"
            )
        own, size = limits.visitor_stored, limits.stored_bytes
        if not self.store.make_place(visitor, self._rooms, most=limits.stored, own=own, size=size):
            raise WebError(UNAVAILABLE, "the server can keep no more games; try later")
        game = HostedGame(new_game_id(), setup)
        started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.store.add(game, visitor, started)
        return self._open(game, visitor, address)

    def room(self, game_id: str, visitor: str | None, address: str = "") -> GameRoom:
        """Return a game that this visitor may see, awake. Raises WebError, StoreError.

        Who knows the id of a game of two engines may see it. Only its player sees a player's game.
        """
        room = self._rooms.get(game_id)
        if room is None:
            stored = self.stored(game_id, visitor)
            room = self._open(stored.game(), stored.visitor, address)
        elif not _may_see(room.game.setup, room.owner, visitor):
            raise _unknown()
        room.address = address
        return room

    def stored(self, game_id: str, visitor: str | None) -> StoredGame:
        """Return a game that this visitor may see, as the file has it. Raises WebError."""
        stored = self.store.load(game_id) if is_game_id(game_id) else None
        if stored is None or not _may_see(stored.setup, stored.visitor, visitor):
            raise _unknown()
        return stored

    def finished(self, game_id: str, visitor: str | None) -> StoredGame:
        """Return a game whose every move this visitor may see. Raises WebError.

        That is a game of two engines, or a player's game that is over.
        """
        stored = self.stored(game_id, visitor)
        if stored.setup.human is not None and stored.result is None:
            raise WebError(CONFLICT, "the game is not over")
        return stored

    def rematch(self, room: GameRoom) -> str:
        """Return the game that follows this one, with the sides changed; start it if need be.

        Raises RefusedMove, WebError, StoreError.
        """
        result = room.game.result
        if result is None:
            raise RefusedMove("the game is not over")
        if result.rematch is not None:
            return result.rematch
        follower = self.create(room.game.setup.turned(), room.owner, room.address)
        room.change(lambda _: room.game.set_rematch(follower.game.id))
        return follower.game.id

    # -- sleep ------------------------------------------------------------------------------

    def leave(self, room: GameRoom) -> None:
        """Take note that a browser has left a game."""
        over = room.game.result is not None or room.game.setup.human is None
        if over and not room.watchers:
            self._drop(room)

    async def keep_tidy(self) -> None:
        """Sweep without end."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.sweep()

    def sweep(self) -> None:
        """Let games sleep that no browser has looked at for long.

        A game that is looked at, but in which nothing happens, gives its engine back.
        """
        latest = self._services.clock() - self._limits.sleep_after
        for room in list(self._rooms.values()):
            if room.used > latest:
                continue
            if room.may_sleep:
                self._drop(room)
            elif room.may_yield:
                room.yield_engines()

    def close(self) -> None:
        """Leave all games as they are in the file."""
        for room in list(self._rooms.values()):
            self._drop(room)

    # -- inside -----------------------------------------------------------------------------

    def _open(self, game: HostedGame, owner: str, address: str) -> GameRoom:
        if len(self._rooms) >= MOST_ROOMS:
            unseen = [room for room in self._rooms.values() if not room.watchers]
            if unseen:
                self._drop(min(unseen, key=lambda room: room.used))
        room = GameRoom(game, owner, self._services, on_broken=self._drop, address=address)
        self._rooms[game.id] = room
        room.open()
        return room

    def _drop(self, room: GameRoom) -> None:
        self._rooms.pop(room.game.id, None)
        room.close()


def new_game_id() -> str:
    """Return an id that can't be guessed."""
    return "".join(secrets.choice(_LETTERS) for _ in range(ID_LENGTH))


def is_game_id(text: str) -> bool:
    """Tell whether a text has the form of a game's id."""
    return len(text) == ID_LENGTH and all(letter in _LETTERS for letter in text)


def _may_see(setup: GameSetup, owner: str, visitor: str | None) -> bool:
    return setup.human is None or owner == visitor


def _unknown() -> WebError:
    return WebError(NOT_FOUND, "there is no such game")

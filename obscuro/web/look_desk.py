"""All games that browsers look at: finished ones, games of files, and games of two engines."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import chess.pgn

from obscuro.viewer.document import GameDocument, ShownAdvice
from obscuro.viewer.game_file import GameFileError, games_of_text
from obscuro.web.consultant import Consultant, GameAnalyst
from obscuro.web.game_database import StoreError
from obscuro.web.game_lobby import GameLobby, new_game_id
from obscuro.web.game_room import GameRoom
from obscuro.web.game_store import StoredGame
from obscuro.web.hosted_game import HostedGame
from obscuro.web.look_room import LookLimits, LookRoom
from obscuro.web.look_store import FileGame, LookStore
from obscuro.web.stored_record import pgn_of
from obscuro.web.web_error import BAD_REQUEST, CONFLICT, TOO_MANY, WebError

MOST_ROOMS = 64
"""So many games may be looked at at the same time."""

logger = logging.getLogger("obscuro.web")


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A game as it is to be shown. live: whether more moves may come. stored: None for a file's."""

    game: chess.pgn.Game
    live: bool
    stored: StoredGame | None


class LookDesk:
    """Opens games to look at, and closes them once nobody does.

    make_analyst: makes the engine that gives advice; None: there is none.
    """

    def __init__(
        self,
        lobby: GameLobby,
        folder: Path,
        make_analyst: Callable[[], GameAnalyst] | None,
        limits: LookLimits | None = None,
    ) -> None:
        self._lobby = lobby
        self._store = LookStore(folder)
        self.limits = limits or LookLimits()
        self._rooms: dict[str, LookRoom] = {}
        self._closing: set[asyncio.Task[None]] = set()
        # A long game that is over must not hold up one that goes on, nor a file.
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="document")
        self._quick = ThreadPoolExecutor(2, thread_name_prefix="look")
        # A question about one position need not wait for the analysis of a whole game.
        most = self.limits.questions
        self._adviser = None if make_analyst is None else Consultant(make_analyst, most)
        self._analyst = None if make_analyst is None else Consultant(make_analyst, most)

    # -- games ------------------------------------------------------------------------------

    def find(self, game_id: str, visitor: str | None) -> LookedAt:
        """Return a game whose every move this visitor may see. Raises WebError."""
        file = self._store.game(game_id, visitor)
        if file is not None:
            return LookedAt(games_of_text(file.pgn).games[0], False, None)
        stored = self._lobby.finished(game_id, visitor)
        return LookedAt(pgn_of(stored), stored.result is None, stored)

    def room(self, game_id: str, visitor: str | None) -> LookRoom:
        """Return a game that this visitor may look at, opened. Raises WebError."""
        found = self.find(game_id, visitor)
        room = self._rooms.get(game_id)
        if room is None:
            if len(self._rooms) >= MOST_ROOMS:
                raise WebError(TOO_MANY, "the server shows too many games; try later")
            room = self._open(game_id, found, visitor)
        return room

    def close_unused(self, game_id: str) -> None:
        """Close a game at which nobody looks."""
        room = self._rooms.get(game_id)
        if room is None or room.used:
            return
        del self._rooms[game_id]
        self._end(room)
        if not self._rooms:
            for consultant in self._consultants:
                consultant.rest()

    async def open_file(self, text: str, visitor: str) -> tuple[list[FileGame], list[str]]:
        """Keep the games of a PGN text as a visitor's. Raises WebError, StoreError.

        Returns the games, and what is wrong with others.
        """
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                self._quick, games_of_text, text
            )
        except GameFileError as error:
            raise WebError(BAD_REQUEST, str(error)) from None
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
        games = [_file_game(game, visitor, now) for game in found.games]
        self._store.add_games(games)
        return games, found.faults

    def files_of(self, visitor: str, most: int) -> list[FileGame]:
        """Return a visitor's games of files, the newest first, without their moves."""
        return self._store.games_of(visitor, most)

    # -- the engine -------------------------------------------------------------------------

    async def advise(self, game_id: str, visitor: str | None, ply: int) -> ShownAdvice:
        """Return what the engine would play. Raises WebError, AnalysisError."""
        found = self.find(game_id, visitor)
        if found.live:
            raise WebError(CONFLICT, "the game is not over")
        if self._adviser is None:
            raise WebError(CONFLICT, "this server has no engine for that")
        return await self._adviser.advise(found.game, ply)

    async def close(self) -> None:
        """Close all games, and end the engines."""
        for consultant in self._consultants:
            consultant.close()
        for game_id in list(self._rooms):
            self._end(self._rooms.pop(game_id))
        await asyncio.gather(*self._closing, return_exceptions=True)
        for pool in (self._slow, self._quick):
            pool.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    # -- inside -----------------------------------------------------------------------------

    @property
    def _consultants(self) -> list[Consultant]:
        return [each for each in (self._adviser, self._analyst) if each is not None]

    def _open(self, game_id: str, found: LookedAt, visitor: str | None) -> LookRoom:
        document = None if found.live else self._store.document(game_id)
        match = self._lobby.room(game_id, visitor) if found.live else None
        room = LookRoom(
            found.game,
            live=found.live,
            document=document,
            pool=self._quick if found.live else self._slow,
            limits=self.limits,
            save=lambda made: self._save(game_id, made),
            on_idle=lambda: self.close_unused(game_id),
            analyst=self._analyst,
        )
        self._rooms[game_id] = room
        if match is not None and found.stored is not None:
            _MatchListener(match, found.stored, room, self._lobby.leave)
        return room

    def _save(self, game_id: str, document: GameDocument) -> None:
        try:
            self._store.save_document(game_id, document)
        except StoreError as error:
            logger.error("game %s: %s", game_id, error)  # it will be made anew

    def _end(self, room: LookRoom) -> None:
        task = asyncio.get_running_loop().create_task(room.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


class _MatchListener:
    """Tells a room of the moves of two engines, until the game or the room ends."""

    def __init__(
        self,
        match: GameRoom,
        stored: StoredGame,
        room: LookRoom,
        leave: Callable[[GameRoom], None],
    ) -> None:
        self._match = match
        self._stored = stored
        self._room = room
        self._leave = leave
        match.listen(self._changed)
        room.on_close(self._end)
        self._changed(match.game)  # what has happened since the game was read

    def _changed(self, game: HostedGame) -> None:
        plies = tuple(game.plies)
        if plies == self._stored.plies and game.result == self._stored.result:
            return
        self._stored = dataclasses.replace(self._stored, plies=plies, result=game.result)
        self._room.grow(pgn_of(self._stored), live=game.result is None)

    def _end(self) -> None:
        self._match.unlisten(self._changed)
        self._leave(self._match)


def _file_game(game: chess.pgn.Game, visitor: str, opened: str) -> FileGame:
    headers = game.headers
    return FileGame(
        id=new_game_id(),
        visitor=visitor,
        opened=opened,
        white=headers["White"],
        black=headers["Black"],
        result=headers["Result"],
        plies=sum(1 for _ in game.mainline()),
        pgn=str(game),
    )

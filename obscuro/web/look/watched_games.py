"""All games that browsers look at: finished ones, games of files, and games of two engines."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import functools
import logging
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import chess.pgn

from obscuro.viewer.document import GameDocument, ShownAdvice
from obscuro.viewer.game_file import KEPT_LIMITS, GameFileError, games_of_text
from obscuro.web.data_folder import StoreError
from obscuro.web.look.consultant import Consultant, GameAnalyst
from obscuro.web.look.file_reader import FileReader, ReadFile, ReadGame
from obscuro.web.look.look_store import FileGame, LookStore
from obscuro.web.look.watched_game import LookLimits, WatchedGame
from obscuro.web.play.game_lobby import GameLobby, new_game_id
from obscuro.web.play.game_room import GameRoom
from obscuro.web.play.game_store import StoredGame
from obscuro.web.play.hosted_game import HostedGame
from obscuro.web.web_limits import (
    BAD_REQUEST,
    CONFLICT,
    TOO_MANY,
    UNAVAILABLE,
    WebError,
    WebLimits,
)

MOST_WATCHED = 64
"""The most games that are looked at at the same time. The address with most makes place."""

logger = logging.getLogger("obscuro.web")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class FoundGame:
    """A game that may be shown. live: whether more moves may come. stored: None for a file's."""

    game: chess.pgn.Game
    live: bool
    stored: StoredGame | None


class WatchedGames:
    """Opens games to look at, and closes them once no browser does.

    make_analyst: makes the engine that gives advice; None: there is none. own: how many games one
    address may look at at the same time.
    """

    def __init__(
        self,
        lobby: GameLobby,
        folder: Path,
        make_analyst: Callable[[], GameAnalyst] | None,
        limits: LookLimits | None = None,
        own: int = WebLimits().looked_at,
    ) -> None:
        self._lobby = lobby
        self._own = own
        self._store = LookStore(folder)
        self.limits = limits or LookLimits()
        self._watched: dict[str, WatchedGame] = {}
        self._openers: dict[str, str] = {}  # the address for which each was opened
        self._closing: set[asyncio.Task[None]] = set()
        # A long game that is over must not hold up one that goes on, nor a file.
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="document")
        self._quick = ThreadPoolExecutor(2, thread_name_prefix="look")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="file")
        self._reader = FileReader()
        # A question about one position need not wait for the analysis of a whole game.
        most = self.limits.questions
        self._adviser = None if make_analyst is None else Consultant(make_analyst, most)
        self._analyst = None if make_analyst is None else Consultant(make_analyst, most)

    # -- games ------------------------------------------------------------------------------

    async def find(self, game_id: str, visitor: str | None) -> FoundGame:
        """Return a game whose every move this visitor may see. Raises WebError, StoreError."""
        row = self._visible(game_id, visitor)
        try:
            if isinstance(row, FileGame):
                read = functools.partial(games_of_text, row.pgn, KEPT_LIMITS)
                return FoundGame((await self._in_thread(read)).games[0], False, None)
            return FoundGame(await self._in_thread(row.pgn), row.result is None, row)
        except GameFileError as error:
            raise WebError(CONFLICT, f"the game can't be read: {error}") from None

    def _visible(self, game_id: str, visitor: str | None) -> FileGame | StoredGame:
        """Return what the files have of a game. Raises WebError, StoreError."""
        file = self._store.game(game_id, visitor)
        return self._lobby.finished(game_id, visitor) if file is None else file

    async def watched(
        self, game_id: str, visitor: str | None, address: str, count: Callable[[], None]
    ) -> WatchedGame:
        """Return a game that this visitor may look at, opened.

        address: where the wish comes from. count: called if the game has to be opened; it may raise
        WebError. Raises WebError, StoreError.
        """
        self._visible(game_id, visitor)
        watched = self._watched.get(game_id)
        if watched is None:
            self._make_place(address)
            count()
            found = await self.find(game_id, visitor)
            watched = self._watched.get(game_id)  # another browser may have opened it meanwhile
        if watched is None:
            self._make_place(address)
            watched = self._open(game_id, found, visitor, address)
        return watched

    def _make_place(self, address: str) -> None:
        """See to it that one more game can be opened for an address. Raises WebError."""
        openers = Counter(self._openers.values())
        mine = openers[address]
        if mine >= self._own:
            raise WebError(TOO_MANY, f"you look at {mine} games, which is the most; close one")
        if len(self._watched) < MOST_WATCHED:
            return
        heaviest, most = openers.most_common(1)[0]
        if most <= mine + 1:
            raise WebError(TOO_MANY, "the server shows too many games; try later")
        self._end([game for game, opener in self._openers.items() if opener == heaviest][-1])

    def close_unused(self, game_id: str) -> None:
        """Close a game at which no browser looks."""
        watched = self._watched.get(game_id)
        if watched is None or watched.used:
            return
        self._end(game_id)
        if not self._watched:
            for consultant in self._consultants:
                consultant.rest()

    async def read_file(self, text: bytes) -> ReadFile:
        """Return the games of a PGN text, and what is wrong with others. Raises WebError."""
        loop = asyncio.get_running_loop()
        try:
            read = await loop.run_in_executor(self._reading, self._reader.read, text)
        except OSError as error:
            logger.error("a file can't be read: %s", error)
            raise WebError(UNAVAILABLE, "the file could not be read; try again") from None
        if read.error is not None:
            raise WebError(BAD_REQUEST, read.error)
        return read

    def keep(self, games: list[ReadGame], visitor: str) -> list[FileGame]:
        """Keep games as a visitor's. Raises StoreError."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
        kept = [
            FileGame(
                id=new_game_id(),
                visitor=visitor,
                opened=now,
                white=game.white,
                black=game.black,
                result=game.result,
                plies=game.plies,
                pgn=game.pgn,
                moments=tuple(game.moments),
            )
            for game in games
        ]
        self._store.add_games(kept)
        return kept

    def files_of(self, visitor: str, most: int) -> list[FileGame]:
        """Return a visitor's games of files, the newest first, without their moves."""
        return self._store.games_of(visitor, most)

    async def advise(
        self, game_id: str, visitor: str | None, ply: int, address: str
    ) -> ShownAdvice:
        """Return what the engine would play. Raises WebError, AnalysisError, StoreError."""
        found = await self.find(game_id, visitor)
        if found.live:
            raise WebError(CONFLICT, "the game is not over")
        if self._adviser is None:
            raise WebError(CONFLICT, "this server has no engine for that")
        return await self._adviser.advise(found.game, ply, address)

    async def close(self) -> None:
        """Close all games, and end the engines."""
        for consultant in self._consultants:
            consultant.close()
        for game_id in list(self._watched):
            self._end(game_id)
        await asyncio.gather(*self._closing, return_exceptions=True)
        for pool in (self._slow, self._quick, self._reading):
            pool.shutdown(wait=False, cancel_futures=True)
        self._reader.close()
        self._store.close()

    # -- inside -----------------------------------------------------------------------------

    @property
    def _consultants(self) -> list[Consultant]:
        return [each for each in (self._adviser, self._analyst) if each is not None]

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._quick, work)

    def _open(
        self, game_id: str, found: FoundGame, visitor: str | None, address: str
    ) -> WatchedGame:
        match = self._lobby.room(game_id, visitor, address) if found.live else None
        self._openers[game_id] = address
        watched = self._watched[game_id] = WatchedGame(
            found.game,
            live=found.live,
            document=None if found.live else self._store.document(game_id),
            pool=self._quick if found.live else self._slow,
            limits=self.limits,
            save=lambda made: self._save(game_id, made),
            on_idle=lambda: self.close_unused(game_id),
            analyst=self._analyst,
        )
        if match is not None and found.stored is not None:
            self._follow(match, found.stored, watched)
        return watched

    def _follow(self, match: GameRoom, stored: StoredGame, watched: WatchedGame) -> None:
        """Tell a watched game of the moves of two engines, until the match or the game ends."""
        version = stored.version

        def changed(game: HostedGame) -> None:
            nonlocal version
            if game.version != version:
                version = game.version
                now = dataclasses.replace(stored, plies=tuple(game.plies), result=game.result)
                watched.grow(now.pgn(), live=game.result is None)

        def end() -> None:
            match.unlisten(changed)
            self._lobby.leave(match)

        match.listen(changed)
        watched.on_close(end)
        changed(match.game)  # what has happened since the game was read

    def _save(self, game_id: str, document: GameDocument) -> None:
        try:
            self._store.save_document(game_id, document)
        except StoreError as error:
            logger.error("game %s: %s", game_id, error)  # it will be made anew

    def _end(self, game_id: str) -> None:
        del self._openers[game_id]
        task = asyncio.get_running_loop().create_task(self._watched.pop(game_id).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

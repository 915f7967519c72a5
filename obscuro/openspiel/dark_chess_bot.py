"""A bot of OpenSpiel's `dark_chess` that plays by an engine's process (docs/openspiel.md)."""

from __future__ import annotations

import chess

from obscuro.client.engine import READS_OBSERVATIONS, Engine
from obscuro.client.limit import Limit
from obscuro.client.uci_process import EngineError
from obscuro.openspiel.spiel_bot import BotChoice, SpielBot, SpielState
from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.rules.stalemate import DRAW
from obscuro.uci.positions import fog_position, start_board


class DarkChessBot(SpielBot):
    """Plays `dark_chess`. The engine is told its own moves and what OpenSpiel shows its side.

    Player 0 is Black in OpenSpiel, player 1 White. The engine is told that a side without a move
    draws, as it does there. The caller closes the engine. Two bots need two engines.

    engine: any engine with the capability `position-fog`. limit: of each move. player_id: the seat.
    seed: of the first game, goes to an engine that was set no `Seed`; each `restart` adds 1.
    `step` raises EngineError where the engine fails; asked again, it starts another process. It
    raises ValueError for a state of another game or board.
    """

    def __init__(
        self, engine: Engine, player_id: int, limit: Limit, *, seed: int | None = None
    ) -> None:
        super().__init__(player_id)
        self._engine = engine
        self._limit = limit
        self._seed = seed
        self._games = 0
        self._game: object | None = None
        self._plies: tuple[Ply, ...] = ()

    def begin_game(self) -> None:
        """Forget the game."""
        self._game = None

    def choose(self, state: SpielState) -> BotChoice:
        """Tell the engine its side's game so far, and let it choose."""
        engine = self._engine
        seat = DarkChessSeat(state, self.player_id())
        plies = seat.plies
        if self._game is None or plies[: len(self._plies)] != self._plies:
            self._game = object()
            seed = None if self._seed is None else self._seed + self._games
            self._games += 1
            engine.new_game(self._game, seed=seed, stalemate=DRAW)
        self._plies = plies
        engine.start()
        if not engine.reads_observations:
            raise EngineError(f"{engine.name} has no capability {READS_OBSERVATIONS}")
        position = fog_position(seat.side, plies, seat.start)
        result = engine.play(position, self._limit, game=self._game)
        actions = seat.actions()
        if result.move not in actions:
            raise EngineError(f"{engine.name} answers {result.move[:20]!r}, which is no legal move")
        policy = [(actions[move], p) for move, p in result.report.play if move in actions]
        action = actions[result.move]
        return BotChoice(action, policy or [(action, 1.0)])


class DarkChessSeat:
    """One player's side of a state: its plies in chess's terms, and its legal actions.

    start: the FEN where the game began; None for the usual start. Raises ValueError if the state is
    of another game.
    """

    def __init__(self, state: SpielState, player: int) -> None:
        game = state.get_game()
        parameters = game.get_parameters()
        if game.get_type().short_name != "dark_chess" or parameters["board_size"] != 8:
            raise ValueError(f"this bot plays dark_chess on 64 squares, and not {game}")
        fen = parameters["fen"]
        self.side = bool(player)
        self.start = None if fen == chess.STARTING_FEN else fen
        self._player = player
        self._view = SideView(self.side, start_board(fen))
        self._state = game.new_initial_state()
        self.plies = tuple(self._replay(action) for action in state.history())

    def actions(self) -> dict[str, int]:
        """Return the legal moves in UCI, with OpenSpiel's numbers."""
        return {self._uci(action): action for action in self._state.legal_actions(self._player)}

    def _replay(self, action: int) -> Ply:
        view, state = self._view, self._state
        move = self._uci(action) if view.our_turn else None
        state.apply_action(action)
        text = state.observation_string(self._player)
        if move is None:
            seen = observation_of(text, self.side, our_turn=True)
            view.see_other_move(seen)
        else:
            seen = observation_of(text, self.side, our_turn=False)
            view.push(move)
            view.see_own_move(seen)
        return Ply(move, seen)

    def _uci(self, action: int) -> str:
        """Return an own action in UCI. OpenSpiel names it in SAN, for which our pieces suffice."""
        return self._view.board.parse_san(self._state.action_to_string(self._player, action)).uci()


def observation_of(text: str, side: chess.Color, *, our_turn: bool) -> Observation:
    """Return what OpenSpiel shows a side, from its text: a FEN with `?` where nothing is seen.

    After some own double pushes OpenSpiel also shows the squares that the pawn has passed over and
    left, and names one for en passant (`tools.proofs.compare_openspiel`). These are taken away: the
    pieces seen tell what else is seen.
    """
    placement, _, _, en_passant, *_ = text.split()
    if our_turn or en_passant == "-":
        return Observation.parse(f"{placement},{en_passant}")
    shown = Observation.parse(placement)
    board = FogOfWarBoard(None)
    board.set_piece_map(shown.board().piece_map())
    return Observation.on(board, shown.seen & board.vision_mask(side))

"""Plays games over Mistboard's own code, and compares its rules and observations with ours.

    python -m tools.proofs.mistboard --mistboard CHECKOUT --games 4

CHECKOUT is a checkout of https://github.com/brianhliou/mistboard with its packages installed. Its
match runner, its rules and its HTTP client run in node, as they are. The engines are services as
`obscuro mistboard` starts them, in this process. Exits with 1 if a game ends by a fault, if a
position command is another than our own referee would send, or if the rules differ unexpectedly.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import chess

from obscuro.bots.mistboard.engine_service import EngineService
from obscuro.cli.mistboard_command import RULES
from obscuro.client.engine import Engine, PlayResult, Think, engine_command
from obscuro.client.engine_pool import MoverPool
from obscuro.rules.account import Account, Ply
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from obscuro.uci.positions import fog_position
from tools.common import given, publish, say, table, tool_parser

DRIVER = Path(__file__).with_name("mistboard_driver.mjs")
SECONDS = 3600.0
"""For all that one task of the driver does."""
MOST_PLIES = 200
WIDTH = 100
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
START = DrawnStalemateBoard().fen()
LINES: Mapping[str, tuple[str, Sequence[str]]] = {
    "knights out and back": (START, SHUFFLE * 4),
    "the same after 1.e4 e5": (START, ("e2e4", "e7e5", *SHUFFLE * 4)),
    "a side without a move": ("8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1", ("e1d1",)),
    "en passant, castling, promotion": (
        START,
        (
            *("e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "g8f6", "d6c7", "a6a5", "g1f3", "a5a4"),
            *("f1e2", "g7g6", "e1h1", "f8g7", "c7b8q", "e8h8", "b8c8", "d8c8", "e2b5", "c8c2"),
            *("d1c2", "f8e8", "b5e8", "a8e8", "c2c8", "e8c8", "f3e5", "c8c1", "e5f7", "c1f1"),
            *("g1f1", "b7b5", "f7h6", "g8h8", "h6f5", "h8g8", "f5e7", "g8h8", "f1e1", "a4a3"),
            *("e7g6", "h8g8", "g6f4", "b5b4", "f4e6", "b4b3", "e6g7", "b3a2", "g7e8", "a2b1q"),
        ),
    ),
}
OPTIONS = RULES | {"Threads": "1", "Hash": "128", "Move Overhead": "300", "Seed": "1"}
REBUILT = "no position explains all that was seen"
"""A warning of the engine whose belief was a sample, because time or memory did not do for all."""
Match = dict[str, Any]


class RecordingMover(Engine):
    """An engine whose position commands are kept: (session, plies, command)."""

    def __init__(self, player: str, report: Callable[[str], None], asked: list[Think]) -> None:
        super().__init__(
            engine_command(player), OPTIONS if player == "obscuro" else {}, on_warning=report
        )
        self._asked = asked

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        """Choose a move, and keep the question."""
        self._asked.append(think)
        return super().choose(game, think, cancel)


def drive(checkout: Path, node: str, task: dict[str, Any]) -> list[dict[str, Any]]:
    """Let Mistboard's code do a task; return the JSON lines that it prints."""
    done = subprocess.run(
        [node, "--import", "tsx", str(DRIVER.resolve()), str(checkout.resolve())],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        cwd=checkout / "apps" / "server",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"Mistboard's code failed: {done.stderr.strip()[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def uci_of(board: chess.Board, move: Mapping[str, str]) -> str:
    """Return a move of Mistboard in UCI, by the true board."""
    letter = {"knight": "n"}.get(promotion := move.get("promotion") or "", promotion[:1])
    return board.parse_uci(move["from"] + move["to"] + letter).uci()


# -- the rules --------------------------------------------------------------------------------


def compare_game(game: dict[str, Any], counts: Counter[str], start: str = START) -> None:
    """Compare a game of Mistboard's rules with ours, ply by ply; with `Stalemate` draw."""
    board = DrawnStalemateBoard(start)
    for ply, told in enumerate(game["plies"]):
        counts["positions"] += 1
        for index, side in enumerate((chess.WHITE, chess.BLACK)):
            observed = board.observation(side)
            seen = sum(1 << chess.parse_square(name) for name in told["seen"][index])
            pieces = chess.popcount(observed.pieces(0) | observed.pieces(1))
            counts["vision differs"] += (seen, told["pieces"][index]) != (observed.seen, pieces)
        playing, outcome = told["status"]["type"] == "playing", board.outcome()
        if playing and outcome is None:
            moves = sorted(uci_of(board, move) for move in told["moves"])
            counts["moves differ"] += moves != sorted(map(chess.Move.uci, board.legal_moves))
        elif playing:
            counts["ends here only"] += 1
        elif outcome is None:
            counts["ends there only"] += 1
        else:
            winner = None if outcome.winner is None else chess.COLOR_NAMES[outcome.winner]
            counts["winner differs"] += winner != told["status"]["winner"]
            counts[f"ends: {told['status']['reason']}"] += 1
        if ply < len(game["moves"]):
            board.push_uci(uci_of(board, game["moves"][ply]))


def compare_rules(checkout: Path, node: str, games: int) -> dict[str, Any]:
    """Compare lines and random games; return what was counted."""
    lines = [{"fen": fen, "moves": [_wire(name) for name in line]} for fen, line in LINES.values()]
    task = {"mode": "rules", "games": games, "plies": 400, "seed": 1, "lines": lines}
    played = drive(checkout, node, task)
    ends = []
    for (name, (fen, _)), game in zip(LINES.items(), played, strict=False):
        board = DrawnStalemateBoard(fen)
        for move in game["moves"]:
            if board.outcome() is not None:
                break
            board.push_uci(uci_of(board, move))
        ours = len(board.move_stack) if board.outcome() is not None else None
        status = game["plies"][-1]["status"]
        theirs = None if status["type"] == "playing" else len(game["moves"])
        counts: Counter[str] = Counter()
        compare_game(game, counts, fen)
        ends.append({"line": name, "theirs": theirs, "ours": ours, "counts": dict(counts)})
    counts = Counter()
    for game in played[len(LINES) :]:
        compare_game(game, counts)
    return {"games": games, "counts": dict(counts), "lines": ends}


def _wire(uci: str) -> dict[str, str]:
    move = {"from": uci[:2], "to": uci[2:4]}
    return move | ({"promotion": "queen"} if uci[4:] else {})


# -- the matches ------------------------------------------------------------------------------


def matches(games: int) -> list[Match]:
    """Return what is played: who, how many games, and how the time and the sightings are told."""
    untimed = {"clock": None, "policy": "self-managed", "budget": 200, "deltas": False}
    clock = {"clock": {"initialMs": 20_000, "incrementMs": 200}, "budget": 0, "deltas": False}
    return [
        {"name": "untimed", "players": ("obscuro", "random"), "games": games} | untimed,
        {"name": "clock", "players": ("obscuro", "greedy"), "games": games}
        | clock
        | {"policy": "self-managed"},
        {"name": "live", "players": ("obscuro", "obscuro"), "games": max(1, games // 2)}
        | clock
        | {"policy": "live-cap"},
        {"name": "deltas", "players": ("obscuro", "greedy"), "games": games}
        | untimed
        | {"deltas": True},
    ]


def play(checkout: Path, node: str, match: Match) -> dict[str, Any]:
    """Play a match over Mistboard's runner; return its figures."""
    warnings: list[str] = []
    asked: dict[str, list[Think]] = {"a": [], "b": []}
    begin = time.monotonic()
    with ExitStack() as stack:
        seats = {}
        for name, player in zip("ab", match["players"], strict=True):
            token = secrets.token_hex(16)
            pool = MoverPool(
                lambda player=player, name=name: RecordingMover(  # type: ignore[misc]
                    player, warnings.append, asked[name]
                ),
                spare=1,
            )
            stack.callback(pool.close)
            pool.prepare()
            service = stack.enter_context(EngineService(0, token, pool, games=1))
            seats[name] = {"url": service.url, "token": token}
        task = {"mode": "match", "plies": MOST_PLIES} | match | seats
        played = drive(checkout, node, task)
    wins = Counter("draws" if game["winner"] is None else _winner(game) for game in played)
    return {
        "match": match["name"],
        "players": list(match["players"]),
        "games": len(played),
        "a": wins["a"],
        "b": wins["b"],
        "draws": wins["draws"],
        "outcomes": dict(Counter(game["outcome"] for game in played)),
        "details": [game["detail"] for game in played if game["detail"]],
        "plies": sum(len(game["moves"]) for game in played),
        "turns": sum(len(thinks) for thinks in asked.values()),
        "other": other_positions(played, asked, told=not match["deltas"]),
        "warnings": warnings,
        "seconds": round(time.monotonic() - begin, 1),
        "moves": [" ".join(moves_of(game)) for game in played],
    }


def moves_of(game: dict[str, Any]) -> list[str]:
    """Return a game's moves in UCI."""
    board = FogOfWarBoard()
    for move in game["moves"]:
        board.push_uci(uci_of(board, move))
    return [move.uci() for move in board.move_stack]


def _winner(game: dict[str, Any]) -> str:
    return str(game["white"]) if game["winner"] == "white" else "ab".replace(game["white"], "")


def other_positions(
    played: Sequence[dict[str, Any]], asked: Mapping[str, Sequence[Think]], *, told: bool
) -> int:
    """Count the turns at which the engine was told something else than our own referee tells.

    told: whether the sides were told what they saw after their own moves.
    """
    wrong = 0
    for name, thinks in asked.items():
        expected: list[str] = []
        for game in played:
            side = (game["white"] == name) == chess.WHITE
            board = FogOfWarBoard()
            account = Account(board, side)
            for move in [*game["moves"], None]:
                if board.turn == side and move is not None:
                    expected.append(_position(account, told))
                if move is not None:
                    board.push_uci(uci_of(board, move))
                    account.append(board)
        wrong += sum(a != b.position for a, b in zip(expected, thinks, strict=False))
        wrong += abs(len(expected) - len(thinks))
    return wrong


def _position(account: Account, told: bool) -> str:
    plies = account.plies
    if not told:
        plies = tuple(Ply(p.move, None if p.move else p.observation) for p in plies)
    return fog_position(account.side, plies)


# -- the command ------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.mistboard", __doc__)
    parser.add_argument("--mistboard", type=Path, metavar="CHECKOUT", required=True)
    parser.add_argument("--node", default="node", metavar="FILE", help="default: node")
    parser.add_argument("--games", type=int, default=4, help="of each match")
    parser.add_argument("--random-games", type=int, default=40, help="whose rules are compared")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Compare and play; returns the exit code."""
    words = given(words)
    parser = make_parser()
    chosen = parser.parse_args(words)
    if not (chosen.mistboard / "apps" / "server").is_dir():
        parser.error(f"--mistboard: {chosen.mistboard} is no checkout of Mistboard")
    rules = compare_rules(chosen.mistboard, chosen.node, chosen.random_games)
    say(f"rules: {rules['counts']}")
    rows = []
    for match in matches(chosen.games):
        rows.append(play(chosen.mistboard, chosen.node, match))
        say(f"{match['name']}: {rows[-1]}")
    figures = {"rules": rules, "matches": rows}
    publish(parser, words, chosen.raw, figures, render)
    return int(has_fault(figures))


def has_fault(figures: dict[str, Any]) -> bool:
    """Tell whether anything is otherwise than docs/mistboard.md says."""
    counts = figures["rules"]["counts"]
    faults = [counts.get(name, 0) for name in ("vision differs", "moves differ", "winner differs")]
    for row in figures["matches"]:
        forfeits = sum(n for name, n in row["outcomes"].items() if "forfeit" in name)
        late = row["outcomes"].get("clock-expired", 0)
        faults += [forfeits, late, row["other"], len(row["warnings"]) - rebuilt(row)]
    return any(faults)


def rebuilt(row: Mapping[str, Any]) -> int:
    """Return how often a belief that was only a sample had to be drawn anew."""
    return sum(REBUILT in warning for warning in row["warnings"])


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield both tables."""
    yield from render_rules(figures)
    yield ""
    yield from render_matches(figures)


def render_rules(figures: dict[str, Any]) -> Iterator[str]:
    """Yield how Mistboard's rules compare with ours."""
    rules, none = figures["rules"], "goes on"
    counts = rules["counts"]
    ends = sum(n for name, n in counts.items() if name.startswith("ends: "))
    yield from textwrap.wrap(
        f"{counts['positions']:,} positions of {rules['games']} random games, both sides: vision "
        f"differs in {counts.get('vision differs', 0)}, the legal moves differ in "
        f"{counts.get('moves differ', 0)}. {ends} games ended at the same ply, with another winner "
        f"in {counts.get('winner differs', 0)}; {counts.get('ends here only', 0)} positions were "
        f"the end by our rules only, {counts.get('ends there only', 0)} by theirs only.",
        WIDTH,
    )
    yield ""
    rows = [
        [
            line["line"],
            none if line["theirs"] is None else f"ply {line['theirs']}",
            none if line["ours"] is None else f"ply {line['ours']}",
            line["counts"].get("vision differs", 0),
            line["counts"].get("moves differ", 0),
        ]
        for line in rules["lines"]
    ]
    headings = ["line", "ends there", "ends here", "other vision", "other moves"]
    yield from table(headings, rows, "lllrr")


def render_matches(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the matches that were played over Mistboard's runner."""
    rows = [
        [
            row["match"],
            " – ".join(row["players"]),
            row["games"],
            f"{row['a']} / {row['draws']} / {row['b']}",
            ", ".join(f"{name} {n}" for name, n in row["outcomes"].items()),
            row["plies"],
            row["turns"],
            row["other"],
            rebuilt(row),
            len(row["warnings"]) - rebuilt(row),
        ]
        for row in figures["matches"]
    ]
    headings = [
        *("match", "players", "games", "won / drawn / lost", "ended by", "plies", "turns"),
        *("told otherwise", "belief redrawn", "other warnings"),
    ]
    yield from table(headings, rows, "llrrlrrrrr")


if __name__ == "__main__":
    sys.exit(main())

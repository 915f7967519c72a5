"""`obscuro web` as a user starts it, with the real engine, in a real browser."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.hanging import HANG_SECONDS
from tests.web.board_page import BoardPage

pytestmark = [pytest.mark.slow]

# Black has three moves after Qf7, and the queen captures the king after each.
WON = "7k/8/5QK1/8/8/8/8/8 w - - 0 1"
QUICK = ("Evaluator=material", "Threads=1", "Hash=16", "Seed=1")


@pytest.fixture(scope="module")
def url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    data = str(tmp_path_factory.mktemp("real"))
    command = [sys.executable, "-m", "obscuro.cli.main", "web", "--port", "0", "--no-browser"]
    command += ["--data", data, *(word for each in QUICK for word in ("--option", each))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"board is at (http://127\.0\.0\.1:\d+)/", process.stdout.readline())
        assert found is not None
        yield found[1]
        process.terminate()
        assert process.wait(HANG_SECONDS) == 0


@pytest.fixture
def real_board(browser: Browser, url: str) -> Iterator[BoardPage]:
    board = BoardPage(browser.new_context(), url)
    yield board
    board.leave()
    assert board.faults == []


def test_a_game_is_won_looked_at_and_analysed(real_board: BoardPage) -> None:
    board, page = real_board, real_board.page
    board.new_game(fen=WON)
    board.await_turn()
    board.drag("f6", "f7")
    board.await_square("f7, white queen")
    board.await_turn()
    king = page.get_by_role("gridcell", name="black king").get_attribute("data-square")
    assert king is not None
    board.drag("f7", king)
    board.await_result("You won: king captured")
    page.get_by_role("link", name="Look at the game").click()
    board.button("What would you do here?").click()
    advice = page.get_by_role("region", name="Advice")
    expect(advice).to_contain_text("Knowing only what White knew")
    board.button("Analyse the game").click()
    expect(page.locator("#method")).to_contain_text("Analysis: by Obscuro")


def test_a_whole_game_from_the_start_by_drag_and_by_keyboard(real_board: BoardPage) -> None:
    """A beginner who takes what it sees, king first: it plays until a king is captured."""
    board = real_board
    worth = ["empty", "fog", "pawn", "knight", "bishop", "rook", "queen", "king"]
    chance = random.Random(1)
    board.new_game()
    for number in range(1, 200):
        board.await_turn(re.compile("^Your move|^You (won|lost)|^Draw"))
        state = board.states[-1]
        if state["status"] == "over":
            break
        taken = {move: board.content(move[2:4]) for move in state["moves"]}
        uci = max(state["moves"], key=lambda move: (worth.index(taken[move]), chance.random()))
        start, end = uci[:2], uci[2:4]
        if len(uci) == 5:
            board.type(uci)
        elif number % 2:
            board.drag(start, end)
        else:
            board.square(start).focus()
            board.page.keyboard.press("Enter")
            board.walk(start, end)
            board.page.keyboard.press("Enter")
        expect(board.sheet.get_by_role("row")).to_have_count(number)
    board.await_result(re.compile("king captured"))

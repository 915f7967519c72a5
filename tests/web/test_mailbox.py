"""What waits for a browser: never more than the last state and some answers."""

from __future__ import annotations

import asyncio

from obscuro.web.mailbox import Mailbox
from obscuro.web.play_socket import first_of
from tests.web.loops import run_alone


def emptied(box: Mailbox) -> list[str]:
    """Close a mailbox and return what was in it."""

    async def take() -> list[str]:
        texts = []
        while (text := await box.next()) is not None:
            texts.append(text)
        return texts

    box.close()
    return run_alone(take())


def test_a_slow_browser_gets_the_last_state_only() -> None:
    box = Mailbox()
    for number in range(1000):
        box.put_state(str(number))
    assert emptied(box) == ["999"]


def test_answers_are_not_lost_to_states_but_they_are_not_kept_without_end() -> None:
    box = Mailbox()
    for number in range(1000):
        box.put_answer(f"answer {number}")
        box.put_state("state")
    texts = emptied(box)
    assert texts[-2:] == ["answer 999", "state"]
    assert len(texts) < 50


def test_who_waits_gets_what_comes() -> None:
    async def wait() -> str | None:
        box = Mailbox()
        asyncio.get_running_loop().call_soon(box.put_state, "state")
        return await box.next()

    assert run_alone(wait()) == "state"


def test_the_first_work_that_ends_ends_the_others() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")

    async def short() -> None:
        await asyncio.sleep(0)

    run_alone(first_of(endless(), short()))
    assert ended == ["endless"]

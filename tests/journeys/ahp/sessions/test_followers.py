"""What is said over AHP on a thread of the chat reaches the thread's followers at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aitp_desk.agent.speech import speech_of
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.store.reads.console.tickets import tickets as read_tickets
from tests.support.clients.event_stream import Listener, following
from tests.support.clients.threads import Talker, talking
from tests.support.protocols.conversation import DOORS

SOON = 2
"""Seconds: shorter than a follower waits before it reads without being notified."""
SAYS = speech_of("en").person
BY = make_own_auditor(AuditKeys(bytes(32), bytes(32)), 0)


@pytest_asyncio.fixture
async def talker(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talking(tmp_path, "tickets.people=on_request") as talker:
        yield talker


def visitors(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


async def hear(listener: Listener, words: str) -> None:
    async with asyncio.timeout(SOON):
        await listener.until(lambda event: words in str(event.data.get("content", "")))


@pytest.mark.parametrize(
    ("words", "told"), [("Where are you?", "Pine Street Books"), ("human please", SAYS.asked)]
)
async def test_a_turn_is_an_event_at_once(talker: Talker, words: str, told: str) -> None:
    thread = (await talker.open(visitors("What are your opening hours?"), wait=10)).id
    async with following(talker, thread) as listener:
        await DOORS["ahp"].ask(talker, words, thread)
        await hear(listener, words)
        await hear(listener, told)


async def test_words_for_an_operator_are_an_event_at_once(talker: Talker) -> None:
    thread = (await talker.open(visitors("human please"), wait=10)).id
    people = EscalationService(talker.desk.store, time.time)
    (ticket,) = [one async for one in read_tickets(talker.desk.store, open_only=True)]
    assert await people.take_ticket(ticket.id, "anna", BY)
    await people.say(ticket.id, "Anna here.", "anna", BY)
    async with following(talker, thread) as listener:
        await DOORS["ahp"].ask(talker, "It leaks.", thread)
        await hear(listener, "It leaks.")

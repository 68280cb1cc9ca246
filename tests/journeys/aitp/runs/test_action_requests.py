"""A visitor's words on a thread call or propose an action, and answer what the desk asks of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from aitp_desk.desk.dialogue.consent import ONLY_YES
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock

WAIT = 10
BIKES = Path(__file__).parents[3] / "answers/actions/sites/bikes"
NOW = 1_803_891_600
"""A Monday, 2027-03-01."""


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Talker]:
    """A rental without a model of meaning, and a visitor without a key."""
    settings = ("content.meaning.enabled=false",)
    async with talking(tmp_path, *settings, site=BIKES, clock=Clock(NOW)) as talker:
        yield talker


class Chat:
    """A visitor's conversation."""

    def __init__(self, talker: Talker) -> None:
        self._talker = talker
        self._thread = ""

    async def say(self, words: str) -> str:
        """Say something; returns the desk's reply."""
        if not self._thread:
            told = await self._talker.open(words, wait=WAIT)
            self._thread = told.id
        else:
            told = await self._talker.post(self._thread, words, wait=WAIT)
        (reply,) = told.ok["replies"]
        return "\n".join(reply["content"])


async def test_a_query_is_called_at_once_with_what_the_words_give(desk: Talker) -> None:
    said = await Chat(desk).say("How many e-bikes are free on 1 December?")
    assert "free: 11" in said
    assert "2027-12-01" in said
    tomorrow = await Chat(desk).say("Any cargo bike left tomorrow?")
    assert "2027-03-02" in tomorrow


async def test_what_is_missing_or_does_not_fit_is_asked_for(desk: Talker) -> None:
    chat = Chat(desk)
    assert "kind" in (await chat.say("what is still free on Saturday?")).casefold()
    assert "free: 2" in await chat.say("cargo bike")


async def test_a_question_in_between_is_answered_from_the_pages(desk: Talker) -> None:
    chat = Chat(desk)
    await chat.say("what is still free on Saturday?")
    assert "helmet" in (await chat.say("Is a helmet included?")).casefold()


async def test_a_question_about_the_rules_calls_nothing(desk: Talker) -> None:
    said = await Chat(desk).say("how do I cancel?")
    assert "Shall I go ahead" not in said
    assert "number" not in said


async def test_who_may_not_call_it_is_answered_from_the_pages(desk: Talker) -> None:
    said = await Chat(desk).say("I want to cancel my reservation FB-20417")
    assert "Shall I go ahead" not in said


async def test_what_cannot_be_undone_is_proposed_and_needs_the_word_yes(desk: Talker) -> None:
    chat = Chat(await desk.with_key("threads", "actions"))
    assert "Shall I go ahead?" in await chat.say("drop my booking FB-30001 please")
    assert ONLY_YES in await chat.say("sure")
    assert "FB-30001" in await chat.say("ja")


async def test_what_costs_is_proposed_with_its_price(desk: Talker) -> None:
    chat = Chat(await desk.with_key("threads", "actions"))
    said = await chat.say("Please put aside three city bikes for 5 May")
    assert "75 EUR" in said
    assert "5 May 2027" in said
    assert await chat.say("no thanks") == "Nothing was done."


async def test_sure_is_enough_for_what_is_free_and_can_be_undone(desk: Talker) -> None:
    chat = Chat(await desk.with_key("threads", "actions"))
    assert "Shall I go ahead?" in await chat.say("could we keep FB-11873 until 9 August 2027")
    assert "until 2027-08-09" in await chat.say("yes please")


async def test_a_yes_to_nothing_is_no_yes(desk: Talker) -> None:
    chat = Chat(await desk.with_key("threads", "actions"))
    await chat.say("drop my booking FB-30001 please")
    await chat.say("Is a helmet included?")
    assert "cancelled" not in await chat.say("yes")

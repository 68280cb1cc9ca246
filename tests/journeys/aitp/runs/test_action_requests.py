"""A visitor's words on a thread call or propose an action, and answer what the desk asks of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest_asyncio

from aitp_desk.desk.dialogue.consent import ONLY_YES
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock
from tests.support.protocols.conversation import DOORS

WAIT = 10
CANCEL = "I want to cancel my reservation FB-20417"
ABROAD = Path(__file__).parents[3] / "support/sites/multilingual"
BIKES = Path(__file__).parents[3] / "answers/actions/sites/bikes"
ISSUER = """
[[issuers]]
name = "website"
url = "https://www.example.com"
algorithms = ["HS256"]
secret_file = "website.key"
callers = "users"
max_lifetime_seconds = 900
"""
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

    async def say(self, words: str, **metadata: str) -> str:
        """Say something; returns the desk's reply."""
        if not self._thread:
            message = {"role": "user", "content": words, "metadata": metadata}
            told = await self._talker.open(message, wait=WAIT)
            self._thread = told.id
        else:
            told = await self._talker.post(self._thread, words, wait=WAIT, metadata=metadata)
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


async def test_who_may_not_call_it_learns_which_key_it_needs(desk: Talker) -> None:
    said = await Chat(desk).say(CANCEL)
    assert "Shall I go ahead" not in said
    assert said.startswith("I cannot do this for visitors whom I do not know.")
    assert "with the scope actions:cancel_reservation." in said
    assert (await DOORS["ahp"].ask(desk, CANCEL)).answer == said
    other = await Chat(await desk.with_key("threads")).say(CANCEL)
    assert "access key" not in other


async def test_an_action_that_the_message_names_needs_no_words_for_it(
    desk: Talker, tmp_path: Path
) -> None:
    named = {"action": "cancel_reservation"}
    said = await Chat(desk).say("FB-30001", **named)
    assert "with the scope actions:cancel_reservation." in said
    may = await desk.with_key("threads", "actions")
    chat = Chat(may)
    assert "Shall I go ahead?" in await chat.say("FB-30001", **named)
    assert "FB-30001" in await chat.say("yes")
    assert "helmet" in (await chat.say("Is a helmet included?", action="unknown")).casefold()
    only_named = ("content.meaning.enabled=false", "content.meaning.actions=false")
    async with talking(tmp_path / "other", *only_named, site=BIKES, clock=Clock(NOW)) as other:
        chat = Chat(await other.with_key("threads", "actions"))
        assert "Shall I go ahead?" not in await chat.say("drop my booking FB-30001 please")
        assert "Shall I go ahead?" in await chat.say("FB-30001", **named)


async def test_the_language_that_a_message_names_chooses_the_pages(tmp_path: Path) -> None:
    settings = ("content.meaning.enabled=false",)
    async with talking(tmp_path, *settings, site=ABROAD, clock=Clock(NOW)) as talker:
        assert "14 jours" in await Chat(talker).say("Délai de retour", locale="fr")
        assert "30 jours" in await Chat(talker).say("Délai de retour", locale="fr-CA")
        assert "14 days" in await Chat(talker).say("Return window", locale="no such tag")


async def test_who_is_nobody_is_offered_a_person_where_the_site_has_some(tmp_path: Path) -> None:
    settings = ("content.meaning.enabled=false", "tickets.people=offered")
    async with talking(tmp_path, *settings, site=BIKES, clock=Clock(NOW)) as talker:
        chat = Chat(talker)
        said = await chat.say(CANCEL, draft="1")
        assert said.startswith("I cannot do this for visitors whom I do not know.")
        assert "Shall a person answer this?" in said
        assert "A person has been asked." in await chat.say("yes please", draft="2")


async def test_who_is_nobody_learns_where_to_sign_in(tmp_path: Path) -> None:
    settings = ("content.meaning.enabled=false", "widget.sign_in_url=/sign-in")
    site = tmp_path / "site"
    copytree(BIKES, site, ignore=ignore_patterns(".desk", "__pycache__"))
    with (site / "desk.toml").open("a", encoding="utf-8") as table:
        table.write(ISSUER)
    (site / "website.key").write_text("0" * 64, "utf-8")
    async with talking(tmp_path, *settings, site=site, clock=Clock(NOW)) as talker:
        said = await Chat(talker).say(CANCEL)
        assert said.startswith("You need to be signed in for this. Sign in on ")
        assert said.endswith(f"\n\n{talker.desk.url}/sign-in")
        assert (await DOORS["ahp"].ask(talker, CANCEL)).answer == said
        assert "helmet" in (await Chat(talker).say("Is a helmet included?")).casefold()


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


async def test_dropping_where_nothing_is_pending_proposes_nothing(desk: Talker) -> None:
    for words in ("stop", "never mind", "cancel that"):
        told = await Chat(desk).say(words)
        assert told.startswith("What would you like to know"), words

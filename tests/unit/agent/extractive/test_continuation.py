"""A follow-up is read by the question before it, and by the section that answered it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn, Utterance
from aitp_desk.agent.extractive.agent import ExtractiveAgent, answer
from aitp_desk.agent.extractive.dialogue.context import read_message
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge

SITE = SiteFacts("Box", "https://box.example", answer_characters=100)
PAGES = {
    "samba": """# Samba shares

## Connecting from a macOS device

Open a share from the Finder of your Mac: press Cmd+K and enter smb://box.

## Connecting from Windows

Open a share in the file explorer of Windows: enter \\\\box.
""",
    "vpn": """# Virtual private network

## Connecting from Android

Connect an Android phone with the app of the network.

## Connecting a desktop computer

Connect a desktop computer with a profile file.
""",
    "desktop": """# Desktop

Choose a desktop for your computer, such as GNOME.

An example: `desktop --start gnome`. It runs long.
""",
    "tariffs": """# Tariffs

There are two tariffs: small for 10 euros, and large for 20 euros a month.

## Contract

A contract runs for 24 months. It ends with a letter.
""",
    "router": """# Router

The router is connected with the blue cable.

## Life

A router works for 5 years.

## Start

Start the router by hand:

```
router --start
```

## Blinking

A router that blinks is too hot. Unplug it.
""",
}


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ("How do I open a Samba share on a Mac?", "And on Windows?", "file explorer"),
        ("How do I open a Samba share on Windows?", "and on a Mac?", "Finder"),
        (
            "How do I connect to the private network from my Android phone?",
            "and from a desktop computer?",
            "profile file",
        ),
    ],
)
async def test_replaces_the_phrase_with_the_same_preposition(
    tmp_path: Path, first: str, then: str, told: str
) -> None:
    async with site(tmp_path) as knowledge:
        before = (Utterance("visitor", first), Utterance("desk", "As follows."))
        turn = Turn(then, SITE, transcript=before)
        said = answer(turn, knowledge.library)
    assert isinstance(said, Answer)
    assert told in said.text[:160]


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (["How is the router connected?", "Which cable?", "how long does it last?"], "5 years"),
        (["How do I start the router by hand?", "show me an example"], "router --start"),
        (["Which tariffs are there?", "How is the router connected?"], "blue cable"),
        (["Which tariffs are there?", "I tried the router and it blinks. What now?"], "Unplug"),
        (["Which tariffs are there?", "go on"], "24 months"),
        (["Which tariffs are there?", "erzähl mir mehr"], "24 months"),
    ],
)
async def test_keeps_the_topic_that_was_answered(
    tmp_path: Path, questions: list[str], told: str
) -> None:
    async with site(tmp_path) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), SITE)
        said = [await conversation.ask(question) for question in questions][-1]
    assert isinstance(said, Answer)
    assert told in said.text[:160]


@pytest.mark.parametrize("word", ["ok", "Yes", "alright", "in Ordnung"])
async def test_agreement_to_nothing_does_not_repeat_the_answer(tmp_path: Path, word: str) -> None:
    async with site(tmp_path) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), SITE)
        await conversation.ask("Which tariffs are there?")
        said = await conversation.ask(word)
    assert isinstance(said, Answer)
    assert said.is_courtesy


@pytest.mark.parametrize("words", ["stop", "never mind", "Cancel that, please"])
async def test_dropping_what_is_not_pending_asks_for_the_next_question(
    tmp_path: Path, words: str
) -> None:
    async with site(tmp_path) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), SITE)
        said = await conversation.ask(words)
    assert isinstance(said, Answer)
    assert said.is_courtesy
    assert said.text.startswith("What would you like to know")


async def test_what_is_embedded_is_what_the_visitor_said(tmp_path: Path) -> None:
    async with site(tmp_path, "de") as knowledge:
        asked = read_message("Wie lange läuft das denn?", knowledge.library)
    assert asked.said == "Wie lange läuft das denn?"


@asynccontextmanager
async def site(
    scratch: Path, language: str = "en", pages: Mapping[str, str] = PAGES
) -> AsyncIterator[Knowledge]:
    """The knowledge of the pages, for the lifetime of the context manager."""
    for name, text in pages.items():
        page = scratch / "content" / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, "utf-8")
    async with open_knowledge(
        scratch / "content", data=scratch / "data", languages=Languages(language)
    ) as knowledge:
        yield knowledge


CHAPTERS = {
    "one": "# Chapter 1. Printing\n\n## 1.2. Choosing a printer\n\nChoose the printer of a room.\n",
    "two": "# Chapter 2. Scanning\n\n## 2.7. Choosing a scanner\n\nChoose the scanner of a room.\n"
    "\n## 2.8. Choosing a printer\n\nA scanner prints on any printer. Choose the printer here.\n",
}


async def test_a_choice_is_offered_without_numbers_and_leads_to_its_section(tmp_path: Path) -> None:
    async with site(tmp_path, pages=CHAPTERS) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), SITE)
        asked = await conversation.ask("How do I choose a printer?")
        assert isinstance(asked, Answer)
        assert "Printing: Choosing a printer" in asked.follow_ups
        chosen = await conversation.ask("Printing: Choosing a printer")
    assert isinstance(chosen, Answer)
    assert chosen.sources[0].url == "/one#12-choosing-a-printer"


COMMANDS = {
    "scan": "# Scan\n\nScans a folder.\n\n## Verbose\n\nUse the -v option to print each file.\n",
    "send": "# Send\n\nSends a folder.\n\n## Verbose\n\nUse the -v option to print each part.\n",
}


async def test_a_procedure_that_several_pages_name_alike_is_answered_and_the_other_offered(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, pages=COMMANDS) as knowledge:
        said = await Conversation(ExtractiveAgent(knowledge), SITE).ask("How do I make it verbose?")
    assert isinstance(said, Answer)
    assert "-v option" in said.text
    assert all(f"{page}: Verbose" in said.text for page in ("Scan", "Send"))


COOKIES = {
    "start": "# First steps\n\n## Setting a cookie\n\n"
    "Set a cookie on the response, before it is sent, or on the one that you make.\n",
    "reference": "# Reference\n\n## Cookies that are set\n\n"
    "Set a cookie with its name and value; its age is counted from now.\n",
}
NARROW = SiteFacts("Box", "https://box.example", answer_characters=80)


@pytest.mark.parametrize("reply", ["2", "the reference", "yes", "Reference: Cookies that are set"])
async def test_an_answer_says_how_it_read_the_question_and_another_reading_can_be_chosen(
    tmp_path: Path, reply: str
) -> None:
    async with site(tmp_path, pages=COOKIES) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), NARROW)
        said = await conversation.ask("How do I set a cookie here?")
        assert isinstance(said, Answer)
        assert said.text.startswith("Set a cookie on the response")
        assert "I took this as a question about “First steps: Setting a cookie" in said.text
        assert "Or do you mean “Reference: Cookies that are set – Set a cookie with" in said.text
        chosen = await conversation.ask(reply)
    assert isinstance(chosen, Answer)
    assert chosen.text.startswith("Set a cookie with its name and value")


async def test_what_is_asked_next_is_no_choice_of_a_reading(tmp_path: Path) -> None:
    async with site(tmp_path, pages=COOKIES) as knowledge:
        conversation = Conversation(ExtractiveAgent(knowledge), NARROW)
        await conversation.ask("How do I set a cookie here?")
        said = await conversation.ask("thanks")
    assert isinstance(said, Answer)
    assert said.is_courtesy

"""One person in two conversations: joined by a code, and by nothing else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from aitp_desk.transports.events import ChatStart, TextMessage
from tests.journeys.transports.test_contract import has, shown
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

CODE = re.compile(r"join ([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})")
GONE = "not valid any more"


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


async def asked_for_code(desk: CarriedDesk, person: str = "ada") -> str:
    """The code that a person gets who has asked something before."""
    await desk.platform.write(person, "Do you sell books?")
    await desk.platform.write(person, "/continue")
    found = await shown(desk, person, has("`join "))
    (code,) = CODE.findall("\n".join(one.text for one in found))
    return str(code)


def threads(desk: CarriedDesk) -> set[str]:
    return {id for (id,) in desk.talker.rows("SELECT thread_id FROM messages")}


async def test_a_code_continues_a_conversation_elsewhere(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk)
    await desk.platform.write("ada-at-work", f"/join {code}")
    await shown(desk, "ada-at-work", has("We go on here"))
    await desk.platform.write("ada-at-work", "And maps?")
    await shown(desk, "ada-at-work", has("You asked: And maps?"))
    assert len(threads(desk)) == 1
    before = await desk.platform.shown("ada")
    assert not any("And maps?" in one.text for one in before)
    await desk.platform.write("ada", "Here again.")
    await shown(desk, "ada", has("You asked: Here again."))
    assert len(threads(desk)) == 1


async def test_there_is_no_code_before_a_conversation(desk: CarriedDesk) -> None:
    await desk.platform.write("ada", "/continue")
    await shown(desk, "ada", has("Ask me about"))
    assert threads(desk) == set()


async def test_a_code_is_read_however_it_is_written(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk)
    await desk.platform.write("ada-at-work", f"Join {code.lower().replace('-', ' ')}.")
    await shown(desk, "ada-at-work", has("We go on here"))


async def test_a_link_brings_the_code_along(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk)
    assert isinstance(desk.platform, PigeonPlatform)
    await desk.platform.deliver("ada-at-work", ChatStart(code=code))
    await shown(desk, "ada-at-work", has("We go on here"))


async def test_who_was_joined_unawares_learns_it_and_leaves(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk, "eve")
    assert isinstance(desk.platform, PigeonPlatform)
    await desk.platform.deliver("ada", ChatStart(code=code))
    await shown(desk, "ada", has("reads what you write here"))
    await desk.platform.write("ada", "/new")
    await shown(desk, "ada", has("begins a new conversation"))
    await desk.platform.write("ada", "A secret of Ada's.")
    await shown(desk, "ada", has("You asked: A secret"))
    await desk.platform.write("eve", "What is there?")
    await shown(desk, "eve", has("You asked: What is there?"))
    ((of_ada,),) = desk.talker.rows(
        "SELECT thread_id FROM messages WHERE content LIKE '[\"A secret%'"
    )
    (of_eve,) = threads(desk) - {of_ada}
    assert of_ada != of_eve


async def test_a_code_in_anothers_conversation_leaves_that_alone(desk: CarriedDesk) -> None:
    assert isinstance(desk.platform, PigeonPlatform)
    await desk.platform.write("ada", "Do you sell books?")
    await shown(desk, "ada", has("You asked: Do you sell books?"))
    (of_ada,) = threads(desk)
    code = await asked_for_code(desk, "eve")
    joins = TextMessage(text=f"join {code}", message_ref="e1")
    await desk.platform.deliver("eve", joins, conversation="chat-ada")
    await shown(desk, "eve", has("We go on here"))
    await desk.platform.write("ada", "And maps?")
    await shown(desk, "ada", has("You asked: And maps?"))
    rows = desk.talker.rows("SELECT thread_id FROM messages WHERE content LIKE '%And maps?%'")
    assert {id_ for (id_,) in rows} == {of_ada}


async def test_a_code_works_once(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk)
    await desk.platform.write("ada-at-work", f"/join {code}")
    await shown(desk, "ada-at-work", has("We go on here"))
    await desk.platform.write("eve", f"/join {code}")
    await shown(desk, "eve", has(GONE))
    await desk.platform.write("eve", "What was said?")
    await shown(desk, "eve", has("You asked: What was said?"))
    assert len(threads(desk)) == 2


async def test_a_guessed_code_joins_nothing_and_guesses_are_few(desk: CarriedDesk) -> None:
    await asked_for_code(desk)
    for _ in range(5):
        await desk.platform.write("eve", "/join 2222-3333-4444")
    await shown(desk, "eve", lambda found: len(found) == 5)
    assert all(GONE in one.text for one in await desk.platform.shown("eve"))
    await desk.platform.write("eve", "/join 2222-3333-4444")
    await shown(desk, "eve", has("too many wrong codes"))
    assert desk.talker.rows("SELECT last_error FROM jobs WHERE last_error IS NOT NULL") == []
    await desk.platform.write("eve", "Do you sell books?")
    await shown(desk, "eve", has("You asked: Do you sell books?"))


async def test_a_code_counts_only_where_it_proves_who_writes(desk: CarriedDesk) -> None:
    code = await asked_for_code(desk)
    assert isinstance(desk.platform, PigeonPlatform)
    await desk.platform.deliver("eve", ChatStart(code=code), is_private=False)
    await desk.platform.deliver("eve", ChatStart(code=code), is_proven=False)
    await shown(desk, "eve", lambda found: len(found) == 2)
    assert all(GONE in one.text for one in await desk.platform.shown("eve"))

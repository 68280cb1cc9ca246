"""The desk asks by forms: what is filled in has the call go on, in words and in messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.access.jwe import encrypted
from tests.support.clients.threads import THREADS
from tests.support.desk.terminal import command
from tests.support.plugins.forms import upstream_errors
from tests.support.sites.parcels import Sender, reply, sending
from tests.support.store.erasure import principal_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = "Send me a parcel"
FORM = (
    "Address\n- Name\n- Street\n- Postal code\n"
    "Reply with one line for each field: “Name: …”, “Street: …”."
)
LINES = "Name: Ada\nStreet: 1 Long Lane\nPostal code: 10115"
VALUES = {
    "address.name": "Ada",
    "address.street": "1 Long Lane",
    "address.postal_code": "10115",
}
DONE = "A parcel goes to Ada."
SENT = "Ada, 1 Long Lane, 10115"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def anybody(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sender]:
    """A desk at which data is enabled, without a model."""
    async with sending(tmp_path_factory.mktemp("desk")) as somebody:
        yield somebody


@pytest_asyncio.fixture(loop_scope="module")
async def sender(anybody: Sender) -> Sender:
    """A new caller who may have parcels sent."""
    anybody.forget()
    return await anybody.another()


async def test_a_form_is_filled_in_by_words_in_a_session(sender: Sender) -> None:
    first = (await sender.ask(ASKED)).ok
    assert (first["status"], first["clarification_question"]) == (
        "clarification_needed",
        f"{FORM}\nAdd “Remember: yes” to have them filled in next time.",
    )
    session = first["session_id"]
    wrong = (await sender.ask(LINES.replace("10115", "?"), session)).ok
    assert wrong["status"] == "clarification_needed"
    assert wrong["clarification_question"].startswith("“Postal code” must be a postal code")
    last = (await sender.ask(LINES, session)).ok
    assert (last["status"], last["response"]["answer"]) == ("success", DONE)
    assert sender.parcels == [SENT]


async def test_a_form_is_filled_in_by_a_message_on_the_thread(sender: Sender) -> None:
    session = (await sender.ask(ASKED)).ok["session_id"]
    thread = await sender.talker.thread_of(session)
    await sender.declare(thread)
    form = await sender.form(thread)
    assert [field["id"] for field in form["form"]["fields"]] == list(VALUES)
    wrong = await sender.talker.post(thread, reply(form["id"], **(VALUES | {"more": "x"})))
    assert wrong.refusal == (400, "invalid_request", "data.fields[3].value")
    assert await sender.post(thread, reply(form["id"], **VALUES)) == [DONE]
    assert sender.parcels == [SENT]
    for said in await sender.said(thread):
        for text in said:
            if text.startswith("{"):
                assert upstream_errors(json.loads(text)) == []
    again = await sender.post(thread, reply(form["id"], **VALUES))
    assert again == ["“Address” was answered before."]
    assert sender.parcels == [SENT]


async def test_a_form_of_a_settled_call_is_stored_as_rejected(sender: Sender) -> None:
    session = (await sender.ask(ASKED)).ok["session_id"]
    thread = await sender.talker.thread_of(session)
    await sender.declare(thread)
    form = await sender.form(thread)
    await sender.ask("never mind", session)
    await sender.post(thread, reply(form["id"], **VALUES))
    texts = [text for said in await sender.said(thread) for text in said]
    *_, last = (json.loads(text) for text in texts if text.startswith("{"))
    assert last["rejected_data"]["reason"] == "settled"
    assert sender.parcels == []


async def test_another_does_not_answer(sender: Sender) -> None:
    session = (await sender.ask(ASKED)).ok["session_id"]
    thread = await sender.talker.thread_of(session)
    other = await sender.another("threads", "operator")
    await other.post(thread, LINES)
    assert sender.parcels == []


async def test_what_was_kept_by_wish_is_proposed_the_next_time_and_to_nobody_else(
    sender: Sender,
) -> None:
    session = (await sender.ask(ASKED)).ok["session_id"]
    assert (await sender.ask(f"{LINES}\nRemember: yes", session)).ok["status"] == "success"
    second = (await sender.ask(ASKED)).ok
    assert "- Name (default: Ada)\n" in second["clarification_question"]
    other = await sender.another()
    assert "Ada" not in (await other.ask(ASKED)).ok["clarification_question"]
    last = (await sender.ask("The same", second["session_id"])).ok
    assert last["response"]["answer"] == DONE
    assert sender.parcels == [SENT, SENT]
    third = (await sender.ask(ASKED)).ok
    forgets = f"{LINES}\nRemember: no"
    assert (await sender.ask(forgets, third["session_id"])).ok["status"] == "success"
    assert "Ada" not in (await sender.ask(ASKED)).ok["clarification_question"]


async def test_what_was_kept_is_erased_with_the_person_and_with_its_thread(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with sending(tmp_path) as sender:
        other, session = await sender.another(), ""
        for who in (sender, other):
            session = (await who.ask(ASKED)).ok["session_id"]
            assert (await who.ask(f"{LINES}\nRemember: yes", session)).ok["status"] == "success"
            assert "(default: Ada)" in (await who.ask(ASKED)).ok["clarification_question"]
        person = await principal_of(sender.talker)
        await asyncio.to_thread(command, "erase", "--data", data, "--actor", person)
        assert "Ada" not in (await sender.ask(ASKED)).ok["clarification_question"]
        assert "(default: Ada)" in (await other.ask(ASKED)).ok["clarification_question"]
        thread = await other.talker.thread_of(session)
        assert (await other.talker.send("DELETE", f"{THREADS}/{thread}")).status in {200, 204}
        assert "Ada" not in (await other.ask(ASKED)).ok["clarification_question"]


LOCK = {"capability": "lock_box"}
CODE = "Sesame-4711"


@pytest.mark.parametrize("way", ["words", "clarification", "query", "message", "encrypted"])
async def test_a_secret_argument_is_asked_by_a_form_and_comes_sealed(
    sender: Sender, way: str
) -> None:
    asked = (await sender.ask("Lock a box", **LOCK)).ok
    assert "- Code (kept sealed)" in asked["clarification_question"]
    session = asked["session_id"]
    thread = await sender.talker.thread_of(session)
    if way in {"words", "clarification", "query"}:
        said = f"Box: B7\nCode: {CODE}"
        turn = {
            "words": {"query": said},
            "clarification": {"query": "Lock a box", "clarification": said},
            "query": {"query": reply("", box="B7", code=CODE)},
        }[way]
        body = {**LOCK, **turn, "session_id": session}
        done = (await sender.talker.send("POST", "/agent/converse", body)).ok
        assert done["response"]["answer"] == "The box B7 is locked."
    else:
        await sender.declare(thread)
        form = await sender.form(thread)
        given = CODE if way == "message" else encrypted(CODE, form["jwks"]["keys"][0])
        told = await sender.post(thread, reply(form["id"], box="B7", code=given))
        assert told == ["The box B7 is locked."]
    assert sender.parcels == [f"B7 opens with {CODE}"]
    assert CODE not in json.dumps(await sender.said(thread))
    sealed = json.dumps(sender.talker.rows("SELECT arguments FROM calls"))
    assert CODE not in sealed
    assert "sealed_" in sealed


async def test_a_secret_alone_is_asked_for_alone(sender: Sender) -> None:
    asked = (await sender.ask("Open the box", capability="open_box")).ok
    assert "- Code (kept sealed)" in asked["clarification_question"]
    assert "Reply with the value alone" in asked["clarification_question"]
    done = (await sender.ask(CODE, asked["session_id"], capability="open_box")).ok
    assert done["response"]["answer"] == "It opens."
    thread = await sender.talker.thread_of(asked["session_id"])
    assert CODE not in json.dumps(await sender.said(thread))


async def test_a_word_among_others_is_sealed_before_it_is_asked_for_again(sender: Sender) -> None:
    asked = (await sender.ask("Lock a box", **LOCK)).ok
    again = (await sender.ask(CODE, asked["session_id"], **LOCK)).ok
    assert again["clarification_question"].startswith("“Box” is missing.")
    thread = await sender.talker.thread_of(asked["session_id"])
    assert CODE not in json.dumps(await sender.said(thread))


async def test_without_the_capability_it_is_asked_in_words(tmp_path: Path) -> None:
    async with sending(tmp_path, "capabilities.requests={}", data=False) as sender:
        first = (await sender.ask(ASKED)).ok
        assert first["status"] == "clarification_needed"
        assert "Reply with one line for each field" not in first["clarification_question"]

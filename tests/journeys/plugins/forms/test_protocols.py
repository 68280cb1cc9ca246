"""What is sensitive, filled in by the forms of other doors: sealed, and asked by no form of MCP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Clarification
from aitp_desk.desk.dialogue.turn import AskReply
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.protocols.mcp.requests import find_asked_request
from tests.support.clients.a2a import send, tasking
from tests.support.clients.hac import face
from tests.support.clients.threads import DATABASE, THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.forms import CARD, PAYING

SELLER = "https://seller.example"
FIELD = next(one["id"] for one in PAYING["form"]["fields"] if "cc-number" in str(one))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talking(tmp_path, "capabilities.data={}", agent=ScriptedAgent()) as talker:
        yield talker


async def asked(desk: Talker, data: dict[str, Any]) -> tuple[Talker, str]:
    """A guest, and a thread on which a seller has asked for this."""
    guest, seller = await desk.with_key("threads"), await desk.with_key("threads")
    thread = (await guest.open()).id
    assert seller.key is not None
    joining = {"id": SELLER, "principal": f"key:{seller.key.split('_')[1]}"}
    assert (await guest.send("POST", f"{THREADS}/{thread}/actors", joining)).ok
    part = json.dumps({"$schema": "aitp.dev/data", "request_data": data})
    assert (await seller.post(thread, part)).status == 200
    return guest, thread


def kept(folder: Path) -> dict[str, bytes]:
    """Every byte of the database."""
    return {file.name: file.read_bytes() for file in folder.rglob(f"{DATABASE}*")}


def filled(form: dict[str, Any]) -> dict[str, Any]:
    """A form, filled in."""
    return {name: CARD if name == FIELD else "123" for name in form["required"]} | {FIELD: CARD}


async def test_a_form_of_hac_and_of_tasks_seals_what_is_sensitive(
    desk: Talker, tmp_path: Path
) -> None:
    for by_task in (False, True):
        guest, thread = await asked(desk, PAYING)
        (one,) = (await guest.send("GET", f"{THREADS}/{thread}/requests")).ok["data"]
        member = one["form"]["properties"][FIELD]
        assert (member["writeOnly"], member["format"]) == (True, "password")
        if by_task:
            named = {"request": one["id"], "capability": "data"}
            async with tasking(desk.desk, key=guest.key) as client:
                answer = {"data": {**named, "answer": filled(one["form"])}}
                told = await send(client, answer, contextId=thread)
            assert CARD not in str(told)
        else:
            told_as_hac = await face(guest, "GET", f"{THREADS}/{thread}")
            (action,) = [a for a in told_as_hac.told["actions"] if a["rel"].startswith("answer-")]
            (field,) = [field for field in action["fields"] if field["name"] == FIELD]
            assert field["x-schema"]["writeOnly"]
            answered = await guest.send("POST", action["href"], filled(one["form"]))
            assert answered.status == 200, answered.body
            assert CARD not in json.dumps(answered.body)
        assert (await guest.send("GET", f"{THREADS}/{thread}/requests")).ok["data"] == []
    await desk.desk.store.settled()
    assert not [name for name, data in kept(tmp_path).items() if CARD.encode() in data]


@pytest.mark.parametrize("member", [{"type": "string"}, {"type": "string", "writeOnly": True}])
def test_no_form_of_mcp_asks_for_what_is_sensitive(member: dict[str, Any]) -> None:
    request = OpenRequest(
        id="pin",
        capability="data",
        words="PIN?",
        message={},
        form={"type": "object", "properties": {"pin": member}},
        by="desk",
        of="",
        until=0,
        is_own=True,
        answers_as="visitor",
    )
    question = Clarification("PIN?", spoken=(Spoken("PIN?", "data", "{}"),))
    meant = find_asked_request(AskReply("session_1", "content_search", question), (request,))
    assert meant == (None if "writeOnly" in member else request)

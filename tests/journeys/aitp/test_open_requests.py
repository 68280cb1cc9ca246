"""What waits for an answer on a thread, as every caller can read it, and answered by its form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.capability import (
    Capability,
    Context,
    Keep,
    Part,
    Record,
    Schema,
    Take,
    Verdict,
    Waiting,
    document_of,
)
from aitp_desk.testing import open_desk
from tests.support.clients.hac import face
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import CANCEL, COLOURS, SIZE, TENTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLUG = "aitp.dev/requests"
SELLER = "https://seller.example"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk at which requests are enabled."""
    folder = tmp_path_factory.mktemp("desk")
    async with talking(folder, "capabilities.requests={}", agent=ScriptedAgent()) as talker:
        yield talker


async def asked(desk: Talker, request: dict[str, Any]) -> tuple[Talker, Talker, str]:
    """Who has asked, a guest, and their thread, on which the guest is to answer."""
    guest, seller = await desk.with_key("threads"), await desk.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER)
    await ask(seller, thread, request)
    return seller, guest, thread


async def join(owner: Talker, thread: str, who: Talker, name: str) -> None:
    """Have a caller take part under a name."""
    assert who.key is not None
    joining = {"id": name, "principal": f"key:{who.key.split('_')[1]}"}
    assert (await owner.send("POST", f"{THREADS}/{thread}/actors", joining)).ok


async def ask(seller: Talker, thread: str, request: dict[str, Any]) -> None:
    part = json.dumps({"$schema": SLUG, "request_decision": request})
    assert (await seller.post(thread, part)).status == 200


async def waiting(who: Talker, thread: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await who.send("GET", f"{THREADS}/{thread}/requests")).ok[
        "data"
    ]
    return listed


async def waiting_by_id(who: Talker, thread: str) -> dict[str, Any]:
    return {one["id"]: one for one in await waiting(who, thread)}


async def test_it_is_listed_in_words_and_as_a_form_for_participants(desk: Talker) -> None:
    seller, guest, thread = await asked(desk, SIZE)
    (one,) = await waiting(guest, thread)
    assert one.pop("open_until").endswith("Z")
    at = f"{THREADS}/{thread}/requests/requests/size"
    listed = [{"const": "s", "title": "S"}, {"const": "m", "title": "m"}]
    assert one == {
        "object": "thread.request",
        "id": "size",
        "capability": "requests",
        "text": "Size?\n1. S\n2. m\nReply 1 or 2.",
        "form": {
            "type": "object",
            "properties": {"choice": {"type": "string", "oneOf": listed}},
            "required": ["choice"],
        },
        "answer_at": at,
        "asked_by": SELLER,
        "actor": None,
        "may_answer": True,
        "rejected_answers": [],
    }
    (theirs,) = await waiting(seller, thread)
    assert not theirs["may_answer"], "who has asked does not answer"
    stranger = await desk.with_key("threads")
    refused = await stranger.send("GET", f"{THREADS}/{thread}/requests")
    assert refused.refusal == (404, "thread_not_found", "thread_id")


@pytest.mark.parametrize(
    ("request_", "filled_in", "options"),
    [
        (SIZE, {"choice": "m"}, [{"id": "m", "name": "m"}]),
        (CANCEL, {"choice": "n"}, [{"id": "n", "name": "No, keep it"}]),
        (
            COLOURS,
            {"choices": ["b", "r"]},
            [{"id": "b", "name": "Blue"}, {"id": "r", "name": "Red"}],
        ),
        (
            TENTS,
            {"cove": 2, "ridge-red": 1, "ridge": 0},
            [
                {"id": "cove", "name": "Cove", "quantity": 2},
                {"id": "ridge-red", "name": "Ridge in red", "quantity": 1},
            ],
        ),
    ],
)
async def test_a_submitted_form_is_the_decision_of_its_sender(
    desk: Talker, request_: dict[str, Any], filled_in: dict[str, Any], options: list[Any]
) -> None:
    seller, guest, thread = await asked(desk, request_)
    (one,) = await waiting(guest, thread)
    answered = (await guest.send("POST", one["answer_at"], filled_in)).ok
    assert answered["object"] == "thread.message"
    (message, *_) = (await guest.messages(thread)).ok["data"]
    assert message["id"] == answered["id"]
    assert message["content"][0].startswith("Chosen: ")
    assert await waiting(guest, thread) == []
    kept = seller.rows(f"SELECT content FROM messages WHERE id = '{answered['id']}'")
    decision = json.loads(json.loads(kept[0][0])[0])["decision"]
    assert decision == {"options": options, "request_decision_id": request_["id"]}


@pytest.mark.parametrize(
    ("request_", "filled_in", "refusal"),
    [
        (SIZE, {}, (400, "missing_field", "choice")),
        (SIZE, {"choice": "xl"}, (400, "invalid_request", "choice")),
        (SIZE, {"choice": ["s"]}, (400, "invalid_request", "choice")),
        (SIZE, {"choice": "s", "note": "please"}, (400, "invalid_request", "note")),
        (SIZE, [], (400, "invalid_request", None)),
        (COLOURS, {"choices": []}, (400, "missing_field", "choices")),
        (COLOURS, {"choices": ["r", 7]}, (400, "invalid_request", "choices[1]")),
        (COLOURS, {"choices": ["r", "r"]}, (400, "invalid_request", "decision.options[1].id")),
        (TENTS, {"cove": 1.5}, (400, "invalid_request", "cove")),
        (TENTS, {"cove": True}, (400, "invalid_request", "cove")),
        (TENTS, {"cove": -1}, (400, "invalid_request", "cove")),
        (TENTS, {"cove": 0}, (400, "missing_field", None)),
        (TENTS, {"boat": 1}, (400, "invalid_request", "boat")),
    ],
)
async def test_what_does_not_fit_is_refused_with_its_member_and_can_be_corrected(
    desk: Talker, request_: dict[str, Any], filled_in: Any, refusal: Any
) -> None:
    _, guest, thread = await asked(desk, request_)
    (one,) = await waiting(guest, thread)
    assert (await guest.send("POST", one["answer_at"], filled_in)).refusal == refusal
    assert len(await waiting(guest, thread)) == 1


async def test_it_is_answered_once_and_by_those_alone_who_may(desk: Talker) -> None:
    seller, guest, thread = await asked(desk, COLOURS)
    third = await desk.with_key("threads")
    await join(guest, thread, third, "https://third.example")
    await ask(seller, thread, {**SIZE, "actor": "https://third.example"})
    found = await waiting_by_id(guest, thread)
    one, newest = found["size"], found["colours"]
    assert (one["actor"], one["may_answer"]) == ("https://third.example", False)
    assert (await guest.send("POST", one["answer_at"], {"choice": "s"})).status == 200
    said = await guest.texts(thread)
    assert said[-1] == "“Size?” must be answered by another participant."
    assert (await waiting_by_id(third, thread))["size"]["may_answer"]
    assert (await guest.send("POST", newest["answer_at"], {"choices": ["r"]})).status == 200
    again = await guest.send("POST", newest["answer_at"], {"choices": ["b"]})
    assert again.refusal == (404, "message_not_found", "request_id")
    reading = await guest.send("POST", f"{THREADS}/{thread}/grants", {"link": True, "may": "read"})
    reader = desk.with_link(reading.ok["secret"])
    assert [one["may_answer"] for one in await waiting(reader, thread)] == [False]
    assert (await reader.send("POST", one["answer_at"], {"choice": "s"})).status == 403
    assert (await third.send("POST", one["answer_at"], {"choice": "s"})).status == 200


@pytest.mark.requirement("HAC-9.1-1")
async def test_hac_tells_what_may_be_answered_and_to_whom_it_may(desk: Talker) -> None:
    seller, guest, thread = await asked(desk, SIZE)
    for path in (
        f"{THREADS}/{thread}",
        f"{THREADS}/{thread}/messages",
        f"{THREADS}/{thread}/requests",
    ):
        told = (await face(guest, "GET", path)).told
        (action,) = [one for one in told["actions"] if one["rel"].startswith("answer-")]
        assert action["rel"] == "answer-size"
        assert action["href"] == f"{THREADS}/{thread}/requests/requests/size"
        assert action["method"] == "POST"
        assert action["safety"]["confirmation_recommended"]
        (field,) = action["fields"]
        assert (field["name"], field["required"], field["enum"]) == ("choice", True, ["s", "m"])
        assert action["preconditions"][0].startswith("It is open until 2")
        assert "Size?" not in json.dumps(told), "what a visitor has said is not repeated"
        assert "answer-size" not in (await face(seller, "GET", path)).rels
    (one,) = await waiting(guest, thread)
    assert (await guest.send("POST", one["answer_at"], {"choice": "s"})).status == 200
    assert "answer-size" not in (await face(guest, "GET", f"{THREADS}/{thread}")).rels


async def test_a_request_whose_id_is_no_part_of_a_path_is_answered_all_the_same(
    desk: Talker,
) -> None:
    _, guest, thread = await asked(desk, {**SIZE, "id": "a/b ?#%ü"})
    told = (await face(guest, "GET", f"{THREADS}/{thread}")).told
    (action,) = [one for one in told["actions"] if one["rel"].startswith("answer-requests-")]
    (one,) = await waiting(guest, thread)
    assert action["href"] == one["answer_at"]
    assert (await guest.send("POST", one["answer_at"], {"choice": "s"})).status == 200
    assert await waiting(guest, thread) == []


async def test_an_answer_that_is_sent_again_with_its_key_counts_once(desk: Talker) -> None:
    _, guest, thread = await asked(desk, SIZE)
    (one,) = await waiting(guest, thread)
    key = [("Idempotency-Key", "0f8fad5b-d9cb-469f-a165-70867728950e")]
    first = (await guest.send("POST", one["answer_at"], {"choice": "s"}, headers=key)).ok
    again = (await guest.send("POST", one["answer_at"], {"choice": "s"}, headers=key)).ok
    assert again == first
    other = await guest.send("POST", one["answer_at"], {"choice": "m"}, headers=key)
    assert (other.status, other.body["error"]["code"]) == (409, "idempotency_conflict")
    assert len(await guest.texts(thread)) == 2


class Puzzle(msgspec.Struct, frozen=True):
    question: str


class Puzzles(Capability):
    """Keeps puzzles open; of some of them nobody can say what they wait for."""

    slug = "puzzles"

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"puzzle": Puzzle}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Puzzles")),)

    def judge(self, part: Part, context: Context) -> Verdict:
        question = part.content.question
        return Take((Keep(question, question, 0, open_until=context.now + 60),))

    def waiting(self, record: Record) -> Waiting | None:
        if record.value == "riddle":
            raise RuntimeError("nobody knows")
        if record.value == "joke":
            return None
        form = {"type": "object", "properties": {"solution": {"type": "string"}}}
        return Waiting(id=record.key, message={"puzzle": Puzzle(record.key)}, form=form)


async def test_what_cannot_be_shown_hides_nothing_else() -> None:
    async with open_desk("capabilities.puzzles={}", capabilities={"puzzles": Puzzles}) as guest:
        thread = await guest.open()
        schema = f"{guest.url}/capabilities/puzzles/v1/schema.json"
        for question in ("riddle", "joke", "sum"):
            puzzle = {"$schema": schema, "puzzle": {"question": question}}
            assert (await guest.say(thread, puzzle)).status == 200
        listed = await guest.send("GET", f"{THREADS}/{thread}/requests")
        assert [one["id"] for one in listed.body["data"]] == ["sum"]
        assert listed.body["data"][0]["asked_by"] == guest.url, "the desk itself asks"
        faulty = await guest.send("POST", f"{THREADS}/{thread}/requests/puzzles/sum", {})
        assert (faulty.status, faulty.body["error"]["code"]) == (500, "internal")

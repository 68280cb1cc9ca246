"""Decisions over HTTP: one request, answered in a message and in words; the thread is the same."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.config import ConfigError
from tests.support.clients.event_stream import following
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins import seller as selling
from tests.support.plugins.decisions import CANCEL, PUBLISHED, SIZE, TENTS, upstream_errors
from tests.support.plugins.seller import SELLER, said

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = ("capabilities.requests.open_for=600",)
SLUG = "aitp.dev/requests"
TOLD = (
    "Which tent?\nBoth fit two people.\n1. Ridge (349.00 USD): Light.\n"
    "2. Ridge – green (359.50 USD)\n3. Ridge in red\n4. Cove (199.99 USD)\n"
    "Reply with a number, or with a quantity: 2 of number 4."
)
CHOSEN = {
    "request_decision_id": "tents",
    "options": [{"id": "cove", "name": "Cove", "quantity": 2}],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk at which requests are enabled."""
    folder = tmp_path_factory.mktemp("desk")
    async with talking(folder, *SETTINGS, agent=ScriptedAgent()) as talker:
        yield talker


def part(schema: str = SLUG, **message: Any) -> str:
    return selling.part_of(schema, message)


together = partial(selling.together, SLUG)


async def ask(seller: Talker, thread: str, request: Mapping[str, Any]) -> None:
    await selling.ask(seller, thread, SLUG, {"request_decision": request})


@pytest.mark.requirement("AITP-capabilities-4")
async def test_a_message_and_words_answer_the_same_request_and_read_the_same(desk: Talker) -> None:
    read = []
    for schemas, answer in (
        ((SLUG,), part(decision={"options": [{"id": "cove", "quantity": 2.0}]})),
        ((), "The fourth one, two of them."),
    ):
        seller, guest, thread = await together(desk, *schemas)
        await ask(seller, thread, TENTS)
        asked, *_ = await said(guest, thread)
        if schemas:
            assert json.loads(asked[0])["request_decision"] == TENTS
        else:
            assert asked == [TOLD]
        answered = await guest.post(thread, answer, wait=5, metadata={"actor": "guest"})
        assert answered.ok["run"] is None, "the seller has asked, not the desk"
        (_, decided) = await said(seller, thread)
        message = json.loads(decided[-1])
        assert message["decision"] == CHOSEN
        assert upstream_errors(message) == []
        read.append((decided, await said(guest, thread)))
    (structured, as_they_are), (in_words, told) = read
    assert json.loads(structured[-1])["decision"] == json.loads(in_words[-1])["decision"]
    assert [json.loads(one[0]).keys() for one in as_they_are] == [
        {"$schema", "request_decision"},
        {"$schema", "decision"},
    ]
    assert told == [[TOLD], ["The fourth one, two of them.", "Chosen: 2 × Cove."]]


async def test_the_desk_declares_and_serves_the_schema(desk: Talker) -> None:
    async with desk.http.get("/capabilities/requests/v1/schema.json") as response:
        served = await response.json(content_type=None)
    assert served["title"] == "AITP-02: decisions"
    actors = (await desk.send("GET", f"{THREADS}/{(await desk.open()).id}/actors")).ok["data"]
    assert {"schema": PUBLISHED} in actors[0]["capabilities"]


@pytest.mark.parametrize(
    "schema",
    [
        SLUG,
        PUBLISHED,
        "https://aitp.dev/v1/requests.schema.json",
        "https://aitp.dev/v1/requests/schema.json",
        "https://aitp.dev/v1/decision/schema.json",
        "https://aitp.dev/v1/decisions/schema.json",
    ],
)
async def test_every_published_address_is_understood(desk: Talker, schema: str) -> None:
    told = await desk.post((await desk.open()).id, part(schema, decision={"options": []}))
    assert told.refusal == (400, "invalid_request", "content[0].decision.options")


async def test_an_answer_that_is_not_offered_is_refused_and_can_be_corrected(desk: Talker) -> None:
    seller, guest, thread = await together(desk, SLUG)
    await ask(seller, thread, SIZE)
    wrong = await guest.post(thread, part(decision={"options": [{"id": "xl"}]}))
    assert wrong.refusal == (400, "invalid_request", "decision.options[0].id")
    assert (await guest.post(thread, part(decision={"options": [{"id": "m"}]}))).status == 200


async def test_of_two_who_decide_at_once_one_has_decided(desk: Talker) -> None:
    seller, guest, thread = await together(desk, SLUG)
    await ask(seller, thread, CANCEL)
    answers = [part(decision={"options": [{"id": id}]}) for id in ("y", "n", "y", "n")]
    posted = await asyncio.gather(*(guest.post(thread, answer) for answer in answers))
    assert {told.status for told in posted} <= {200, 409}
    words = [content[0] for content in await said(seller, thread)]
    refused = [text for text in words if text.startswith("“Cancel order TH1?” was answered")]
    unknown = [text for text in words if text == "There is no such request on this thread."]
    decided = sum(told.status == 200 for told in posted)
    assert len(refused) + len(unknown) == decided - 1
    (row,) = desk.rows(
        "SELECT count(*) FROM capability_records WHERE value LIKE '%\"answered\"%'"
        f" AND thread_id = '{thread}'"
    )
    assert row == (1,)


async def test_words_that_answer_nothing_are_for_the_agent(desk: Talker) -> None:
    seller, guest, thread = await together(desk)
    await ask(seller, thread, SIZE)
    told = await guest.post(thread, "Which one is warmer?", wait=10)
    assert told.ok["run"]["status"] == "completed"
    assert told.ok["content"] == ["Which one is warmer?"]


async def test_what_a_visitor_asks_alone_is_for_the_agent_in_words(desk: Talker) -> None:
    thread = (await desk.open()).id
    asked = await desk.post(thread, part(request_decision=SIZE), wait=10)
    assert asked.ok["run"]["status"] == "completed"
    assert (await said(desk, thread))[0] == ["Size?\n1. S\n2. m\nReply 1 or 2."]
    told = await desk.post(thread, "2", wait=10)
    assert told.ok["content"] == ["2"], "no answer to what the visitor has asked"


async def test_a_decision_that_does_not_count_is_none_to_its_requester(desk: Talker) -> None:
    seller, guest, thread = await together(desk, PUBLISHED)
    await ask(seller, thread, SIZE)
    await guest.post(thread, part(decision={"options": [{"id": "m"}]}))
    late = await guest.post(
        thread, part(decision={"options": [{"id": "s"}], "request_decision_id": SIZE["id"]})
    )
    nothing = {"options": [{"id": "s"}], "request_decision_id": "none"}
    assert (await guest.post(thread, part(decision=nothing))).status == 200
    rejected: list[dict[str, Any]] = []
    for reader in (seller, guest):
        texts = [text for content in await said(reader, thread) for text in content]
        told = [json.loads(text) for text in texts if text.startswith("{")]
        (decided,) = (one["decision"] for one in told if "decision" in one)
        assert [option["id"] for option in decided["options"]] == ["m"]
        rejected = [one for one in told if "rejected_decision" in one]
        assert [one["rejected_decision"]["reason"] for one in rejected] == [
            "answered",
            "unknown_request",
        ]
    own = f"{desk.desk.url}/capabilities/requests/v0/schema.json"
    assert rejected[0]["$schema"] == own
    assert json.loads(late.ok["content"][0]) == rejected[0]
    forged = part(own, rejected_decision=rejected[0]["rejected_decision"])
    assert (await guest.post(thread, forged)).refusal[:2] == (403, "forbidden")
    words = await said(await desk.with_key("operator"), thread)
    assert ["Rejected: s."] in words


async def test_what_is_open_still_tells_of_answers_that_do_not_count(desk: Talker) -> None:
    seller, guest, thread = await together(desk, SLUG)
    over = {
        "type": "Quote",
        "quote_id": "q",
        "payee_id": "shop",
        "payment_plans": [],
        "valid_until": "2020-01-01T00:00:00Z",
    }
    options = [{"id": "s", "name": "S", "quote": over}, {"id": "m"}]
    await ask(seller, thread, {"id": "sale", "options": options})
    late = await guest.post(thread, part(decision={"options": [{"id": "s"}]}))
    assert json.loads(late.ok["content"][0])["rejected_decision"]["reason"] == "price_expired"
    (waiting,) = (await seller.send("GET", f"{THREADS}/{thread}/requests")).ok["data"]
    assert waiting["rejected_answers"] == [
        {"message_id": late.id, "actor": "guest", "reason": "price_expired"}
    ]
    await guest.post(thread, part(decision={"options": [{"id": "m"}]}))
    assert (await seller.send("GET", f"{THREADS}/{thread}/requests")).ok["data"] == []


async def test_what_gets_no_answer_is_sent_again_once(tmp_path: Path) -> None:
    soon = "capabilities.requests.remind_after=1"
    async with talking(tmp_path, soon, agent=ScriptedAgent()) as desk:
        seller, guest, thread = await together(desk)
        await ask(seller, thread, SIZE)
        async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
            for _ in range(2):
                await listener.until_named("message.created")
        words = "Size?\n1. S\n2. m\nReply 1 or 2."
        assert await said(guest, thread) == [[words], [f"This request is still open. {words}"]]


async def test_an_operator_asks_and_the_agent_goes_on_with_the_answer(desk: Talker) -> None:
    operator, visitor = await desk.with_key("operator", "threads"), await desk.with_key("threads")
    thread = (await visitor.open(metadata={"actors": [{"id": "guest"}]})).id
    asked = await operator.post(thread, part(request_decision=CANCEL), wait=5)
    assert asked.ok["run"] is None
    answered = await visitor.post(thread, "No thanks.", wait=10)
    assert answered.ok["content"] == ["No thanks.", "Chosen: No, keep it."]
    assert answered.ok["run"]["status"] == "completed"
    noted = desk.rows("SELECT object FROM audit WHERE action = 'capability.noted'")
    assert {event for (event,) in noted} >= {
        "capability:requests.asked",
        "capability:requests.answered",
    }


async def test_in_a_session_what_waits_on_its_thread_is_answered_in_words(desk: Talker) -> None:
    actors = [{"id": "guest"}, {"id": SELLER, "capabilities": [{"schema": SLUG}]}]
    thread = (await desk.open(metadata={"actors": actors})).id
    await ask(desk, thread, SIZE)
    body = {"ahp": "0.1", "capability": "content_search", "query": "1", "session_id": thread}
    answered = (await desk.send("POST", "/agent/converse", body)).ok
    assert answered["response"]["answer"] == "Chosen: S."
    decided = (await said(desk, thread))[1]
    assert json.loads(decided[1])["decision"]["options"] == [{"id": "s", "name": "S"}]


async def test_after_its_time_words_are_for_the_agent_and_a_message_is_refused(
    tmp_path: Path,
) -> None:
    times = [time.time()]
    settings = ("capabilities.requests.open_for=60",)
    async with talking(tmp_path, *settings, agent=ScriptedAgent(), clock=lambda: times[-1]) as desk:
        seller, guest, thread = await together(desk, SLUG)
        await ask(seller, thread, SIZE)
        times.append(times[-1] + 61)
        heard = await guest.post(thread, "2", wait=10)
        assert (heard.ok["content"], heard.ok["run"]["status"]) == (["2"], "completed")
        late = {"request_decision_id": "size", "options": [{"id": "s"}]}
        assert (await guest.post(thread, part(decision=late))).status == 200
        assert (await said(guest, thread))[-1] == ["“Size?” was not answered in time."]


async def test_settings_that_cannot_be_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="open_for"):
        async with talking(tmp_path, "capabilities.requests.open_for=1"):
            pass

"""What a site does with visitors' structured messages: judges, refuses, or passes them along."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from a2a.types import a2a_pb2

from aitp_desk.config import ConfigError
from tests.support.clients.a2a import said as told_by
from tests.support.clients.a2a import send, state, tasking
from tests.support.clients.event_stream import following
from tests.support.clients.hac import face
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import SIZE
from tests.support.sites.partners import serving_site, write_site

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLUG = "aitp.dev/requests"
SELLER, COURIER = "https://seller.example", "https://courier.example"
TELLING = '''"""An action that tells what another server says."""

from aitp_desk.actions import action


@action(open_to="anyone")
def tell_form() -> str:
    """Tells the form of a size."""
'''
ASKED = "Size?\n1. S\n2. m\nReply 1 or 2."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def passing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk that passes requests along."""
    folder = tmp_path_factory.mktemp("passing")
    setting = "capabilities.requests.from_visitors=pass"
    async with talking(folder, setting, agent=ScriptedAgent()) as talker:
        yield talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rejecting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk that takes no requests of visitors."""
    folder = tmp_path_factory.mktemp("rejecting")
    setting = "capabilities.requests.from_visitors=reject"
    async with talking(folder, setting, agent=ScriptedAgent()) as talker:
        yield talker


def part(**message: Any) -> str:
    return json.dumps({"$schema": SLUG, **message})


async def join(owner: Talker, thread: str, who: Talker, name: str, *schemas: str) -> None:
    """Have a caller take part under a name, who has declared these."""
    assert who.key is not None
    joining = {
        "id": name,
        "principal": f"key:{who.key.split('_')[1]}",
        "capabilities": [{"schema": schema} for schema in schemas],
    }
    assert (await owner.send("POST", f"{THREADS}/{thread}/actors", joining)).ok


async def said(who: Talker, thread: str) -> list[str]:
    listed = (await who.messages(thread, "?order=asc&limit=100")).ok["data"]
    return [message["content"][0] for message in listed]


async def test_a_request_and_its_answer_are_given_to_the_other_as_they_are(passing: Talker) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER, SLUG)
    posted = await seller.post(thread, part(request_decision=SIZE), wait=5)
    assert posted.ok["run"] is None, "nobody here answers it"
    assert await said(guest, thread) == [ASKED]
    # the desk holds nothing against anything: an answer to what was never asked goes through too
    answer = {"request_decision_id": "nobody-knows", "options": [{"id": "s"}], "more": 1}
    answered = await guest.post(thread, part(decision=answer), wait=5)
    assert answered.ok["run"] is None
    _, heard = await said(seller, thread)
    assert json.loads(heard) == {"$schema": SLUG, "decision": answer}
    assert await said(guest, thread) == [ASKED, "Chosen: s."]
    assert (await guest.send("GET", f"{THREADS}/{thread}/requests")).ok["data"] == []


async def test_words_next_to_it_are_the_agents_and_words_alone_are_no_answer(
    passing: Talker,
) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER, SLUG)
    await seller.post(thread, part(request_decision=SIZE))
    in_words = await guest.post(thread, "2", wait=5)
    assert in_words.ok["replies"][0]["content"][0].endswith("asked: 2")
    both = await guest.post(
        thread, [part(decision={"options": [{"id": "s"}]}), "And when do you open?"], wait=5
    )
    assert both.ok["replies"]


async def test_it_names_whom_it_is_for_where_several_take_part(passing: Talker) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    courier = await passing.with_key("threads")
    thread = (await guest.open()).id
    at = "content[0].request_decision.actor"

    async def post(content: str, **metadata: str) -> Any:
        return await guest.post(thread, content, metadata=metadata)

    asked = part(request_decision=SIZE)
    assert (await post(asked)).refusal == (400, "invalid_request", "metadata.to")
    await join(guest, thread, seller, SELLER)
    await join(guest, thread, courier, COURIER, SLUG)
    unclear = await post(asked)
    assert unclear.refusal == (400, "invalid_request", "metadata.to")
    assert unclear.body["error"]["message"].endswith(
        f"Its other participants are: {COURIER}, {SELLER}."
    )
    nobody = await post(part(request_decision={**SIZE, "actor": "fred"}))
    assert nobody.refusal == (400, "invalid_request", at)
    desk = (await guest.send("GET", f"{THREADS}/{thread}/actors")).ok["data"][0]
    assert desk["capabilities"] == [], "it reads none of it"
    assert (await post(asked, to=desk["id"])).refusal == (400, "invalid_request", "metadata.to")
    assert await said(guest, thread) == []
    for told in (
        await post(asked, to=SELLER),
        await post(part(request_decision={**SIZE, "actor": COURIER})),
    ):
        assert told.status == 200
    assert await said(seller, thread) == [ASKED, ASKED]
    assert [json.loads(one)["request_decision"]["id"] for one in await said(courier, thread)] == [
        "size",
        "size",
    ]


async def test_what_breaks_its_schema_is_refused_all_the_same(passing: Talker) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER)
    broken = await guest.post(thread, part(decision={"options": "s"}))
    assert broken.refusal == (400, "invalid_request", "content[0].decision.options")


async def test_rejected_messages_are_refused_with_a_sentence_over_every_protocol(
    rejecting: Talker,
) -> None:
    guest = await rejecting.with_key("threads")
    thread = (await guest.open("Hello?")).id
    for refused in (
        await guest.post(thread, part(request_decision=SIZE)),
        await guest.post(thread, part(decision={"options": [{"id": "s"}]})),
        await guest.open(part(request_decision=SIZE)),
    ):
        assert refused.refusal == (403, "forbidden", "content[0]")
        assert refused.body["error"]["message"] == (
            "This site accepts no messages of requests. Send plain text instead."
        )
    question = {"ahp": "0.1", "capability": "content_search", "query": part(request_decision=SIZE)}
    by_ahp = await rejecting.send("POST", "/agent/converse", question)
    assert (by_ahp.status, by_ahp.body["code"]) == (403, "forbidden")
    desk = (await guest.send("GET", f"{THREADS}/{thread}/actors")).ok["data"][0]
    assert desk["capabilities"] == []


async def test_what_the_sites_people_ask_is_answered_in_words_there(rejecting: Talker) -> None:
    guest, operator = await rejecting.with_key("threads"), await rejecting.with_key("operator")
    thread = (await guest.open()).id
    assert (await operator.post(thread, part(request_decision=SIZE))).status == 200
    assert await said(guest, thread) == [ASKED]
    told = await face(guest, "GET", f"{THREADS}/{thread}")
    assert not any(rel.startswith("answer-") for rel in told.rels), "there is no form for it"
    refused = await guest.post(thread, part(decision={"options": [{"id": "s"}]}))
    assert refused.status == 403
    answered = (await guest.post(thread, "m", wait=5)).ok
    assert answered["content"] == ["m", "Chosen: m."]


async def test_who_takes_part_hears_it_as_it_happens_in_their_own_form(passing: Talker) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER, SLUG)
    heard: list[str] = []
    for who in (guest, seller):
        async with following(who, thread) as listener:
            await guest.post(thread, part(request_decision={**SIZE, "id": f"s{len(heard)}"}))
            event = await listener.until_named("message.created")
            heard.append(event[-1].data["content"][0])
    in_words, as_it_is = heard
    assert in_words == ASKED
    assert json.loads(as_it_is)["request_decision"]["id"] == "s1"


async def test_a_setting_that_is_none_of_the_three_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be one of 'accept', 'reject', 'pass'"):
        async with talking(tmp_path, "capabilities.requests.from_visitors=forward"):
            pass


async def test_in_a_session_it_is_said_that_it_was_passed_along(passing: Talker) -> None:
    seller = await passing.with_key("threads")
    thread = (await passing.open()).id
    await join(passing, thread, seller, SELLER, SLUG)
    question = {"ahp": "0.1", "capability": "content_search", "session_id": thread}
    told = await passing.send(
        "POST", "/agent/converse", {**question, "query": part(request_decision=SIZE)}
    )
    assert told.ok["response"]["answer"] == (
        "Your message was passed on to the other participants."
    )
    assert json.loads((await said(seller, thread))[0])["request_decision"] == SIZE


async def test_a_task_hears_what_came_of_what_was_passed_along(passing: Talker) -> None:
    guest, seller = await passing.with_key("threads"), await passing.with_key("threads")
    thread = (await guest.open()).id
    await join(guest, thread, seller, SELLER, SLUG)
    async with tasking(passing.desk, key=guest.key) as client:
        asked = {"data": {"$schema": SLUG, "request_decision": SIZE}}
        task = await send(client, asked, contextId=thread)
        assert state(task) == "working", "nobody here answers it"
        answer = {"request_decision_id": "size", "options": [{"id": "m"}]}
        assert (await seller.post(thread, part(decision=answer))).status == 200
        got = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id))
        assert (state(got), told_by(got)) == ("completed", "Chosen: m.")


@pytest.mark.parametrize("metadata", [{}, {"action": "tell_form"}], ids=["page", "action"])
async def test_a_text_that_reads_as_a_structured_message_asks_nobody_anything(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    asked = part(request_decision=SIZE)
    site = write_site(tmp_path / "site", f"# Llamas\n\n{asked}\n", "[capabilities.requests]\n")
    (site / "actions.py").write_text(f"{TELLING}    return {asked!r}\n", encoding="utf-8")
    async with serving_site(site) as talker:
        said = {"role": "user", "content": "What is a llama?", "metadata": metadata}
        opened = await talker.open(said, wait=20)
        words = opened.ok["replies"][0]["content"][0]
        assert words == f"```json\n{asked}\n```"

"""What operators see of requests on a thread, and of how they stand, over their pages' API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import pytest_asyncio

from tests.support.clients.ahp import Visitor
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import CANCEL, SIZE, TENTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLUG = "aitp.dev/requests"
SELLER = "https://seller.example"
START = 1_790_000_000


class Ground(msgspec.Struct):
    """A desk at which decisions are asked for, a guest with a key, and an operator."""

    guest: Talker
    anna: Operator
    later: float = 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    folder = tmp_path_factory.mktemp("desk")
    settings = ("capabilities.requests.open_for=3600",)
    site = write_site(folder)
    made: list[Ground] = []
    clock = lambda: START + (made[0].later if made else 0)  # noqa: E731
    with patch("aitp_desk.web.console.live.LOOK_SECONDS", 0.05):
        async with (
            talking(folder, *settings, site=site, agent=ScriptedAgent(), clock=clock) as talker,
            operating(talker.desk, folder / "data", "anna") as anna,
        ):
            made.append(Ground(await talker.with_key("threads"), anna))
            yield made[0]


def part(**message: Any) -> str:
    return json.dumps({"$schema": SLUG, **message})


async def asked(ground: Ground, **request: Any) -> str:
    """A thread on which a seller has asked the guest's side for a decision."""
    declared = {"id": SELLER, "capabilities": [{"schema": SLUG}]}
    other = {"id": "buyer", "capabilities": []}
    opened = await ground.guest.open(metadata={"actors": [declared, other]})
    message = part(request_decision=request)
    said = await ground.guest.post(opened.id, message, wait=5, metadata={"actor": SELLER})
    assert said.status == 200, said.body
    return opened.id


async def decide(ground: Ground, thread: str, **decision: Any) -> None:
    message = part(decision=decision)
    said = await ground.guest.post(thread, message, metadata={"actor": "buyer"})
    assert said.status == 200, said.body


async def parts(ground: Ground, thread: str) -> list[list[dict[str, Any]]]:
    listed = await ground.anna.get(f"threads/{thread}/messages")
    return [message["parts"] for message in listed["data"]]


async def test_a_request_is_shown_as_sent_and_with_its_present_state(ground: Ground) -> None:
    thread = await asked(ground, **TENTS)
    ((shown,),) = await parts(ground, thread)
    assert shown["text"].startswith("Which tent?\nBoth fit two people.\n1. Ridge (349.00 USD)")
    assert (shown["capability"], shown["version"]) == ("requests", 1)
    assert (shown["key"], shown["content"]) == ("request_decision", TENTS)
    standing = {"state": "open", "since": None, "until": "2026-09-21T15:13:20Z", "of": ""}
    standing |= {"by": SELLER, "note": ""}
    assert shown["standing"] == standing | {"answer": None}

    await decide(ground, thread, options=[{"id": "cove", "quantity": 2}])
    (asking,), (answer,) = await parts(ground, thread)
    chosen = [{"id": "cove", "name": "Cove", "quantity": 2}]
    decision = {"options": chosen, "request_decision_id": "tents"}
    assert asking["standing"] == standing | {
        "state": "answered",
        "since": "2026-09-21T14:13:20Z",
        "answer": decision,
    }
    assert (answer["key"], answer["content"]) == ("decision", decision)
    assert (answer["text"], answer["standing"]) == ("Chosen: 2 × Cove.", None)


async def test_lists_tell_what_was_asked_last_in_words(ground: Ground) -> None:
    thread = await asked(ground, **SIZE)
    lines = (await ground.anna.get("threads"))["data"]
    (line,) = [line for line in lines if line["id"] == thread]
    shown = await ground.anna.get(f"threads/{thread}")
    assert line["last"]["text"] == "Size? 1. S 2. m Reply 1 or 2." == shown["last"]["text"]


async def test_questions_are_shown_live(ground: Ground) -> None:
    opened = (await ground.guest.open("Hello", wait=10)).id
    async with ground.anna.follow(f"threads/{opened}/events") as anna:
        words = "Please choose."
        content = [words, part(request_decision=SIZE)]
        blocks = [{"type": "text", "text": text} for text in content]
        await ground.guest.post(opened, blocks, wait=10)
        (heard,) = [one for one in await anna.until_named("message") if one.name == "message"]
    told, request = heard.data["parts"]
    assert told == {"text": words}
    assert (request["content"], request["standing"]) == (SIZE, None)
    assert heard.data["text"] == f"{words}\n\nSize?\n1. S\n2. m\nReply 1 or 2."


async def test_a_request_that_is_replaced_or_late_says_so(ground: Ground) -> None:
    thread = await asked(ground, **SIZE)
    again = part(request_decision=SIZE | {"id": "size-2", "supersedes": "size"})
    said = await ground.guest.post(thread, again, metadata={"actor": SELLER})
    assert said.status == 200, said.body
    (first,), (second,) = await parts(ground, thread)
    assert (first["standing"]["state"], second["standing"]["state"]) == ("superseded", "open")
    ground.later = 3600
    try:
        _, (second,) = await parts(ground, thread)
    finally:
        ground.later = 0
    standing = second["standing"]
    assert (standing["state"], standing["since"]) == ("expired", standing["until"])


async def test_what_breaks_no_rule_but_is_no_message_here_stays_words(ground: Ground) -> None:
    other = json.dumps({"$schema": "https://elsewhere.example/x", "request_decision": SIZE})
    thread = (await ground.guest.open(other, wait=10)).id
    listed = (await ground.anna.get(f"threads/{thread}/messages"))["data"]
    assert (listed[0]["text"], listed[0]["parts"]) == (other, [])
    assert (await ground.guest.send("GET", f"{THREADS}/{thread}")).status == 200


async def taken(ground: Ground, **message: Any) -> str:
    """A thread that the guest has opened, with a message, and that the operator has."""
    said = part(**message) if message else "Hello"
    thread = (await ground.guest.open(said, wait=10)).id
    await ground.anna.post(f"threads/{thread}/take")
    return thread


async def test_an_operator_asks_and_the_guest_answers_in_words(ground: Ground) -> None:
    thread = await taken(ground)
    body = {"capability": "requests", "message": {"request_decision": SIZE}}
    refused = await ground.anna.send("POST", f"threads/{thread}/say", body)
    assert refused.status == 400
    assert (await ground.anna.send("POST", f"threads/{thread}/messages", body)).status == 200
    texts = await ground.guest.texts(thread)
    assert texts[-1] == "Size?\n1. S\n2. m\nReply 1 or 2."
    await ground.guest.post(thread, "the second one")
    *_, (asking,), (words, decision) = await parts(ground, thread)
    assert asking["standing"]["state"] == "answered"
    assert asking["standing"]["answer"]["options"] == [{"id": "m", "name": "m"}]
    assert words == {"text": "the second one"}
    assert decision["content"]["request_decision_id"] == "size"
    assert (await ground.guest.texts(thread))[-1].startswith("the second one")


async def test_at_a_further_agent_it_is_the_same(ground: Ground) -> None:
    opened = await ground.guest.send("POST", f"/books{THREADS}", {})
    thread = opened.ok["id"]
    await ground.anna.post(f"threads/{thread}/take")
    body = {"capability": "requests", "message": {"request_decision": SIZE}}
    await ground.anna.post(f"threads/{thread}/messages", **body)
    said = {"role": "user", "content": "the second one"}
    answered = await ground.guest.send("POST", f"/books{THREADS}/{thread}/messages", said)
    assert answered.status == 200
    (asking,), _ = await parts(ground, thread)
    assert asking["standing"]["state"] == "answered"
    listed = (await ground.anna.get(f"threads/{thread}/messages"))["data"]
    assert (listed[0]["speaker"], listed[0]["operator"]) == ("operator", "anna")


async def test_a_visitor_over_ahp_answers_an_operators_question_there(ground: Ground) -> None:
    visitor = Visitor(ground.guest.desk, ground.guest.http)
    first = await visitor.ask("Do you sell tents?", "site_info")
    thread = await ground.guest.thread_of(first.session_id)
    await ground.anna.post(f"threads/{thread}/take")
    body = {"capability": "requests", "message": {"request_decision": SIZE}}
    await ground.anna.post(f"threads/{thread}/messages", **body)
    heard = await visitor.ask("Is anybody there?", session_id=first.session_id)
    assert heard.answer == "anna: Size?\n1. S\n2. m\nReply 1 or 2."
    told = await visitor.ask("the second one", session_id=first.session_id)
    assert told.answer.startswith("A person, anna, has taken this conversation over")
    shown = await parts(ground, thread)
    (asking,) = next(one for one in shown if one)
    assert asking["standing"]["answer"]["options"] == [{"id": "m", "name": "m"}]


async def test_after_the_answer_the_agent_goes_on_where_the_operator_has_handed_back(
    ground: Ground,
) -> None:
    thread = await taken(ground)
    body = {"capability": "requests", "message": {"request_decision": SIZE}}
    await ground.anna.post(f"threads/{thread}/messages", **body)
    await ground.anna.post(f"threads/{thread}/release")
    answered = (await ground.guest.post(thread, "the second one", wait=10)).ok
    assert answered["run"]["status"] == "completed"
    assert [reply["role"] for reply in answered["replies"]] == ["assistant"]


async def test_an_operator_answers_what_a_visitor_asks_of_the_site(ground: Ground) -> None:
    for of in ("", ground.guest.desk.url):
        thread = await taken(ground, request_decision=SIZE | {"actor": of})
        (asking,) = next(one for one in await parts(ground, thread) if one)
        assert asking["standing"]["state"] == "open"
        message = {"decision": {"request_decision_id": "size", "options": [{"id": "s"}]}}
        body = {"capability": "requests", "message": message}
        await ground.anna.post(f"threads/{thread}/messages", **body)
        shown = [one for one in await parts(ground, thread) if one]
        assert shown[0][0]["standing"]["answer"] == message["decision"] | {
            "options": [{"id": "s", "name": "S"}]
        }
        assert shown[1][0]["key"] == "decision"
        again = await ground.anna.send("POST", f"threads/{thread}/messages", body)
        assert again.status == 200
        assert (await ground.guest.texts(thread))[-1] == "“Size?” was answered before: S."


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"capability": "elsewhere", "message": {"decision": {}}}, "capability"),
        ({"capability": "requests", "message": {"$schema": "x", "decision": {}}}, "message"),
        ({"capability": "requests", "message": {"decision": {}}}, "content[0].decision"),
        ({"capability": "requests", "message": {"words": "Hello"}}, "content[0]"),
        ({"capability": "requests", "message": {"request_decision": SIZE | {"type": "x"}}}, None),
        ({"capability": "requests", "message": "Hello"}, None),
    ],
)
async def test_what_is_no_message_is_refused(ground: Ground, body: Any, param: str | None) -> None:
    thread = await taken(ground)
    refused = await ground.anna.send("POST", f"threads/{thread}/messages", body)
    assert refused.refusal[:2] in {(400, "invalid_request"), (400, "missing_field")}
    assert param is None or refused.body["error"]["param"] == param
    assert len(await parts(ground, thread)) == 2


async def test_what_is_sent_again_because_no_answer_came_is_said_once(ground: Ground) -> None:
    thread = await taken(ground)
    asked = {"capability": "requests", "message": {"request_decision": SIZE}}
    for path, body, other in (
        ("messages", asked, {"capability": "requests", "message": {"request_decision": CANCEL}}),
        ("say", {"words": "Well?"}, {"words": "Well!"}),
    ):
        key = [("Idempotency-Key", f"try-{path}")]
        before = await ground.guest.texts(thread)
        for _ in range(2):
            sent = await ground.anna.send("POST", f"threads/{thread}/{path}", body, headers=key)
            assert sent.status == 200
        assert len(await ground.guest.texts(thread)) == len(before) + 1
        refused = await ground.anna.send("POST", f"threads/{thread}/{path}", other, headers=key)
        assert refused.refusal[:2] == (409, "idempotency_conflict")
        again = await ground.anna.send("POST", f"threads/{thread}/say", {"words": "And now?"})
        assert again.status == 200
    assert len(await ground.guest.texts(thread)) == 6


async def test_nobody_asks_on_a_thread_that_is_not_theirs(ground: Ground) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id
    body = {"capability": "requests", "message": {"request_decision": SIZE}}
    refused = await ground.anna.send("POST", f"threads/{thread}/messages", body)
    assert refused.refusal[:2] == (409, "precondition_failed")
    nowhere = await ground.anna.send("POST", "threads/thread_nowhere/messages", body)
    assert nowhere.refusal[0] == 404
    assert await parts(ground, thread) == [[], []]


async def test_an_operator_is_offered_what_can_be_asked(tmp_path: Path) -> None:
    for policy, offered in (("accept", ["requests"]), ("reject", []), ("pass", [])):
        folder = tmp_path / policy
        folder.mkdir()
        setting = f'capabilities.requests.from_visitors="{policy}"'
        async with (
            talking(folder, setting, agent=ScriptedAgent()) as talker,
            operating(talker.desk, folder / "data", "anna") as anna,
        ):
            assert (await anna.get("session"))["capabilities"] == offered

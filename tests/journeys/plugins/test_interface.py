"""What the interface of capabilities promises, tried with capabilities made for that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.capability import (
    Add,
    Capability,
    Context,
    Effect,
    InvalidRequest,
    Job,
    Keep,
    Part,
    Record,
    Refuse,
    Replace,
    Retry,
    Say,
    Schema,
    Start,
    Take,
    Then,
    Verdict,
    Wanted,
    Work,
    document_of,
)
from aitp_desk.testing import Guest, ScriptedAgent, open_desk

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Do(msgspec.Struct, frozen=True):
    what: str
    n: int = 0


class Bench(Capability):
    """Does what a message asks for. Its second version is told apart by its text alone."""

    slug = "bench"
    tried: ClassVar[list[str]] = []

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"do": Do, "told": Do}
        document = document_of(messages, "Bench")
        return tuple(Schema(version=n, messages=messages, document=document) for n in (1, 2))

    def judge(self, part: Part, context: Context) -> Verdict:
        what, n = part.content.what, part.content.n
        match what:
            case "keep as":
                return Take((Keep("one", n, expected_version=n),))
            case "count":
                seen = context.record("count")
                version = 0 if seen is None else seen.version
                told = Say(f"{version} before")
                return Take((Keep("count", n, expected_version=version, outlives=True), told))
            case "spend":
                return Take((Add("balance", n), Say(f"spent {n}")))
            case "refuse":
                return Refuse(InvalidRequest("No.", param="n"))
            case "seal":
                return Take((Replace({"do": Do("sealed")}),))
            case "agent":
                return Take((Say("First the capability."),), then=Then.AGENT)
            case "ask":
                return Take((Keep("asked", n, 0, open_until=context.now + 60),))
            case "job":
                return Take((Start("work", ref=f"work-{n}", payload={"n": n}, after=n),))
            case "decide":
                start = Start("decide", ref=f"decide-{n}", payload=n)
                return Take((Add("decided", n), start))
            case "parties":
                known = [f"{party.id}={party.version}" for party in context.parties]
                return Take((Say({"told": Do(f"{context.version}: {', '.join(known)}")}),))
            case _:
                return Take()

    def as_text(self, part: Part) -> str:
        return f"{part.key} {part.content.what} {part.content.n}"

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        return {"do": Do("nothing")} if text == "mine" else None

    def jobs(self) -> Mapping[str, Work]:
        return {"work": Work(self.work, delays=(0,)), "decide": Work(self.decide)}

    async def decide(self, job: Job) -> Wanted:
        def by(context: Context) -> Sequence[Effect]:
            before = context.record("deciding")
            kept = Keep("deciding", job.payload, 0 if before is None else before.version)
            return (kept, Say(f"There were {context.counter('decided')} on {context.thread_id}."))

        return by

    async def work(self, job: Job) -> Sequence[Effect]:
        self.tried.append(job.ref)
        if self.tried.count(job.ref) == 1:
            raise Retry("The other side does not answer.")
        before = await job.read("worked")
        version = 0 if before is None else before.version
        return (Keep("worked", job.payload, version), Say(f"Worked: {job.payload['n']}."))


class Rival(Bench):
    """Claims the same words."""

    slug = "rival"


CAPABILITIES = {"bench": Bench, "rival": Rival}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest() -> AsyncIterator[Guest]:
    settings = [f"capabilities.{name}={{}}" for name in CAPABILITIES]
    agent = ScriptedAgent("The agent.")
    async with open_desk(*settings, capabilities=CAPABILITIES, agent=agent) as guest:
        yield guest


def schema(guest: Guest, version: int = 1, slug: str = "bench") -> str:
    return f"{guest.url}/capabilities/{slug}/v{version}/schema.json"


def do(guest: Guest, what: str, n: int = 0, slug: str = "bench") -> dict[str, Any]:
    return {"$schema": schema(guest, slug=slug), "do": {"what": what, "n": n}}


async def words(guest: Guest, thread: str, count: int) -> list[str]:
    """The first part of all that is said on a thread, once it is so much."""
    return [content[0] for content in await guest.wait(thread, count)]


async def test_a_version_that_never_fits_is_refused_after_three_judgements(guest: Guest) -> None:
    thread = await guest.open()
    told = await guest.say(thread, do(guest, "keep as", 5))
    assert (told.status, told.body["error"]["param"]) == (409, "content")
    assert await guest.read(thread) == []


async def test_parts_are_judged_in_order_each_seeing_the_effects_before(guest: Guest) -> None:
    thread = await guest.open()
    told = await guest.say(thread, do(guest, "count"), do(guest, "count"), do(guest, "count"))
    assert told.status == 200
    assert await words(guest, thread, 4) == ["do count 0", "0 before", "1 before", "2 before"]
    await guest.say(thread, do(guest, "count"))
    assert (await words(guest, thread, 6))[-1] == "3 before"


async def test_a_request_brings_no_more_parts_than_can_be_judged_at_once(guest: Guest) -> None:
    thread = await guest.open()
    counted = [do(guest, "count") for _ in range(20)]
    assert (await guest.say(thread, *counted)).status == 200
    told = await guest.say(thread, *counted, do(guest, "count"))
    assert (told.status, told.body["error"]["param"]) == (400, "content")
    body = {"messages": [json.dumps(one) for one in (*counted, do(guest, "count"))]}
    opened = await guest.send("POST", "/v1/threads", body)
    assert (opened.status, opened.body["error"]["param"]) == (400, "messages")


async def test_one_refusal_refuses_the_whole_message(guest: Guest) -> None:
    thread = await guest.open()
    told = await guest.say(thread, do(guest, "spend", 7), do(guest, "refuse"))
    assert (told.status, told.body["error"]["message"]) == (400, "No.")
    assert (await guest.say(thread, do(guest, "spend", -1))).status == 409
    assert await guest.read(thread) == []


async def test_a_balance_is_spent_no_further_than_it_goes(guest: Guest) -> None:
    thread = await guest.open()
    assert (await guest.say(thread, do(guest, "spend", 5))).status == 200
    threads = [await guest.open() for _ in range(9)]
    told = await asyncio.gather(*(guest.say(one, do(guest, "spend", -1)) for one in threads))
    assert sorted(one.status for one in told) == [200] * 5 + [409] * 4


async def test_what_is_replaced_is_never_stored(guest: Guest) -> None:
    thread = await guest.open(schema(guest))
    told = await guest.say(thread, do(guest, "seal", 4711))
    stored = json.loads(told.body["content"][0])
    assert stored == {"$schema": schema(guest), "do": {"what": "sealed", "n": 0}}
    assert "4711" not in json.dumps(await guest.read(thread))


async def test_the_agent_answers_too_where_a_capability_wants_that(guest: Guest) -> None:
    thread = await guest.open()
    await guest.say(thread, do(guest, "agent"))
    said = await words(guest, thread, 3)
    assert said == ["do agent 0", "First the capability.", "The agent."]


async def test_words_that_two_claim_are_the_agents(guest: Guest) -> None:
    thread = await guest.open()
    await guest.say(thread, do(guest, "ask"))
    await guest.say(thread, "mine")
    assert await guest.read(thread) == [["do ask 0"], ["mine", "do nothing 0"]]
    await guest.say(thread, do(guest, "ask", slug="rival"))
    await guest.say(thread, "mine")
    assert (await words(guest, thread, 5))[3:] == ["mine", "The agent."]


async def test_a_job_is_tried_again_and_then_said_once(guest: Guest) -> None:
    thread = await guest.open()
    await guest.say(thread, do(guest, "job"))
    await guest.say(thread, do(guest, "job"))
    assert (await words(guest, thread, 3))[-1] == "Worked: 0."
    assert Bench.tried == ["work-0", "work-0"]


@pytest.mark.parametrize(
    ("declared", "sent", "told"),
    [
        ([[]], None, "None: https://a0.example=None"),
        ([["v1"]], 1, "1: https://a0.example=1"),
        ([["v1", "v2"]], 2, "2: https://a0.example=2"),
        ([["v2"], ["v1"]], 1, "1: https://a0.example=2, https://a1.example=1"),
        ([["v2"], []], 2, "None: https://a0.example=2, https://a1.example=None"),
        ([["v3", "elsewhere"]], None, "None: https://a0.example=None"),
    ],
)
async def test_a_message_is_of_the_highest_version_that_all_know_who_know_it(
    guest: Guest, declared: list[list[str]], sent: int | None, told: str
) -> None:
    urls = {"v1": schema(guest), "v2": schema(guest, 2), "v3": schema(guest, 3)}
    actors = [
        {
            "id": f"https://a{number}.example",
            "capabilities": [{"schema": urls.get(one, f"https://{one}.example")} for one in known],
        }
        for number, known in enumerate(declared)
    ]
    opened = await guest.send("POST", "/v1/threads", {"metadata": {"actors": actors}})
    thread = opened.body["id"]
    await guest.say(thread, do(guest, "parties"))
    (text,) = (await guest.read(thread))[-1]
    if sent is None:
        assert text == f"told {told} 0"
    else:
        assert json.loads(text) == {"$schema": schema(guest, sent), "told": {"what": told, "n": 0}}


async def test_a_client_of_an_older_version_gets_a_newer_message_in_words(guest: Guest) -> None:
    for declared, shown in ((schema(guest), False), (schema(guest, 2), True)):
        thread = await guest.open(declared)
        newer = {"$schema": schema(guest, 2), "do": {"what": "nothing"}}
        posted = await guest.say(thread, newer)
        assert ("$schema" in posted.body["content"][0]) is shown


async def test_a_job_may_decide_by_what_there_is_when_it_ends(guest: Guest) -> None:
    thread = await guest.open()
    await guest.say(thread, do(guest, "decide", 3))
    assert (await words(guest, thread, 2))[-1] == f"There were 3 on {thread}."
    await guest.say(thread, do(guest, "decide", 4))
    assert (await words(guest, thread, 4))[-1] == f"There were 7 on {thread}."

"""A stranger's capability at work: the loyalty card of docs/build/capabilities.md, as a package."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.event_stream import following
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.packages import installed, loyalty

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = ("capabilities.loyalty.stamps=3", 'capabilities.loyalty.rewards=["Tea", "Cake"]')
SLUG = "loyalty.example/cards"
KEYS = "collect_stamp, card, request_reward, choose_reward, reward"
SEVERAL = (
    f"A message of loyalty must have exactly one of {KEYS}; this has both collect_stamp and card."
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A visitor at a desk where three stamps give a reward."""
    package = tmp_path_factory.mktemp("package")
    with installed(package, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with talking(
            tmp_path_factory.mktemp("desk"), *SETTINGS, agent=ScriptedAgent()
        ) as talker:
            yield talker


def part(schema: str = SLUG, **messages: Any) -> str:
    return json.dumps({"$schema": schema, **messages})


def stamp(card: str, receipt: str) -> str:
    return part(collect_stamp={"card": card, "receipt": receipt})


def actor(*schemas: str, id: str = "https://guest.example") -> dict[str, Any]:
    return {"id": id, "capabilities": [{"schema": schema} for schema in schemas]}


async def open_thread(guest: Talker, *schemas: str) -> str:
    return (await guest.open(metadata={"actors": [actor(*schemas)]})).id


async def said(guest: Talker, thread: str) -> list[list[str]]:
    listed = (await guest.messages(thread, "?order=asc&limit=100")).ok
    return [message["content"] for message in listed["data"]]


async def last_said(guest: Talker, thread: str, count: int) -> list[list[str]]:
    """All that was said, once it is so much: jobs speak in their own time."""
    async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
        for _ in range(count):
            await listener.until_named("message.created")
    return await said(guest, thread)


async def fill_card(guest: Talker, thread: str, card: str) -> None:
    for number in range(3):
        told = await guest.post(thread, stamp(card, f"{card}-{number}"), wait=5)
        assert told.ok["run"] is None, "nobody else answers"


@pytest.mark.slow
@pytest.mark.requirement("AITP-capabilities-1", "AITP-capabilities-2", "AITP-capabilities-8")
async def test_who_has_declared_it_reads_messages_as_they_are(guest: Talker) -> None:
    thread = await open_thread(guest, SLUG)
    await guest.post(thread, stamp("c-1", "r-1"))
    sent, answer = await said(guest, thread)
    assert json.loads(sent[0])["collect_stamp"] == {"card": "c-1", "receipt": "r-1"}
    card = json.loads(answer[0])
    assert card["card"] == {"card": "c-1", "stamps": 1, "note": ""}
    assert card["$schema"] == f"{guest.desk.url}/capabilities/loyalty/v1/schema.json"


async def test_who_has_not_declared_it_reads_words(guest: Talker) -> None:
    thread = await open_thread(guest)
    posted = await guest.post(thread, stamp("c-2", "r-2"))
    assert posted.ok["content"] == ["A stamp for card c-2, receipt r-2."]
    assert await said(guest, thread) == [
        ["A stamp for card c-2, receipt r-2."],
        ["Card c-2 has 1 of 3 stamps."],
    ]
    read = (await guest.read(thread)).ok
    assert [one["content"][0] for one in read["messages"]] == [
        "A stamp for card c-2, receipt r-2.",
        "Card c-2 has 1 of 3 stamps.",
    ]
    (_, newest) = read["messages"]
    one = await guest.send("GET", f"/v1/threads/{thread}/messages/{newest['id']}")
    assert one.ok["content"] == ["Card c-2 has 1 of 3 stamps."]


async def test_a_client_with_a_key_reads_by_the_declarations_of_its_actors(
    guest: Talker,
) -> None:
    owner, friend = await guest.with_key("threads"), await guest.with_key("threads")
    thread = (await owner.open(metadata={"actors": [actor(SLUG)]})).id
    assert friend.key is not None
    joining = {"id": "friend", "principal": f"key:{friend.key.split('_')[1]}"}
    assert (await owner.send("POST", f"/v1/threads/{thread}/actors", joining)).status == 200
    await owner.post(thread, stamp("c-20", "r-20"))
    as_they_are, in_words = await said(owner, thread), await said(friend, thread)
    assert [json.loads(content[0])["$schema"] for content in as_they_are]
    assert in_words == [
        ["A stamp for card c-20, receipt r-20."],
        ["Card c-20 has 1 of 3 stamps."],
    ]


async def test_a_receipt_counts_once(guest: Talker) -> None:
    thread = await open_thread(guest)
    for _ in range(2):
        await guest.post(thread, stamp("c-3", "r-3"))
    assert (await said(guest, thread))[-1] == [
        "This receipt has had its stamp. Card c-3 has 1 of 3 stamps."
    ]


async def test_a_request_with_the_same_key_is_judged_once(guest: Talker) -> None:
    thread = await open_thread(guest)
    key = [("Idempotency-Key", "a-key-of-twenty-characters")]
    first = await guest.post(thread, stamp("c-4", "r-4"), headers=key)
    again = await guest.post(thread, stamp("c-4", "r-4"), headers=key)
    assert (first.id, len(await said(guest, thread))) == (again.id, 2)
    assert again.ok["content"] == first.ok["content"] == ["A stamp for card c-4, receipt r-4."]
    path = f"/v1/threads/{thread}/messages/{first.id}"
    noted = await guest.send("POST", path, {"metadata": {"seen": "yes"}})
    assert noted.ok["content"] == first.ok["content"]


async def test_an_answer_in_words_is_understood_and_its_job_done(guest: Talker) -> None:
    thread = await open_thread(guest)
    await fill_card(guest, thread, "c-5")
    asked = (await said(guest, thread))[-1]
    assert asked == ["Card c-5 is full. Choose a reward:\n1. Tea\n2. Cake\nReply 1 or 2."]
    answered = await guest.post(thread, "2", wait=5)
    assert answered.ok["run"] is None
    assert answered.ok["content"] == ["2", "Chosen: Cake."]
    *_, reward = await last_said(guest, thread, 8)
    assert reward[0].startswith("Here is Cake: show the voucher V-")


async def test_an_answer_in_a_message_is_the_same(guest: Talker) -> None:
    thread = await open_thread(guest, SLUG)
    await fill_card(guest, thread, "c-6")
    request = json.loads((await said(guest, thread))[-1][0])["request_reward"]
    choice = {"request_id": request["request_id"], "option": "Tea"}
    await guest.post(thread, part(choose_reward=choice))
    *_, reward = await last_said(guest, thread, 8)
    assert json.loads(reward[0])["reward"]["option"] == "Tea"


async def test_words_that_mean_no_answer_are_for_the_agent(guest: Talker) -> None:
    thread = await open_thread(guest)
    await fill_card(guest, thread, "c-7")
    asked = await guest.post(thread, "When do you open?", wait=10)
    assert asked.ok["run"]["status"] == "completed"
    assert asked.ok["content"] == ["When do you open?"]


async def test_words_next_to_a_message_are_for_the_agent(guest: Talker) -> None:
    thread = await open_thread(guest)
    both = [stamp("c-8", "r-8"), "And when do you open?"]
    asked = await guest.post(thread, both, wait=10)
    assert asked.ok["run"]["status"] == "completed"
    (reply,) = asked.ok["replies"]
    assert "A stamp for card c-8" in reply["content"][0], "the agent is told words"
    assert "$schema" not in reply["content"][0]


async def test_a_message_of_the_first_call_is_judged(guest: Talker) -> None:
    opened = await guest.open(stamp("c-9", "r-9"), wait=5, metadata={"actors": [actor()]})
    assert opened.ok["run"] is None
    assert [one["content"][0] for one in opened.ok["messages"]] == [
        "A stamp for card c-9, receipt r-9.",
        "Card c-9 has 1 of 3 stamps.",
    ]


@pytest.mark.parametrize(
    ("content", "param", "message"),
    [
        (
            part(collect_stamp={"card": "c"}),
            "content[0].collect_stamp",
            "collect_stamp of loyalty: Object missing required field `receipt`.",
        ),
        (
            part(card={"card": "c", "stamps": "many"}),
            "content[0].card.stamps",
            "card of loyalty: Expected `int`, got `str`.",
        ),
        (
            part(collect_stamp={}, card={}),
            "content[0]",
            SEVERAL,
        ),
        (
            part("https://loyalty.example/v7/cards/schema.json", card={}),
            "content[0].$schema",
            "There is no version 7 of loyalty here; this desk has 1.",
        ),
        (
            '{"$schema": "loyalty.example/cards", "card": {}, "card": {}}',
            "content[0]",
            None,
        ),
        (
            '{"$schema": "elsewhere", "$schema": "loyalty.example\\/cards", "card": {}}',
            "content[0]",
            None,
        ),
        (
            r'{"\u0024schem\u0061": "loyalty.example/cards", "card": {}, "card": {}}',
            "content[0]",
            None,
        ),
        (
            r'{"\u0024schema": "loyalty.example/c\u0061rds", "card": {"card": "c"}}',
            "content[0].card",
            "card of loyalty: Object missing required field `stamps`.",
        ),
        (stamp("No such card!", "r"), "card", "A card has small letters, digits and -."),
    ],
)
async def test_what_breaks_the_schema_or_is_refused_is_not_stored(
    guest: Talker, content: str, param: str, message: str | None
) -> None:
    thread = await open_thread(guest)
    refused = await guest.post(thread, content)
    error = refused.body["error"]
    assert (refused.status, error["param"]) == (400, param)
    assert message in (None, error["message"])
    assert await said(guest, thread) == []


@pytest.mark.parametrize(
    "content",
    [
        '{"$schema": "https://elsewhere.example/s.json", "x": 1}',
        '{"$schema": 7}',
        '{"$schema": "loyalty',
        'What does {"$schema": "loyalty.example/cards"} mean?',
    ],
)
async def test_what_is_of_no_schema_here_stays_as_it_is(guest: Talker, content: str) -> None:
    thread = await open_thread(guest)
    posted = await guest.post(thread, content)
    assert posted.ok["content"] == [content]


async def test_unknown_fields_are_kept(guest: Talker) -> None:
    thread = await open_thread(guest, SLUG)
    sent = part(collect_stamp={"card": "c-10", "receipt": "r-10", "till": 4}, trace="x")
    assert (await guest.post(thread, sent)).ok["content"] == [sent]


async def test_nobody_answers_on_a_thread_that_is_not_theirs(guest: Talker) -> None:
    owner = await guest.with_key()
    thread = await open_thread(owner)
    stranger = await guest.with_key()
    refused = await stranger.post(thread, stamp("No such card!", "r"))
    assert refused.status == 404


async def test_the_same_card_may_be_filled_by_many_at_once(guest: Talker) -> None:
    threads = [await open_thread(guest) for _ in range(6)]

    async def collect(number: int, thread: str) -> None:
        while (
            told := await guest.post(thread, stamp("c-11", f"shared-{number % 3}"))
        ).status != 200:
            assert (told.status, told.headers["Retry-After"]) == (409, "1")

    await asyncio.gather(*(collect(*one) for one in enumerate(threads)))
    full = [one for thread in threads for one in await said(guest, thread) if "full" in one[0]]
    assert len(full) == 1
    assert guest.rows("SELECT value FROM capability_counters WHERE key = 'stamps:c-11'") == [(0,)]


async def test_a_reward_is_chosen_once_however_many_choose(guest: Talker) -> None:
    thread = await open_thread(guest, SLUG)
    await fill_card(guest, thread, "c-12")
    request = json.loads((await said(guest, thread))[-1][0])["request_reward"]
    choice = part(choose_reward={"request_id": request["request_id"], "option": "Tea"})
    told = await asyncio.gather(*(guest.post(thread, choice) for _ in range(5)))
    assert {one.status for one in told} <= {200, 409}
    assert guest.rows(f"SELECT count(*) FROM jobs WHERE ref = '{request['request_id']}'") == [(1,)]
    noted = guest.rows("SELECT count(*) FROM audit WHERE object = 'capability:loyalty.chosen'")
    assert noted[0][0] >= 1


async def test_what_a_run_brings_is_judged_with_it(guest: Talker) -> None:
    thread = await open_thread(guest)
    brought = [{"role": "user", "content": stamp("c-15", "r-15")}]
    body = {"assistant_id": guest.desk.desk.agents.default.id, "additional_messages": brought}
    assert (await guest.send("POST", f"/v1/threads/{thread}/runs", body)).status == 200
    _, card, *_ = await said(guest, thread)
    assert card[0].startswith("Card c-15 has 1 of ")


async def test_words_that_a_run_brings_are_understood_as_well(guest: Talker) -> None:
    thread = await open_thread(guest)
    await fill_card(guest, thread, "c-24")
    brought = [{"role": "user", "content": one} for one in ("Thanks!", "2")]
    body = {"assistant_id": guest.desk.desk.agents.default.id, "additional_messages": brought}
    assert (await guest.send("POST", f"/v1/threads/{thread}/runs", body)).ok
    told = [content for content in await said(guest, thread) if "2" in content]
    assert told == [["2", "Chosen: Cake."]]
    assert (await guest.send("GET", f"/v1/threads/{thread}/requests")).ok["data"] == []


async def test_the_schema_is_served_to_every_origin(guest: Talker) -> None:
    address = "/capabilities/loyalty/v1/schema.json"
    async with guest.http.get(address, headers={"Origin": "https://any.example"}) as response:
        assert response.content_type == "application/schema+json"
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        document = await response.json(content_type=None)
        tag = response.headers["ETag"]
    assert document["$id"] == guest.desk.url + address
    assert document["oneOf"][0] == {"required": ["collect_stamp"]}
    async with guest.http.get(address, headers={"If-None-Match": tag}) as response:
        assert response.status == 304
    async with guest.http.get("/capabilities/loyalty/v2/schema.json") as response:
        assert response.status == 404


async def test_the_desk_declares_what_it_understands(guest: Talker) -> None:
    read = (await guest.read(await open_thread(guest))).ok
    own, _ = read["metadata"]["actors"]
    assert own["capabilities"] == [
        {"schema": f"{guest.desk.url}/capabilities/loyalty/v1/schema.json"}
    ]


async def test_a_stream_tells_each_reader_what_they_understand(guest: Talker) -> None:
    for schemas, shown in (((), "Card c-13 has"), ((SLUG,), "$schema")):
        thread = await open_thread(guest, *schemas)
        async with following(guest, thread) as listener:
            await guest.post(thread, stamp("c-13", f"streamed-{shown}"))
            await listener.until_named("message.created")
            (*_, card) = await listener.until_named("message.created")
        assert shown in card.data["content"][0]


async def test_deleting_a_thread_empties_what_waits_there(guest: Talker, tmp_path: Path) -> None:
    thread = await open_thread(guest)
    await fill_card(guest, thread, "c-14")
    waiting = f"SELECT value FROM capability_records WHERE thread_id = '{thread}'"
    assert "c-14" in guest.rows(waiting)[0][0]
    await guest.send("DELETE", f"/v1/threads/{thread}")
    assert guest.rows(waiting) == [("null",)]
    assert guest.rows("SELECT value FROM capability_records WHERE key = 'receipt:c-14-1'") == [
        ("true",)
    ]

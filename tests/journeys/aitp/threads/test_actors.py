"""Who takes part in a thread: joining, leaving, and what that opens and closes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from tests.support.clients.event_stream import Heard, Listener, following
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOPPER = "https://agents.example/shop per?x=1#ä"
PAYMENT = "https://aitp.dev/v1/payment.schema.json"
MANUAL = [("OpenAI-Beta", "assistants=v2")]
NOT_FOUND = (404, "thread_not_found", "thread_id")
NOBODYS = "thread_" + "0" * 36


def principal_of(who: Talker) -> str:
    """The id by which a thread's owner names a caller who has an API key."""
    assert who.key is not None
    return f"key:{who.key.split('_')[1]}"


async def join(who: Talker, thread_id: str, actor: Any) -> Told:
    return await who.send("POST", f"{THREADS}/{thread_id}/actors", actor)


async def leave(who: Talker, thread_id: str, actor_id: str) -> Told:
    path = f"{THREADS}/{thread_id}/actors/{quote(actor_id, safe='')}"
    return await who.send("DELETE", path)


async def listed(who: Talker, thread_id: str) -> list[str]:
    """Who takes part besides the desk."""
    told = (await who.send("GET", f"{THREADS}/{thread_id}/actors")).ok
    assert (told["object"], told["has_more"]) == ("list", False)
    assert {actor["object"] for actor in told["data"]} == {"thread.actor"}
    assert told["data"][0]["id"] == who.desk.url
    shown = (await who.read(thread_id)).ok["metadata"]["actors"]
    joined = [
        actor["id"] for actor in told["data"]
    ]  # behind them stand authors who have not joined
    assert [actor["id"] for actor in shown][: len(joined)] == joined
    return [actor["id"] for actor in told["data"][1:]]


async def rest(listener: Listener) -> list[Heard]:
    """Everything up to the end of a stream, which must come."""
    heard = []
    with suppress(EOFError):
        while True:
            heard.append(await listener.next())
    return heard


async def together(talker: Talker) -> tuple[Talker, Talker, str]:
    """An owner, a partner, and a thread of the owner's on which the partner takes part."""
    owner, partner = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await owner.open("One.", headers=MANUAL)).id
    joined = await join(owner, thread, {"id": "partner", "principal": principal_of(partner)})
    assert joined.ok["id"] == "partner"
    return owner, partner, thread


@pytest.mark.requirement("AITP-threads-4", "AITP-capabilities-2")
async def test_agents_and_users_are_added_and_removed(talker: Talker) -> None:
    thread = (await talker.open("Hello.", headers=MANUAL)).id
    joined = await join(talker, thread, {"id": SHOPPER, "capabilities": [{"schema": PAYMENT}]})
    assert joined.ok == {
        "id": SHOPPER,
        "object": "thread.actor",
        "capabilities": [{"schema": PAYMENT}],
    }
    assert (await join(talker, thread, "alice")).ok["capabilities"] == []
    assert await listed(talker, thread) == [SHOPPER, "alice"]
    posted = await talker.post(thread, "Hi.", headers=MANUAL, metadata={"actor": SHOPPER})
    assert posted.ok["metadata"]["actor"] == SHOPPER
    left = await leave(talker, thread, SHOPPER)
    assert left.ok == {"id": SHOPPER, "object": "thread.actor.deleted", "deleted": True}
    assert await listed(talker, thread) == ["alice"]
    gone = await talker.post(thread, "Hi.", metadata={"actor": SHOPPER})
    assert gone.refusal == (400, "invalid_request", "metadata.actor")
    assert (await leave(talker, thread, SHOPPER)).refusal == (404, "actor_not_found", "actor")


async def test_joining_and_leaving_are_events_in_the_threads_one_order(talker: Talker) -> None:
    thread = (await talker.open("Hello.", headers=MANUAL)).id
    async with following(talker, thread, "?after=0") as listener:
        await join(talker, thread, {"id": SHOPPER, "capabilities": [PAYMENT]})
        await join(talker, thread, {"id": SHOPPER, "capabilities": [PAYMENT]})
        await talker.post(thread, "Hi.", headers=MANUAL)
        await leave(talker, thread, SHOPPER)
        path = f"{THREADS}/{thread}"
        await talker.send("POST", path, {"metadata": {"actors": ["alice", "bob"]}})
        heard = (await listener.until_number(6))[1:]
    assert [(event.id, event.name) for event in heard] == [
        (1, "message.created"),
        (2, "actor.joined"),
        (3, "message.created"),
        (4, "actor.left"),
        (5, "actor.joined"),
        (6, "actor.joined"),
    ]
    actor = {"id": SHOPPER, "object": "thread.actor", "capabilities": [{"schema": PAYMENT}]}
    assert heard[1].data == actor
    assert heard[3].data == {"id": SHOPPER, "object": "thread.actor.deleted", "deleted": True}
    assert [event.data["id"] for event in heard[4:]] == ["alice", "bob"]


async def test_who_takes_part_reads_and_writes_and_does_not_manage(talker: Talker) -> None:
    owner, partner, thread = await together(talker)
    assert await partner.texts(thread) == ["One."]
    posted = await partner.post(thread, "Two.", headers=MANUAL)
    assert posted.ok["metadata"]["actor"] == "partner"
    path = f"{THREADS}/{thread}"
    for told in (
        await partner.send("POST", path, {"metadata": {"a": "b"}}),
        await partner.send("POST", path, {"metadata": {"actors": []}}),
        await join(partner, thread, "friend"),
        await owner.post(thread, "Me?", metadata={"actor": "partner"}),
        await leave(partner, thread, owner.desk.url),
    ):
        assert told.refusal[:2] == (403, "forbidden")
    assert await listed(owner, thread) == ["partner"]


async def test_who_left_reads_up_to_leaving_and_no_further(talker: Talker) -> None:
    owner, partner, thread = await together(talker)
    await join(owner, thread, "staying")
    last = (await owner.post(thread, "Two.", headers=MANUAL)).id
    assert (await leave(partner, thread, "partner")).ok["deleted"] is True
    later = (await owner.post(thread, "Three.", headers=MANUAL)).id
    metadata = {"note": "between us", "actors": ["newcomer"]}
    await owner.send("POST", f"{THREADS}/{thread}", {"metadata": metadata})

    assert await partner.texts(thread) == ["One.", "Two."]
    shown = (await partner.read(thread)).ok
    assert [message["content"] for message in shown["messages"]] == [["One."], ["Two."]]
    assert shown["metadata"].keys() == {"parent_id", "actors"}
    assert await listed(partner, thread) == ["staying"]
    page = (await partner.messages(thread, "?limit=1")).ok
    assert (page["first_id"], page["has_more"]) == (last, True)
    unknown = await partner.messages(thread, f"?after={later}")
    assert unknown.refusal == (400, "invalid_request", "after")
    never = await partner.messages(thread, "?after=msg_nobody")
    assert unknown.body == never.body
    assert (await partner.send("GET", f"{THREADS}/{thread}/messages/{last}")).id == last
    hidden = await partner.send("GET", f"{THREADS}/{thread}/messages/{later}")
    assert hidden.refusal == (404, "message_not_found", "message_id")
    for told in (
        await partner.post(thread, "Wait!"),
        await partner.post(thread, "Wait!", role="partner"),
        await join(partner, thread, "partner"),
        await leave(partner, thread, "newcomer"),
        await leave(partner, thread, "nobody"),
        await partner.send("POST", f"{THREADS}/{thread}", {"metadata": {}}),
    ):
        assert told.refusal == (403, "forbidden", None)
    assert await owner.texts(thread) == ["One.", "Two.", "Three."]

    again = {"id": "partner", "principal": principal_of(partner)}
    assert (await join(owner, thread, again)).ok
    assert await partner.texts(thread) == ["One.", "Two.", "Three."]
    assert (await partner.post(thread, "Back.", headers=MANUAL)).ok


async def test_a_follower_receives_its_removal_and_nothing_after_it(talker: Talker) -> None:
    owner, partner, thread = await together(talker)
    async with following(partner, thread) as listener, following(owner, thread) as other:
        await listener.until_named("following")
        await leave(owner, thread, "partner")
        await owner.post(thread, "Now that we are alone.", headers=MANUAL)
        heard = await rest(listener)
        await other.until_named("message.created")
    assert [event.name for event in heard] == ["actor.left"]
    async with following(partner, thread, "?after=0") as listener:
        heard = await listener.until_named("actor.left")
        await owner.post(thread, "Still alone.", headers=MANUAL)
        heard += await rest(listener)
    assert [(event.name, event.id) for event in heard] == [
        ("following", 0),
        ("message.created", 1),
        ("actor.joined", 2),
        ("actor.left", 3),
    ]
    beyond = await partner.send("GET", f"{THREADS}/{thread}/events?after=4")
    assert beyond.refusal == (400, "invalid_request", "after")


async def test_of_a_run_too_only_what_was_said_before_leaving_is_listed(talker: Talker) -> None:
    owner, partner, thread = await together(talker)
    early = (await owner.post(thread, "Well?", wait=10)).ok["run"]["id"]
    await leave(owner, thread, "partner")
    late = (await owner.post(thread, "And?", wait=10)).ok["run"]["id"]
    for who, run, many in ((partner, early, 1), (partner, late, 0), (owner, late, 1)):
        assert len((await who.messages(thread, f"?run_id={run}")).ok["data"]) == many


async def test_a_stream_ends_with_the_deletion_of_its_thread(talker: Talker) -> None:
    owner, partner, thread = await together(talker)
    async with following(partner, thread) as listener:
        await listener.until_named("following")
        assert (await partner.send("DELETE", f"{THREADS}/{thread}")).refusal[0] == 403
        assert (await owner.send("DELETE", f"{THREADS}/{thread}")).ok
        heard = await rest(listener)
    assert [event.name for event in heard] == ["thread.deleted"]
    assert (await partner.read(thread)).refusal == NOT_FOUND


async def test_messages_stay_their_speakers_when_an_actor_is_bound_again(
    talker: Talker,
) -> None:
    owner, partner, thread = await together(talker)
    other = await talker.with_key("threads")
    said = (await partner.post(thread, "Mine.", headers=MANUAL)).id
    both = [
        {"id": "partner", "principal": principal_of(other)},
        {"id": "partner too", "principal": principal_of(partner)},
    ]
    path = f"{THREADS}/{thread}"
    assert (await owner.send("POST", path, {"metadata": {"actors": both}})).ok
    note = {"metadata": {"note": "1"}}
    assert (await other.send("POST", f"{path}/messages/{said}", note)).refusal[0] == 403
    assert (await other.send("DELETE", f"{path}/messages/{said}")).refusal[0] == 403
    assert (await partner.send("POST", f"{path}/messages/{said}", note)).ok
    assert (await partner.send("DELETE", f"{path}/messages/{said}")).ok
    unnamed = (await owner.post(thread, "Ours.", headers=MANUAL)).id
    assert (await partner.send("DELETE", f"{path}/messages/{unnamed}")).refusal[0] == 403
    assert (await owner.send("DELETE", f"{path}/messages/{unnamed}")).ok


async def test_a_reply_that_comes_after_leaving_is_not_told_to_who_left(tmp_path: Path) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(turn: Turn) -> Outcome:
        asked.set()
        await go_on.wait()
        return Answer("For the owner alone.")

    async with talking(tmp_path, agent=ScriptedAgent(slowly)) as talker:
        owner, partner, thread = await together(talker)
        posting = asyncio.create_task(partner.post(thread, "Well?", wait=20))
        await asked.wait()
        await leave(owner, thread, "partner")
        go_on.set()
        told = (await posting).ok
        assert (told["run"]["status"], told["replies"]) == ("completed", [])
        assert (await owner.texts(thread))[-1] == "For the owner alone."


async def test_to_others_the_actors_of_a_thread_are_as_if_it_were_not(talker: Talker) -> None:
    owner, _, thread = await together(talker)
    before = talker.counts()
    for who in (talker, await talker.with_key("threads")):
        for id_ in (thread, NOBODYS):
            for told in (
                await who.send("GET", f"{THREADS}/{id_}/actors"),
                await join(who, id_, "me"),
                await leave(who, id_, "partner"),
                await who.send("POST", f"{THREADS}/{id_}", {"metadata": {"actors": []}}),
            ):
                assert told.refusal == NOT_FOUND
    assert {**talker.counts(), "tokens": 0} == {**before, "tokens": 0}
    assert await listed(owner, thread) == ["partner"]


async def test_a_known_caller_who_holds_the_id_joins_as_itself(talker: Talker) -> None:
    thread = (await talker.open("Hello.", headers=MANUAL)).id
    known = await talker.with_key("threads")
    assert (await join(known, thread, "known")).ok
    assert (await known.post(thread, "Hi.", headers=MANUAL)).ok["metadata"]["actor"] == "known"
    taken = await talker.post(thread, "Me too.", metadata={"actor": "known"})
    assert taken.refusal == (403, "forbidden", "metadata.actor")
    assert (await talker.post(thread, "Hm.", headers=MANUAL)).ok["metadata"]["actor"] == "visitor"


async def test_actors_are_bound_when_a_thread_is_opened(talker: Talker) -> None:
    owner, partner = await talker.with_key("threads"), await talker.with_key("threads")
    actors = [{"id": "partner", "principal": principal_of(partner)}, "mine"]
    as_partner = {"content": "Hi.", "metadata": {"actor": "partner"}}
    refused = await owner.open(as_partner, actors=actors)
    assert refused.refusal == (403, "forbidden", "messages[0].metadata.actor")
    opened = await owner.open("Hello.", actors=actors, headers=MANUAL)
    shown = (await owner.read(opened.id)).ok
    assert shown["messages"][0]["metadata"]["actor"] == "mine"
    assert shown["metadata"]["actors"][1:] == [
        {"id": "partner", "capabilities": []},
        {"id": "mine", "capabilities": []},
    ]
    assert (await partner.post(opened.id, "Hi.", headers=MANUAL)).ok


async def test_metadata_that_was_read_may_be_sent_back(talker: Talker) -> None:
    actors = [{"id": "alice", "capabilities": [{"schema": PAYMENT}]}, "bob"]
    parent = (await talker.open("Hello.", headers=MANUAL)).id
    owner = await talker.with_key("threads")
    opened = await owner.open(actors=actors, metadata={"a": "b", "parent_id": parent})
    path = f"{THREADS}/{opened.id}"
    told = await owner.send("POST", path, {"metadata": opened.ok["metadata"]})
    assert told.ok["metadata"] == opened.ok["metadata"]
    assert owner.desk.url == told.ok["metadata"]["actors"][0]["id"]
    assert told.ok["metadata"]["parent_id"] == parent
    plain = (await owner.send("GET", path, headers=MANUAL)).ok["metadata"]
    told = await owner.send("POST", path, {"metadata": {**plain, "c": "d"}}, headers=MANUAL)
    assert told.ok["metadata"] == {"a": "b", "c": "d", "parent_id": parent}
    assert await listed(owner, opened.id) == ["alice", "bob"]


@pytest.mark.parametrize(
    ("actor", "refusal"),
    [
        (None, (400, "missing_field", "id")),
        ({}, (400, "missing_field", "id")),
        ([], (400, "invalid_request", None)),
        ({"id": 7}, (400, "missing_field", "id")),
        ({"id": " "}, (400, "invalid_request", "actor")),
        ("a" * 513, (400, "invalid_request", "actor")),
        ({"id": "a", "capabilities": "b"}, (400, "invalid_request", "capabilities")),
        ({"id": "a", "capabilities": [1]}, (400, "invalid_request", "capabilities[0]")),
        ({"id": "a", "capabilities": ["c"] * 51}, (400, "invalid_request", "actor")),
        ({"id": "a", "principal": 7}, (400, "invalid_request", "principal")),
        ({"id": "a", "principal": ""}, (400, "invalid_request", "actor")),
        ({"id": "a", "principal": "key:nobody"}, (400, "invalid_request", "actor")),
        ({"id": "key:" + "0" * 16}, (403, "forbidden", "actor")),
    ],
)
async def test_an_actor_that_cannot_be_understood_is_refused(
    talker: Talker, actor: Any, refusal: tuple[int, str, str | None]
) -> None:
    thread = (await talker.open()).id
    assert (await join(talker, thread, actor)).refusal == refusal
    assert await listed(talker, thread) == []


async def test_the_desks_own_actor_neither_joins_nor_leaves(talker: Talker) -> None:
    thread = (await talker.open()).id
    for told in (
        await join(talker, thread, talker.desk.url),
        await leave(talker, thread, talker.desk.url),
    ):
        assert told.refusal == (403, "forbidden", "actor")
    path = f"{THREADS}/{thread}"
    told = await talker.send("POST", path, {"metadata": {"actors": []}})
    assert [actor["id"] for actor in told.ok["metadata"]["actors"]] == [talker.desk.url]


@pytest.mark.parametrize(
    "disguised",
    [
        "{url}\u200b",
        "{url}/",
        "{url}/./",
        "{url}//",
        "{url}?x",
        "{url}#x",
        " {url}",
        "HTTP://127.1:{port}",
        "http://127.0.0.1%3A{port}",
        "{url}/%6fperators/anna",
        "{url}/x/../operators/anna",
        "KEY:0123456789abcdef",
        "k%65y:0123456789abcdef",
        "https://\u0455hop.example",
    ],
)
async def test_nobody_goes_by_a_name_that_looks_like_the_sites_or_another_callers(
    talker: Talker, disguised: str
) -> None:
    url = talker.desk.url
    name = disguised.format(url=url, port=url.rpartition(":")[2])
    thread = (await talker.open()).id
    told = [
        await join(talker, thread, name),
        await talker.open("Hello.", actors=[name]),
        await talker.send("POST", f"{THREADS}/{thread}", {"metadata": {"actors": [name]}}),
    ]
    assert {one.status for one in told} <= {400, 403}
    assert await listed(talker, thread) == []


async def test_nobody_joins_by_a_name_that_looks_like_that_of_another_who_is_there(
    talker: Talker,
) -> None:
    owner, other = await talker.with_key(), await talker.with_key()
    thread = (await talker.open(actors=[{"id": "https://seller.example/desk"}])).id
    assert (await owner.send("POST", f"{THREADS}/{thread}/claim")).status == 200
    assert other.key is not None
    for name in ("https://seller.example/desk/", "HTTPS://seller.example:443/./desk"):
        bound = {"id": name, "principal": f"key:{other.key.split('_')[1]}"}
        assert (await owner.send("POST", f"{THREADS}/{thread}/actors", bound)).status == 403


async def test_a_list_of_actors_is_held_to_the_limits_of_a_new_thread(talker: Talker) -> None:
    path = f"{THREADS}/{(await talker.open()).id}"
    for actors in (["a", "a"], [f"a{n}" for n in range(21)], [" "]):
        told = await talker.send("POST", path, {"metadata": {"actors": actors, "kept": "no"}})
        assert told.refusal == (400, "invalid_request", "metadata.actors")
    assert (await talker.send("GET", path)).ok["metadata"].keys() == {"parent_id", "actors"}

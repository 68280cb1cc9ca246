"""Who may see and use which thread, and how long."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import Clock, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAY = 24 * 60 * 60
NOT_FOUND = (404, "thread_not_found", "thread_id")
NOBODYS = "thread_" + "0" * 36


async def try_all(who: Talker, thread_id: str) -> list[Told]:
    """Everything that can be done with a thread."""
    path = f"{THREADS}/{thread_id}"
    return [
        await who.read(thread_id),
        await who.messages(thread_id),
        await who.messages(thread_id, "?after=msg_nobody"),
        await who.send("POST", path),
        await who.send("POST", path, {"metadata": {"a": "b"}}),
        await who.send("DELETE", path),
        await who.send("GET", f"{path}/messages/msg_nobody"),
        await who.send("POST", f"{path}/messages/msg_nobody", {"metadata": {"a": "b"}}),
        await who.send("DELETE", f"{path}/messages/msg_nobody"),
        await who.post(thread_id, "Hello?"),
        await who.post(thread_id, "Hello?", role="nobody"),
        await who.post(thread_id, "Hello?", headers=[("Idempotency-Key", "key")], wait=1),
    ]


async def test_a_thread_opened_without_a_credential_is_open_to_each_holder_of_its_id(
    talker: Talker,
) -> None:
    opened = await talker.open("Hello.", wait=10)
    async with aiohttp.ClientSession(talker.desk.url) as elsewhere:
        stranger = Talker(talker.desk, Path(), elsewhere)
        for who in (stranger, await talker.with_key("threads")):
            assert (await who.read(opened.id)).ok["messages"][:2] == opened.ok["messages"]
            assert (await who.post(opened.id, "It is me.", wait=10)).ok["replies"]
    assert len(await talker.texts(opened.id)) == 6


async def test_the_id_of_a_thread_cannot_be_guessed(talker: Talker) -> None:
    ids = [(await talker.open()).id for _ in range(3)]
    # 36 characters of base32: 48 bits of time, then 128 random ones
    tails = {id_.removeprefix("thread_")[10:] for id_ in ids}
    assert len(tails) == 3
    assert all(len(tail) == 26 for tail in tails)


async def test_a_thread_of_a_key_is_to_all_others_as_if_it_were_not(talker: Talker) -> None:
    owner = await talker.with_key("threads")
    thread = (await owner.open("Mine.", wait=10)).id
    before = talker.counts()
    for who in (talker, await talker.with_key("threads", "actions")):
        foreign, unknown = await try_all(who, thread), await try_all(who, NOBODYS)
        assert [told.refusal for told in foreign] == [NOT_FOUND] * len(foreign)
        assert [told.body for told in foreign] == [told.body for told in unknown]
        assert [told.headers.keys() for told in foreign] == [
            told.headers.keys() for told in unknown
        ]
    assert {**talker.counts(), "tokens": 0} == {**before, "tokens": 0}
    assert (await owner.read(thread)).ok["metadata"].keys() == {"parent_id", "actors"}
    assert (await owner.post(thread, "Still mine.")).ok["metadata"]["actor"].startswith("key:")


@pytest.mark.parametrize("scope", ["operator", "admin"])
async def test_operators_and_administrators_may_read_every_thread(
    talker: Talker, scope: str
) -> None:
    owner, operator = await talker.with_key("threads"), await talker.with_key(scope)
    thread = (await owner.open("Help!", wait=10)).id
    assert (await operator.read(thread)).ok == (await owner.read(thread)).ok
    assert await operator.texts(thread) == await owner.texts(thread)


async def test_a_worthless_credential_is_refused_and_never_taken_for_none(talker: Talker) -> None:
    thread = (await talker.open("Hello.")).id
    key = f"desk_{'0' * 16}_{'0' * 64}"
    nobody = Talker(talker.desk, Path(), talker.http, key)
    for told in await try_all(nobody, thread):
        assert told.refusal == (401, "not_authenticated", None)
        assert told.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "id_",
    [
        "x",
        "thread_",
        "%00",
        "%ff%fe",
        "..%2f..",
        "%F0%9F%99%82",
        "thread_x%2fmessages",
        "'%20OR%20''='",
        "%25",
        "a" * 4000,
    ],
)
async def test_what_is_no_id_is_a_thread_that_does_not_exist(talker: Talker, id_: str) -> None:
    unknown = (await talker.read(NOBODYS)).body
    told = await talker.read(id_)
    assert told.refusal == NOT_FOUND
    assert told.body == unknown


async def test_an_idle_thread_without_an_owner_closes(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(
        tmp_path, "threads.anonymous_ttl=30", clock=clock, agent=ScriptedAgent()
    ) as talker:
        owner, operator = await talker.with_key("threads"), await talker.with_key("operator")
        headers = [("Idempotency-Key", "key")]
        idle, used = (await talker.open("One?", wait=10)).id, (await talker.open()).id
        owned = (await owner.open("Mine.", wait=10)).id
        await talker.post(idle, "Two?", headers=headers, wait=10)

        clock.advance(30 * DAY)
        assert (await talker.read(idle)).ok
        assert (await talker.post(used, "Still here.", wait=10)).ok
        clock.advance(1)
        unknown = await try_all(talker, NOBODYS)
        for who in (talker, owner, operator):
            assert [told.body for told in await try_all(who, idle)] == [
                told.body for told in unknown
            ]
        assert (await talker.post(idle, "Two?", headers=headers)).refusal == NOT_FOUND
        assert (await talker.read(used)).ok
        assert (await owner.read(owned)).ok

        clock.advance(29 * DAY)
        assert (await talker.send("POST", f"{THREADS}/{used}", {"metadata": {"a": "b"}})).ok
        clock.advance(29 * DAY)
        assert (await talker.read(used)).ok  # a change of its metadata is a use, too
        clock.advance(2 * DAY)
        assert (await talker.read(used)).refusal == NOT_FOUND
        assert (await owner.post(owned, "After long years.", wait=10)).ok["replies"]


async def test_who_has_said_a_message_is_listed_among_the_actors(talker: Talker) -> None:
    owner, writer = await talker.with_key("threads"), await talker.with_key("threads")
    anonymous = await talker.open("Hello.", wait=10)
    assert authors(anonymous) <= listed(anonymous)
    opened = await owner.open("Hello.", wait=10)
    assert authors(opened) <= listed(opened)
    assert writer.key is not None
    grants = f"{THREADS}/{opened.id}/grants"
    principal = f"key:{writer.key.split('_')[1]}"
    for grant in ({"principal": principal, "may": "write"}, {"link": True, "may": "write"}):
        shared = await owner.send("POST", grants, grant)
        guest = talker.with_link(shared.ok["secret"]) if "link" in grant else writer
        assert (await guest.post(opened.id, "Me too.", wait=10)).status == 200
    read = await owner.read(opened.id)
    assert len(authors(read)) == 4
    assert authors(read) <= listed(read)
    # what was read can be written back: nobody joins by that
    actors = f"{THREADS}/{opened.id}/actors"
    before = (await owner.send("GET", actors)).ok["data"]
    update = {"metadata": {"actors": read.ok["metadata"]["actors"]}}
    assert (await owner.send("POST", f"{THREADS}/{opened.id}", update)).status == 200
    assert (await owner.send("GET", actors)).ok["data"] == before


def authors(thread: Told) -> set[str]:
    """Who has said the messages of a thread."""
    return {message["metadata"]["actor"] for message in thread.ok["messages"]}


def listed(thread: Told) -> set[str]:
    """Who is listed among its actors."""
    return {actor["id"] for actor in thread.ok["metadata"]["actors"]}

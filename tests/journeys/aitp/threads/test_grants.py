"""A thread that is shared: with a caller who is known, and by a link."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Delta
from tests.support.clients.event_stream import following
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import Clock, PacedAgent, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOT_FOUND = (404, "thread_not_found", "thread_id")
NOT_PROVEN = (401, "not_authenticated", None)


def principal_of(who: Talker) -> str:
    assert who.key is not None
    return f"key:{who.key.split('_')[1]}"


async def share(who: Talker, thread_id: str, may: str = "read", **members: Any) -> Told:
    """Share a thread, by a link unless a principal is named."""
    body = {"may": may, **(members if "principal" in members else {"link": True, **members})}
    return await who.send("POST", f"{THREADS}/{thread_id}/grants", body)


async def linked(who: Talker, thread_id: str, may: str = "read") -> tuple[str, Talker]:
    """The id of a new link, and a caller who holds it."""
    grant = (await share(who, thread_id, may)).ok
    return grant["id"], who.with_link(grant["secret"])


async def revoke(who: Talker, thread_id: str, grant_id: str) -> Told:
    return await who.send("DELETE", f"{THREADS}/{thread_id}/grants/{grant_id}")


async def test_a_thread_is_shared_with_a_principal_to_be_read_or_written(talker: Talker) -> None:
    aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await aya.open("Hello.", wait=10, metadata={"order": "A-1"})).id
    assert (await ben.read(thread)).refusal == NOT_FOUND
    grant = (await share(aya, thread, principal=principal_of(ben))).ok
    assert grant.pop("created_at") > 0
    assert grant == {
        "id": grant["id"],
        "object": "thread.grant",
        "thread_id": thread,
        "principal": principal_of(ben),
        "link": False,
        "may": "read",
        "expires_at": None,
    }
    assert (await ben.read(thread)).ok == (await aya.read(thread)).ok
    assert (await ben.post(thread, "May I?")).refusal[:2] == (403, "forbidden")
    again = (await share(aya, thread, "write", principal=principal_of(ben))).ok
    assert (again["id"], again["may"]) == (grant["id"], "write")
    posted = (await ben.post(thread, "Now I may.", wait=10)).ok
    assert posted["metadata"]["actor"] == principal_of(ben)
    assert posted["replies"]
    assert (await revoke(aya, thread, grant["id"])).ok["deleted"] is True
    assert (await ben.read(thread)).refusal == NOT_FOUND


async def test_a_links_holder_reads_and_hears_what_is_said_and_nothing_of_the_owners(
    talker: Talker,
) -> None:
    aya = await talker.with_key("threads")
    parent = (await aya.open("Before.", wait=10)).id
    thread = (await aya.open("Hello.", wait=10, metadata={"order": "A-1", "parent_id": parent})).id
    _, guest = await linked(aya, thread)
    seen = (await guest.read(thread)).ok
    assert seen["messages"] == (await aya.read(thread)).ok["messages"]
    assert seen["metadata"].keys() == {"parent_id", "actors"}
    assert seen["metadata"]["parent_id"] is None
    assert await guest.texts(thread) == await aya.texts(thread)
    async with following(guest, thread) as listener:
        await aya.post(thread, "Who is there?")
        heard = await listener.until_named("message.created")
    assert heard[-1].data["content"] == ["Who is there?"]
    for told in (
        await guest.send("GET", f"{THREADS}/{thread}/grants"),
        await share(guest, thread),
        await guest.post(thread, "Me!"),
        await guest.send("POST", f"{THREADS}/{thread}/actors", {"id": "me"}),
        await guest.send("POST", f"{THREADS}/{thread}", {"metadata": {}}),
        await guest.send("DELETE", f"{THREADS}/{thread}"),
        await guest.send("GET", f"{THREADS}/{thread}/runs"),
    ):
        assert told.refusal[:2] == (403, "forbidden")
    assert (await guest.send("POST", f"{THREADS}/{thread}/claim")).refusal == NOT_PROVEN
    assert (await guest.read(parent)).refusal == NOT_FOUND


async def test_each_link_that_may_write_has_a_separate_name(talker: Talker) -> None:
    aya = await talker.with_key("threads")
    thread = (await talker.open("Before the claim.", wait=10)).ok
    assert (await aya.send("POST", f"{THREADS}/{thread['id']}/claim")).ok
    (_, one), (_, two) = [await linked(aya, thread["id"], "write") for _ in range(2)]
    path = f"{THREADS}/{thread['id']}/messages"
    key = [("Idempotency-Key", "the same")]
    first = (await one.post(thread["id"], "Hi.", wait=10, headers=key)).ok
    second = (await two.post(thread["id"], "Hi.", wait=10, headers=key)).ok
    names = {first["metadata"]["actor"], second["metadata"]["actor"]}
    assert len(names) == 2
    assert all(name.startswith("guest-") for name in names)
    assert first["replies"]
    assert first["id"] != second["id"]
    assert (await one.send("POST", f"{path}/{first['id']}", {"metadata": {"a": "b"}})).ok
    for other in (second["id"], thread["messages"][0]["id"]):
        told = await one.send("POST", f"{path}/{other}", {"metadata": {"a": "b"}})
        assert told.refusal == (403, "forbidden", "message_id")
    posing = await aya.send(
        "POST", f"{THREADS}/{thread['id']}/actors", {"id": first["metadata"]["actor"]}
    )
    assert posing.refusal[:2] == (403, "forbidden")


async def test_a_revoked_link_opens_nothing_and_what_was_open_ends(talker: Talker) -> None:
    aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await aya.open("Hello.", wait=10)).id
    link, guest = await linked(aya, thread)
    grant = (await share(aya, thread, principal=principal_of(ben))).id
    async with (
        following(guest, thread) as linked_listener,
        following(ben, thread) as granted_listener,
        following(aya, thread) as stays,
    ):
        assert (await revoke(aya, thread, link)).ok == {
            "id": link,
            "object": "thread.grant.deleted",
            "deleted": True,
        }
        assert (await revoke(aya, thread, grant)).ok
        await aya.post(thread, "To myself.")
        assert (await stays.until_named("message.created"))[-1].data["content"] == ["To myself."]
        for ended in (linked_listener, granted_listener):
            assert [heard.name for heard in await ended.rest()] == ["following"]
    assert (await guest.read(thread)).refusal == NOT_PROVEN
    assert (await guest.open("Elsewhere?")).refusal == NOT_PROVEN
    assert (await ben.read(thread)).refusal == NOT_FOUND
    assert (await revoke(aya, thread, link)).refusal == (404, "grant_not_found", "grant")


async def test_a_streamed_run_of_a_revoked_link_ends(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        aya = await talker.with_key("threads")
        thread = (await aya.open("Hi.", headers=[("OpenAI-Beta", "assistants=v2")])).id
        link, guest = await linked(aya, thread, "write")
        body = {"assistant_id": "desk", "stream": True}
        sent = dict(guest.credentials)
        path = f"{THREADS}/{thread}/runs"
        async with talker.http.post(path, json=body, headers=sent) as response:
            await agent.asked.get()
            assert (await revoke(aya, thread, link)).ok
            async with asyncio.timeout(60):
                told = await response.content.read()
        assert b"thread.run.created" in told  # the rest may come after the link has ended
        agent.say(Answer("Unheard."))


async def test_a_grant_expires(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock, agent=ScriptedAgent()) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        thread = (await aya.open("Hello.", wait=10)).id
        link = (await share(aya, thread, expires_in=60)).ok
        assert link["expires_at"] == int(clock.now) + 60
        at = int(clock.now) + 90
        await share(aya, thread, principal=principal_of(ben), expires_at=at)
        guest = aya.with_link(link["secret"])
        for who in (guest, ben):
            assert (await who.read(thread)).ok
        clock.advance(60)
        assert (await guest.read(thread)).refusal == NOT_PROVEN
        clock.advance(30)
        assert (await ben.read(thread)).refusal == NOT_FOUND
        listed = (await aya.send("GET", f"{THREADS}/{thread}/grants")).ok
        assert listed["data"] == []


async def test_a_stream_says_nothing_more_from_the_moment_its_grant_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.events.broadcaster.REVIEW_SECONDS", 3600)
    clock = Clock()
    async with talking(tmp_path, clock=clock, agent=ScriptedAgent()) as talker:
        aya, ben, cleo = [await talker.with_key("threads") for _ in range(3)]
        thread = (await aya.open("Hello.", wait=10)).id
        link = (await share(aya, thread, expires_in=60)).ok
        await share(aya, thread, principal=principal_of(ben), expires_in=60)
        await share(aya, thread, principal=principal_of(cleo))
        guest = aya.with_link(link["secret"])
        async with (
            following(guest, thread) as linked_listener,
            following(ben, thread) as granted_listener,
            following(cleo, thread) as shortened_listener,
            following(aya, thread) as stays,
        ):
            await share(aya, thread, principal=principal_of(cleo), expires_in=60)
            await aya.post(thread, "In time.", wait=10)
            ends = (linked_listener, granted_listener, shortened_listener)
            for listener in (*ends, stays):
                await listener.until_named("run.completed")
            clock.advance(60)
            await aya.post(thread, "To myself.")
            assert (await stays.until_named("message.created"))[-1].data["content"] == [
                "To myself."
            ]
            assert [await ended.rest() for ended in ends] == [[], [], []]


@pytest.mark.parametrize("by", ["runs", "message:stream", ":subscribe"])
async def test_a_streamed_run_says_nothing_more_from_the_moment_its_grant_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr("aitp_desk.desk.events.broadcaster.REVIEW_SECONDS", 3600)
    clock, agent = Clock(), PacedAgent()
    async with talking(tmp_path, clock=clock, agent=agent) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        thread = (await aya.open("Hi.", headers=[("OpenAI-Beta", "assistants=v2")])).id
        await share(aya, thread, "write", principal=principal_of(ben), expires_in=10)
        sent = {**dict(ben.credentials), "A2A-Version": "1.0"}
        said = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Well?"}]}
        body: dict[str, Any] = {"message": {**said, "contextId": thread}}
        path = "/a2a/message:stream"
        if by == "runs":
            body, path = {"assistant_id": "desk", "stream": True}, f"{THREADS}/{thread}/runs"
        if by == ":subscribe":
            body["configuration"] = {"returnImmediately": True}
            async with talker.http.post("/a2a/message:send", json=body, headers=sent) as response:
                task = (await response.json())["task"]["id"]
            body, path = {}, f"/a2a/tasks/{task}:subscribe"
        async with talker.http.post(path, json=body, headers=sent) as response:
            assert response.content_type == "text/event-stream"
            await agent.asked.get()
            agent.say(Delta("In time."))
            async with asyncio.timeout(60):
                while b"In time." not in await response.content.readline():
                    pass
                clock.advance(10)
                agent.say(Answer("Unheard."))
                assert b"Unheard." not in await response.content.read()


async def test_grants_are_listed_without_secrets_and_kept_without_them(talker: Talker) -> None:
    aya = await talker.with_key("threads")
    thread = (await aya.open()).id
    made = [(await share(aya, thread)).ok for _ in range(2)]
    secrets = [grant.pop("secret") for grant in made]
    listed = (await aya.send("GET", f"{THREADS}/{thread}/grants")).ok
    assert listed["data"] == sorted(made, key=lambda grant: grant["id"], reverse=True)
    kept = str(talker.rows("SELECT * FROM grants")) + str(talker.rows("SELECT * FROM audit"))
    assert not any(secret in kept for secret in secrets)
    noted = talker.rows("SELECT action, object FROM audit ORDER BY n DESC LIMIT 2")
    assert noted == [("grant.made", f"grant:{grant['id']}") for grant in reversed(made)]


async def test_a_link_opens_one_thread_and_combines_with_no_other_credential(
    talker: Talker,
) -> None:
    aya = await talker.with_key("threads")
    thread, other = (await aya.open("Hello.")).id, (await aya.open("Other.")).id
    _, guest = await linked(aya, thread, "write")
    assert (await guest.read(other)).refusal == NOT_FOUND
    assert (await guest.read(other)).body == (await guest.read("thread_nobody")).body
    both = Talker(talker.desk, Path(), talker.http, aya.key, guest.link)
    assert (await both.read(thread)).refusal == NOT_PROVEN


async def test_a_key_without_the_scope_gets_nothing_by_a_grant(talker: Talker) -> None:
    aya, bot = await talker.with_key("threads"), await talker.with_key("actions")
    thread = (await aya.open("Hello.")).id
    assert (await share(aya, thread, "write", principal=principal_of(bot))).ok
    assert (await bot.read(thread)).refusal[:2] == (404, "thread_not_found")
    assert (await share(bot, thread)).refusal[:2] == (404, "thread_not_found")
    assert (await bot.read((await bot.open("Hello.")).id)).ok


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({}, (400, "missing_field", "principal")),
        ({"link": True}, (400, "missing_field", "may")),
        ({"link": True, "principal": "key:1", "may": "read"}, (400, "missing_field", "principal")),
        ({"link": "yes", "may": "read"}, (400, "invalid_request", "link")),
        ({"principal": 7, "may": "read"}, (400, "invalid_request", "principal")),
        ({"principal": "key:nobody", "may": "read"}, (400, "invalid_request", "principal")),
        ({"principal": f"jwt:{'a' * 509}", "may": "read"}, (400, "invalid_request", "principal")),
        ({"principal": "link:grant_1", "may": "read"}, (400, "invalid_request", "principal")),
        ({"link": True, "may": "manage"}, (400, "invalid_request", "may")),
        ({"link": True, "may": ["read"]}, (400, "invalid_request", "may")),
        ({"link": True, "may": "read", "expires_in": 0}, (400, "invalid_request", "expires_in")),
        ({"link": True, "may": "read", "expires_in": True}, (400, "invalid_request", "expires_in")),
        ({"link": True, "may": "read", "expires_in": 1.5}, (400, "invalid_request", "expires_in")),
        ({"link": True, "may": "read", "expires_at": 1}, (400, "invalid_request", "expires_at")),
        (
            {"link": True, "may": "read", "expires_at": 10**20},
            (400, "invalid_request", "expires_at"),
        ),
        (
            {"link": True, "may": "read", "expires_in": 9, "expires_at": 9},
            (400, "invalid_request", "expires_in"),
        ),
    ],
)
async def test_what_is_no_grant_is_refused(
    owner: Talker, body: Any, refusal: tuple[int, str, str]
) -> None:
    thread = (await owner.open()).id
    before = owner.counts()
    told = await owner.send("POST", f"{THREADS}/{thread}/grants", body)
    assert told.refusal == refusal
    assert owner.counts() == before


async def test_a_thread_is_shared_with_others_than_its_owner(owner: Talker) -> None:
    thread = (await owner.open()).id
    told = await share(owner, thread, principal=principal_of(owner))
    assert told.refusal == (400, "invalid_request", "principal")


async def test_a_thread_without_an_owner_is_claimed_before_it_is_shared(talker: Talker) -> None:
    thread = (await talker.open()).id
    told = await share(talker, thread)
    assert told.refusal == (409, "precondition_failed", "thread_id")


async def test_an_owner_invites_an_actor_that_is_bound_to_a_named_caller(talker: Talker) -> None:
    aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await aya.open("Hello.")).id
    path = f"{THREADS}/{thread}/actors"
    for principal in (principal_of(ben), "jwt:login:ben", "agent:ben.example"):
        actor = {"id": f"https://ben.example/{principal}", "principal": principal}
        assert (await aya.send("POST", path, actor)).ok
    spoken = (await ben.post(thread, "Thank you.")).ok["metadata"]["actor"]
    assert spoken == f"https://ben.example/{principal_of(ben)}"
    for principal in ("link:grant_1", "ben", "key:nobody", "client:nobody", "jwt:"):
        told = await aya.send("POST", path, {"id": "x", "principal": principal})
        assert told.refusal == (400, "invalid_request", "actor")
    for name in ("agent:ben.example", "jwt:login:ben", "guest-0123456789"):
        told = await aya.send("POST", path, {"id": name})
        assert told.refusal == (403, "forbidden", "actor")

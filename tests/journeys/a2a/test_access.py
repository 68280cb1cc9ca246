"""Access to tasks over A2A is decided at each request: lists, reads, and the calls of others."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog

from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.calls.action import Action
from aitp_desk.store.units.keys.tokens import revoke_token
from tests.journeys.a2a.test_calls import echo
from tests.support.access.audit_log import somebody
from tests.support.clients.a2a import calling
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.payments.merchant import CODE, market
from tests.support.sites.actions import offering
from tests.support.sites.orders import Research

SECRET = "the-marker-that-comes-later"
V1 = [("A2A-Version", "1.0"), ("Accept", "application/json")]
BINDINGS = ("JSON-RPC", "REST")
every_binding = pytest.mark.parametrize("binding", BINDINGS)


async def send_task(who: Talker, *parts: Any, headers: Any = (), **members: Any) -> Any:
    """Send a message over REST, and return the task."""
    said = [{"text": part} if isinstance(part, str) else part for part in parts]
    configuration = members.pop("configuration", {})
    message = {"messageId": "m", "role": "ROLE_USER", "parts": said, **members}
    body = {"message": message, "configuration": configuration}
    told = await who.send("POST", "/a2a/message:send", body, headers=[*V1, *headers])
    return told.ok["task"]


async def list_tasks(who: Talker, binding: str, context: str = "") -> list[Any]:
    """List tasks; the total count says the same."""
    if binding == "REST":
        query = f"?includeArtifacts=true&contextId={context}"
        page = (await who.send("GET", f"/a2a/tasks{query}", headers=V1)).ok
    else:
        params = {"includeArtifacts": True, "contextId": context}
        page = (await call(who, "ListTasks", params)).ok["result"]
    assert page["totalSize"] == len(page["tasks"])
    tasks: list[Any] = page["tasks"]
    return tasks


async def call(who: Talker, method: str, params: dict[str, Any], version: str = "1.0") -> Told:
    """Call a method over JSON-RPC."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await who.send("POST", "/a2a", body, headers=[("A2A-Version", version)])


async def read_task(who: Talker, task_id: str) -> list[Told]:
    """Read a task in each form of the protocol."""
    old = [("A2A-Version", "0.3"), ("Accept", "application/json")]
    return [
        await who.send("GET", f"/a2a/tasks/{task_id}", headers=V1),
        await who.send("GET", f"/a2a/v1/tasks/{task_id}", headers=old),
        await call(who, "GetTask", {"id": task_id}),
        await call(who, "tasks/get", {"id": task_id}, "0.3"),
    ]


def principal_of(who: Talker) -> str:
    """The id of the principal behind an API key."""
    assert who.key is not None
    return f"key:{who.key.split('_')[1]}"


async def share(owner: Talker, thread: str, **grant: Any) -> Any:
    """Share a thread; returns the grant."""
    return (await owner.send("POST", f"{THREADS}/{thread}/grants", grant)).ok


async def test_lists_end_with_the_access_that_gave_them(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner, ben, dora = [await talker.with_key() for _ in range(3)]
        thread = (await owner.open("Hello.", wait=10)).id
        grant = await share(owner, thread, principal=principal_of(ben), may="write")
        actors = f"{THREADS}/{thread}/actors"
        await owner.send("POST", actors, {"id": "dora", "principal": principal_of(dora)})
        steps = Takeover(talker.desk.store, time.time)
        await steps.take_thread(thread, "anna", somebody())
        tasks = {who: await send_task(who, "Hello?", contextId=thread) for who in (ben, dora)}
        for who, task in tasks.items():
            for binding in BINDINGS:
                assert task["id"] in [one["id"] for one in await list_tasks(who, binding)]
                assert len(await list_tasks(who, binding, thread)) == 2
        assert (await owner.send("DELETE", f"{THREADS}/{thread}/grants/{grant['id']}")).ok
        assert (await owner.send("DELETE", f"{actors}/dora")).status == 200
        await steps.say(thread, SECRET, "anna", somebody())
        for who, task in tasks.items():
            for binding in BINDINGS:
                for context in ("", thread, task["contextId"]):
                    assert await list_tasks(who, binding, context) == []
            for told in await read_task(who, task["id"]):
                assert "TaskNotFound" in str(told.body) or "TASK_NOT_FOUND" in str(told.body)
        assert SECRET in str(await list_tasks(owner, "REST", thread))


@every_binding
async def test_calls_of_others_are_not_shown_to_who_may_only_read(
    tmp_path: Path, binding: str
) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with talking(tmp_path, actions=offers) as talker:
        owner, reader, writer, dora = [await talker.with_key() for _ in range(4)]
        said = await send_task(owner, "How long do returns take?")
        context = said["contextId"]
        thread = (await owner.read(context)).id
        made = await send_task(owner, calling("say", words=SECRET), contextId=context)
        assert SECRET in str(made)
        for who, may in ((reader, "read"), (writer, "write")):
            await share(owner, thread, principal=principal_of(who), may=may)
        links = [await share(owner, thread, link=True, may=may) for may in ("read", "write")]
        actor = {"id": "dora", "principal": principal_of(dora)}
        assert (await owner.send("POST", f"{THREADS}/{thread}/actors", actor)).ok
        guests = [talker.with_link(link["secret"]) for link in links]
        for who in (reader, writer, dora, *guests):
            listed = await list_tasks(who, binding, thread)
            assert [one["id"] for one in listed] == [said["id"]]
            for told in await read_task(who, made["id"]):
                assert SECRET not in str(told.body)
                assert "TaskNotFound" in str(told.body) or "TASK_NOT_FOUND" in str(told.body)
        operator = await talker.with_key("operator")
        for who in (owner, operator):
            assert SECRET in str(await list_tasks(who, binding, thread))
        for who in (writer, dora, guests[1]):
            own = await send_task(who, calling("say", words="mine"), contextId=thread)
            for told in await read_task(who, own["id"]):
                assert "said mine" in str(told.body)
            assert own["id"] not in str(await list_tasks(reader, binding, thread))


KEY = ("Idempotency-Key", "0123456789abcdef0123456789abcdef")


async def repeat(who: Talker, form: str, part: Any, **members: Any) -> Told:
    """Send the same message with the same key, in one form of the protocol."""
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [part], **members}
    old = {**message, "role": "user", "parts": [{"kind": next(iter(part)), **part}]}
    body: dict[str, Any]
    match form:
        case "REST":
            path, body, version = "/a2a/message:send", {"message": message}, "1.0"
        case "REST 0.3":
            said = {**message, "content": [part]}
            if "data" in part:
                said["content"] = [{"data": {"data": part["data"]}}]
            path, body, version = "/a2a/v1/message:send", {"message": said}, "0.3"
        case _:
            is_old = form == "JSON-RPC 0.3"
            method = "message/send" if is_old else "SendMessage"
            params = {"message": old if is_old else message}
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            path, version = "/a2a", "0.3" if is_old else "1.0"
    headers = [KEY, ("A2A-Version", version), ("Accept", "application/json")]
    return await who.send("POST", path, body, headers=headers)


every_repeat = pytest.mark.parametrize("form", ["REST", "REST 0.3", "JSON-RPC", "JSON-RPC 0.3"])


def is_refused(told: Told) -> bool:
    """Whether an answer says that there is no such task or thread, and no more."""
    words = ("TaskNotFound", "TASK_NOT_FOUND", "INVALID_PARAMS", "InvalidParams")
    return any(word in str(told.body) for word in words) and "history" not in str(told.body)


@every_repeat
@pytest.mark.parametrize("part", [calling("say", words="Hello."), {"text": "Hello."}])
async def test_a_repeat_is_refused_once_another_caller_has_claimed_the_thread(
    tmp_path: Path, form: str, part: Any
) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with talking(tmp_path, actions=offers) as talker:
        owner = await talker.with_key()
        assert (await repeat(talker, form, part)).status == 200
        again = await repeat(talker, form, part)
        assert "Hello." in str(again.body)
        ((task, thread),) = talker.rows("SELECT id, thread_id FROM tasks")
        assert (await owner.send("POST", f"{THREADS}/{thread}/claim", {})).status == 200
        told = await repeat(talker, form, part)
        assert is_refused(told), told.body
        assert "Hello." not in str(told.body)
        assert talker.rows("SELECT id FROM tasks") == [(task,)]


@every_repeat
@pytest.mark.parametrize("part", [calling("say", words="Hello."), {"text": "Hello."}])
async def test_a_repeat_is_refused_once_a_grant_is_revoked(
    tmp_path: Path, form: str, part: Any
) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with talking(tmp_path, actions=offers) as talker:
        owner, ben = await talker.with_key(), await talker.with_key()
        thread = (await owner.open("Hello.", wait=10)).id
        grant = await share(owner, thread, principal=principal_of(ben), may="write")
        assert (await repeat(ben, form, part, contextId=thread)).status == 200
        assert "Hello." in str((await repeat(ben, form, part, contextId=thread)).body)
        path = f"{THREADS}/{thread}/grants/{grant['id']}"
        assert (await owner.send("DELETE", path)).status == 200
        told = await repeat(ben, form, part, contextId=thread)
        assert is_refused(told), told.body
        assert "Hello." not in str(told.body)


async def test_a_repeat_of_v1_is_refused_once_access_is_lost(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner, ben = await talker.with_key(), await talker.with_key()
        opened = await talker.open("Hello.", headers=[KEY], wait=10)
        posted = await talker.post(opened.id, "And?", headers=[KEY], wait=10)
        assert (await talker.open("Hello.", headers=[KEY])).id == opened.id
        assert (await talker.post(opened.id, "And?", headers=[KEY])).id == posted.id
        assert (await owner.send("POST", f"{THREADS}/{opened.id}/claim", {})).status == 200
        assert (await talker.open("Hello.", headers=[KEY])).status == 404
        assert (await talker.post(opened.id, "And?", headers=[KEY])).status == 404
        grant = await share(owner, opened.id, principal=principal_of(ben), may="write")
        assert (await ben.post(opened.id, "Mine.", headers=[KEY])).status == 200
        path = f"{THREADS}/{opened.id}/grants/{grant['id']}"
        assert (await owner.send("DELETE", path)).status == 200
        assert (await ben.post(opened.id, "Mine.", headers=[KEY])).status == 404
        forked = await owner.open("Mine.", headers=[KEY], metadata={"parent_id": opened.id})
        assert (await owner.open("Mine.", headers=[KEY], metadata={"parent_id": opened.id})).id == (
            forked.id
        )


async def test_a_reader_sees_of_a_paid_call_what_the_thread_says(tmp_path: Path) -> None:
    async with market(tmp_path) as shop:
        owner, reader = [await shop.talker.with_key() for _ in range(2)]
        asked = await send_task(owner, calling("weather", town="Bray"))
        paid = await send_task(owner, f"pay with {CODE}", taskId=asked["id"])
        assert "It rains in Bray." in str(paid["artifacts"])
        thread = (await owner.read(asked["contextId"])).id
        await share(owner, thread, principal=principal_of(reader), may="read")
        for told in await read_task(reader, asked["id"]):
            assert "Paid: 0.25 USD." in str(told.body)
            assert "Bray" not in str(told.body)


@asynccontextmanager
async def following_call(
    who: Talker, research: Research, **members: Any
) -> AsyncIterator[aiohttp.StreamReader]:
    """What is streamed to a caller who has just called an action that takes its time."""
    part = calling("research", topic="moths")
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [part], **members}
    headers = [*V1[:1], ("Accept", "text/event-stream"), *who.credentials]
    sent = who.http.post("/a2a/message:stream", json={"message": message}, headers=headers)
    async with sent as response:
        assert response.status == 200, await response.text()
        await response.content.readuntil(b"\n\n")
        await research.begun.wait()
        yield response.content


async def test_a_stream_of_a_call_ends_with_the_key_that_opened_it(tmp_path: Path) -> None:
    research = Research()
    async with talking(tmp_path, actions=(research.offered,)) as talker:
        owner = await talker.with_key("threads", "actions")
        async with following_call(owner, research) as stream:
            id_ = principal_of(owner).removeprefix("key:")
            await talker.desk.store.run(revoke_token, id_or_name=id_, now=int(time.time()))
            while (await owner.send("GET", "/v1/files")).status != 401:
                pass
            research.go_on.set()
            assert b"All about moths." not in await stream.read()


async def test_a_stream_of_a_call_ends_with_the_grant_that_allowed_it(tmp_path: Path) -> None:
    research = Research()
    async with talking(tmp_path, actions=(research.offered,)) as talker:
        owner, ben = await talker.with_key(), await talker.with_key("threads", "actions")
        thread = (await owner.open("Hello.", wait=10)).id
        grant = await share(owner, thread, principal=principal_of(ben), may="write")
        with structlog.testing.capture_logs() as logged:
            async with following_call(ben, research, contextId=thread) as stream:
                path = f"{THREADS}/{thread}/grants/{grant['id']}"
                assert (await owner.send("DELETE", path)).ok
                research.go_on.set()
                assert b"All about moths." not in await stream.read()
        assert [one for one in logged if one["event"] == "fault"] == []

"""What the audit log says of callers: refused credentials, operators on others' threads."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.desk.access.audit_log import MAX_ADDRESSES, AuditLog
from aitp_desk.model.access.audit import AuditRow
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.audit_log import audit_rows, check_audit
from aitp_desk.store.units.keys.tokens import revoke_token
from tests.support.access.audit_log import KEYS
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.store.erasure import MANUAL, principal_of

WRONG = "desk_0123456789abcdef_" + 64 * "0"


async def rows(store: Store) -> list[AuditRow]:
    await store.settled()
    return [row async for row in audit_rows(store)]


@pytest.mark.sqlite
async def test_refused_credentials_are_noted_once_and_then_counted(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        stranger = Talker(talker.desk, tmp_path / "data", talker.http, WRONG)
        for _ in range(5):
            assert (await stranger.read("thread_1")).status == 401
        no_bearer = [("Authorization", "Basic YTpi")]
        assert (await talker.send("GET", "/v1/threads/thread_1", headers=no_bearer)).status == 401
        assert (await talker.send("GET", "/v1/files")).status == 401  # nothing was presented
        first, other = await rows(talker.desk.store)
    async with SqliteStore.open(tmp_path / "data" / DATABASE) as store:
        *_, counted = await rows(store)
    assert other.outcome == "malformed"
    for row in (first, other, counted):
        assert (row.action, row.object) == ("credential.refused", "address:127.0.0.1")
        assert (row.principal, row.proven_by) == ("anonymous", "nothing")
    assert (first.outcome, first.count, counted.outcome, counted.count) == (
        *("unknown", 1),
        *("unknown", 4),
    )


@pytest.mark.slow
async def test_a_key_that_is_used_after_its_revocation_is_named(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        who = await talker.with_key("threads")
        principal = await principal_of(who)
        assert (await who.send("GET", "/v1/files")).status == 200
        id_ = principal.removeprefix("key:")
        await talker.desk.store.run(revoke_token, id_or_name=id_, now=int(NOON))
        async with asyncio.timeout(60):
            while (await who.send("GET", "/v1/files")).status == 200:
                pass
        (row,) = await rows(talker.desk.store)
        assert (row.action, row.outcome) == ("credential.refused", "revoked")
        assert (row.principal, row.proven_by) == (principal, "nothing")


async def test_an_operators_visit_to_another_callers_thread_is_noted_before_it_is_answered(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as talker:
        who, operator = await talker.with_key("threads"), await talker.with_key("operator")
        theirs = (await who.open("Mine.", headers=MANUAL)).id
        own = (await operator.open("An operator's own.", headers=MANUAL)).id
        for _ in range(3):
            assert await operator.texts(theirs) == ["Mine."]
            assert (await operator.read(own)).status == (await who.read(theirs)).status == 200
        assert (await operator.read("thread_that_is_not_there")).status == 404
        (row,) = await rows(talker.desk.store)
        assert (row.action, row.principal) == ("thread.looked_after", await principal_of(operator))
        assert theirs not in row.object
        clock.advance(3600)
        assert (await operator.post(theirs, "I look after this.", headers=MANUAL)).status == 200
        assert len(await rows(talker.desk.store)) == 2
        for forked, count in ((own, 2), ("thread_that_is_not_there", 2), (theirs, 3)):
            await operator.open(metadata={"parent_id": forked}, headers=MANUAL)
            assert len(await rows(talker.desk.store)) == count
        assert (await rows(talker.desk.store))[-1].object == row.object


def a2a_ways(task: str, context: str) -> list[tuple[str, str, str, Any]]:
    """Version, method, path and body of each way to read or write a thread over A2A."""
    part = {"text": "An operator's."}
    new = {"messageId": "m", "role": "ROLE_USER", "parts": [part], "contextId": context}
    old = {**new, "role": "user", "parts": [{"kind": "text", **part}]}
    old_http = {**new, "content": [part]}
    calls = (
        ("1.0", "GetTask", {"id": task}),
        ("1.0", "ListTasks", {"contextId": context}),
        ("1.0", "SendMessage", {"message": new}),
        ("0.3", "tasks/get", {"id": task}),
        ("0.3", "message/send", {"message": old}),
    )
    return [
        *(
            (version, "POST", "/a2a", {"jsonrpc": "2.0", "id": 1, "method": method, "params": told})
            for version, method, told in calls
        ),
        ("1.0", "GET", f"/a2a/tasks/{task}", None),
        ("1.0", "GET", f"/a2a/tasks?contextId={context}", None),
        ("1.0", "POST", "/a2a/message:send", {"message": new}),
        ("0.3", "GET", f"/a2a/v1/tasks/{task}", None),
        ("0.3", "POST", "/a2a/v1/message:send", {"message": old_http}),
    ]


async def test_an_operators_visit_over_a2a_is_noted_each_way(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as talker:
        who, operator = await talker.with_key("threads"), await talker.with_key("operator")
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Mine."}]}
        headers = [("A2A-Version", "1.0"), ("Accept", "application/json")]
        sent = await who.send("POST", "/a2a/message:send", {"message": message}, headers=headers)
        task = sent.ok["task"]
        noted = await rows(talker.desk.store)
        for version, method, path, body in a2a_ways(task["id"], task["contextId"]):
            clock.advance(3600)
            sends = [("A2A-Version", version), ("Accept", "application/json")]
            told = await operator.send(method, path, body, headers=sends)
            assert told.ok, (version, method, path)
            assert "error" not in told.ok, (version, method, path)
            before, noted = noted, await rows(talker.desk.store)
            assert [row.action for row in noted[len(before) :]] == ["thread.looked_after"], path
            assert noted[-1].principal == await principal_of(operator)
        assert (await who.send("GET", f"/a2a/tasks/{task['id']}", headers=headers)).status == 200
        assert await rows(talker.desk.store) == noted


async def test_it_is_noted_whom_actors_are_bound_to_but_not_who_comes_by_themselves(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        bens = await principal_of(ben)
        bound = {"id": "ben", "principal": bens}
        opened = await aya.open(metadata={"actors": [{"id": "aya"}, bound]}, headers=MANUAL)
        path = f"/v1/threads/{opened.id}"

        async def noted(method: str, path: str, body: Any = None) -> list[tuple[str, int]]:
            """What is noted of a call that is let through."""
            before = len(await rows(talker.desk.store))
            assert (await aya.send(method, path, body)).status == 200
            return [(row.action, row.count) for row in (await rows(talker.desk.store))[before:]]

        (first,) = await rows(talker.desk.store)
        assert (first.action, first.principal) == ("actor.bound", await principal_of(aya))
        assert opened.id not in first.object
        assert await noted("POST", f"{path}/actors", {"id": "myself"}) == []
        assert await noted("DELETE", f"{path}/actors/myself") == []
        other = {"id": "other", "principal": bens}
        assert await noted("POST", f"{path}/actors", other) == [("actor.bound", 1)]
        declared = {**other, "capabilities": [{"schema": "https://schemas.example/s.json"}]}
        assert await noted("POST", f"{path}/actors", declared) == []
        assert await noted("DELETE", f"{path}/actors/ben") == [("actor.unbound", 1)]
        update = {"metadata": {"actors": [bound]}}
        assert await noted("POST", path, update) == [("actor.unbound", 1), ("actor.bound", 1)]
        assert await noted("POST", path, {"metadata": {"subject": "Tea"}}) == []
        assert (await rows(talker.desk.store))[-1].object == first.object

        anybodys = (await talker.open(metadata={"actors": [{"id": "me"}]}, headers=MANUAL)).id
        claimed = await noted("POST", f"/v1/threads/{anybodys}/claim")
        assert claimed == [("thread.claimed", 1), ("actor.bound", 1)]


async def test_a_flood_of_refused_credentials_is_a_few_rows(tmp_path: Path) -> None:
    clock = Clock()
    async with SqliteStore.open(tmp_path / "desk.db") as store:
        audit_log = AuditLog(store, KEYS, clock)
        async with audit_log.write_in_background():
            for number in range(5000):
                audit_log.note_refused_credential(
                    f"192.0.2.{number}", NotAuthenticated("No.", reason="unknown")
                )
            assert len(await rows(store)) == MAX_ADDRESSES + 1
        *_, last = await rows(store)
        assert (last.object, last.count) == ("address:others", 5000 - MAX_ADDRESSES - 1)
        assert (await check_audit(store, KEYS)).broken is None

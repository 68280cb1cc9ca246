"""Calls that were accepted of a caller whose credential is revoked before they are over."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.desk.access.revocation import is_still_valid, was_revoked
from aitp_desk.desk.calls.async_calls import REVOKED
from aitp_desk.http.dispatcher import WAITED_SECONDS
from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.credentials.jwt_revocations import Revocation
from aitp_desk.store.records.clients import Client
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.clients import create_client, revoke_client
from aitp_desk.store.units.keys.jwts import revoke_jwts
from aitp_desk.store.units.keys.tokens import create_token, revoke_token, rotate_token
from tests.support.clients.threads import DATABASE, Headers, Talker, talking
from tests.support.desk.first_start import begin_database
from tests.support.doubles.agent import ScriptedAgent
from tests.support.sites.orders import Caller, Research, calling, write_site

NOW = 1_800_000_000


async def revoke(caller: Caller) -> None:
    """Revoke the key of a caller: the only one that there is."""
    ((key_id,),) = caller.talker.rows("SELECT id FROM tokens")
    assert await caller.talker.desk.store.run(revoke_token, id_or_name=key_id, now=NOW)


def end_of_call(talker: Talker) -> tuple[str, str | None]:
    ((state, error),) = talker.rows("SELECT state, error FROM calls")
    return state, error


async def test_one_that_was_not_begun_is_not_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, research = write_site(tmp_path), Research()
    research.go_on.set()
    with monkeypatch.context() as nothing_begins:
        nothing_begins.setattr("aitp_desk.desk.calls.async_calls.MAX_AT_ONCE", 0)
        async with calling(tmp_path, site, actions=(research.offered,)) as caller:
            said = await caller.ask({"topic": "moths"}, "research")
            assert said.body["status"] == "accepted"
            await revoke(caller)
    async with talking(tmp_path, site=site, actions=(research.offered,)) as talker:
        while (end := end_of_call(talker))[0] == "started":
            await talker.desk.store.settled()
        assert end == ("failed", f'{{"kind":"forbidden","message":"{REVOKED}"}}')
        assert research.calls == []


async def test_one_that_was_begun_goes_on(tmp_path: Path) -> None:
    site, research = write_site(tmp_path), Research()
    async with calling(tmp_path, site, actions=(research.offered,)) as caller:
        await caller.ask({"topic": "moths"}, "research")
        await research.begun.wait()
        await revoke(caller)
        research.go_on.set()
        while (end := end_of_call(caller.talker))[0] == "started":
            await caller.talker.desk.store.settled()
        assert end == ("succeeded", None)


async def test_what_is_revoked_differs_from_what_has_only_ended(tmp_path: Path) -> None:
    begin_database(tmp_path / DATABASE)
    async with SqliteStore.open(tmp_path / DATABASE) as store:
        for id_ in ("good", "ended", "revoked"):
            ends_at = NOW - 1 if id_ == "ended" else None
            key = Key(id_, id_, b"", ("actions",), NOW - 9, expires_at=ends_at)
            client = Client(id_, id_, b"", ("actions",), NOW - 9, is_registered=False)
            client = replace(client, expires_at=ends_at)
            await store.run(create_token, token=key)
            await store.run(create_client, client=client)
        await store.run(revoke_token, id_or_name="revoked", now=NOW)
        await store.run(revoke_client, id_or_name="revoked", now=NOW)
        await store.run(revoke_jwts, revocation=Revocation("staff", "sub", "a:b", NOW))
        for principal, asked_at, expected in (
            ("key:good", NOW, False),
            ("key:ended", NOW, False),
            ("key:revoked", NOW, True),
            ("key:nobody", NOW, True),
            ("client:good", NOW, False),
            ("client:ended", NOW, False),
            ("client:revoked", NOW, True),
            ("client:nobody", NOW, True),
            ("jwt:staff:a:b", NOW, True),
            ("jwt:staff:a:b", NOW + 1, False),  # it was signed in again
            ("jwt:staff:a", NOW, False),
            ("jwt:other:a:b", NOW, False),
            ("agent:finder.example", NOW, False),
            ("anonymous", NOW, False),
        ):
            assert await was_revoked(store, principal, asked_at) is expected, principal


async def test_a_credential_holds_until_it_is_revoked_replaced_or_expired(tmp_path: Path) -> None:
    begin_database(tmp_path / DATABASE)
    async with SqliteStore.open(tmp_path / DATABASE) as store:
        for id_, ends_at in (("good", None), ("ended", NOW), ("turned", None)):
            key = Key(id_, id_, b"", ("threads",), NOW - 9, expires_at=ends_at)
            await store.run(create_token, token=key)
        await store.run(
            rotate_token,
            id="turned",
            version=1,
            hash=b"x",
            data_key=1,
            previous_until=NOW + 9,
            now=NOW,
        )
        await store.run(revoke_jwts, revocation=Revocation("staff", "jti", "t1", NOW))
        await store.run(revoke_jwts, revocation=Revocation("staff", "sub", "old", NOW))
        first, second = CredentialMark(1), CredentialMark(2)
        for principal, mark, at, expected in (
            ("key:good", first, NOW, True),
            ("key:ended", first, NOW, False),
            ("key:nobody", first, NOW, False),
            ("key:turned", first, NOW, True),
            ("key:turned", first, NOW + 9, False),
            ("key:turned", second, NOW + 9, True),
            ("key:turned", UNMARKED, NOW + 8, True),
            ("key:turned", UNMARKED, NOW + 9, False),
            ("client:nobody", UNMARKED, NOW, False),
            ("jwt:staff:ann", CredentialMark(token_id="t1", issued_at=NOW), NOW, False),
            ("jwt:staff:ann", CredentialMark(token_id="t2", issued_at=NOW), NOW, True),
            ("jwt:staff:old", CredentialMark(token_id="t2", issued_at=NOW - 1), NOW, False),
            ("jwt:staff:old", CredentialMark(token_id="t2", issued_at=NOW + 1), NOW, True),
            ("agent:finder.example", UNMARKED, NOW, True),
            ("anonymous", UNMARKED, NOW, True),
        ):
            holds = await is_still_valid(store, principal, NOW, at, mark)
            assert holds is expected, (principal, mark, at)


SAID = "The safe is behind the clock."
MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Where is it?"}]}
V1 = [("A2A-Version", "1.0"), ("Accept", "application/json")]
MESSAGES = [{"role": "user", "content": "Where is it?"}]
QUESTION = {"ahp": "0.1", "capability": "content_search", "query": "Where is it?"}


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/threads", {"messages": MESSAGES}, [("Prefer", "wait=30")]),
        ("/v1/chat/completions", {"model": "desk", "messages": MESSAGES}, ()),
        ("/v1/responses", {"model": "desk", "input": "Where is it?"}, ()),
        ("/a2a/message:send", {"message": MESSAGE}, V1),
        ("/agent/converse", QUESTION, ()),
    ],
)
async def test_who_waits_gets_nothing_once_the_key_is_revoked(
    tmp_path: Path, path: str, body: object, headers: Headers
) -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_turn: Turn) -> Outcome:
        asked.set()
        await may_answer.wait()
        return Answer(SAID)

    async with talking(tmp_path, agent=ScriptedAgent(answer)) as talker:
        caller = await talker.with_key("threads", "actions")
        began = time.monotonic()
        waiting = asyncio.create_task(caller.send("POST", path, body, headers=headers))
        await asked.wait()
        await revoke(Caller(talker, tmp_path))
        while (await caller.send("GET", "/v1/files")).status != 401 or (
            time.monotonic() - began < 2 * WAITED_SECONDS
        ):
            pass
        may_answer.set()
        told = await waiting
    assert told.status == 401
    assert SAID not in str(told.body)

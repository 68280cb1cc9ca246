"""Telling callers' servers how calls have ended: signed, again until noted, and no further."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.webhook_signatures import (
    WebhookSigner,
    webhook_secret_of_client,
    webhook_secret_of_key,
)
from aitp_desk.config import CallbackSettings
from aitp_desk.desk.jobs.callbacks import (
    DELAYS,
    NO_MORE,
    OF_ONE,
    SWITCHED_OFF,
    Callbacks,
    make_callback_job,
)
from aitp_desk.egress import Egress
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.calls.job import Job, JobState
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.oauth.metadata import describe_keys
from aitp_desk.store.base import Store, Work
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.keys.clients import register_client, rotate_client
from aitp_desk.store.units.keys.tokens import create_token, revoke_token, rotate_token
from tests.support.desk.first_start import begin_database
from tests.support.desk.jobs import SECONDS, working
from tests.support.doubles.agent import Clock
from tests.support.doubles.callback_receiver import (
    SECRET_ANSWER,
    Behaviour,
    Receiver,
    receiving,
    verified,
    verifying_client,
)

KEYS = DataKeys({1: bytes(range(32)), 2: bytes(range(32, 64))})
BODY = '{"status":"success","text":"Größe 42"}'.encode()
KEY_ID = "0123456789abcdef"
KEY_SECRET = webhook_secret_of_key(KEYS, KEY_ID, 1, 1)
AGENT = "agent:finder.example"
URL = "https://agent.example/told"
SIGNING = SigningKeys(KEYS)


class Calling:
    """A desk's calls that have ended, and their receivers.

    Attributes:
        clock: the desk's; it begins now, for what verifies asks the time.
    """

    def __init__(
        self, store: Store, receiver: Receiver, egress: Egress, settings: CallbackSettings
    ) -> None:
        self.store = store
        self.receiver = receiver
        self.clock = Clock(time.time())
        self.jwks = describe_keys(SIGNING.list_published((), self.clock()))
        self.callbacks = Callbacks(
            egress=egress,
            webhooks=WebhookSigner(store=store, keys=KEYS, signing_keys=SIGNING, clock=self.clock),
            settings=settings,
        )
        self._render: dict[str, bytes] = {}
        self.wake: Callable[[], None] = lambda: None

    async def render(self, call_id: str, _desk: str) -> bytes | None:
        """What is reported of a call."""
        return self._render.get(call_id)

    async def end(
        self,
        call_id: str,
        principal: str = f"key:{KEY_ID}",
        body: bytes | None = BODY,
        url: str = "",
    ) -> None:
        """Have a call end, of which its caller is told at an address, the receiver's if none."""
        if body is not None:
            self._render[call_id] = body
        job = make_callback_job(
            self.clock(), call_id=call_id, url=url or self.receiver.url, principal_id=principal
        )
        await self.store.run(_queue, job)
        self.wake()

    async def until(self, call_id: str, state: JobState, attempts: int = 1) -> Job:
        """Wait until telling of a call stands so."""
        async with asyncio.timeout(SECONDS):
            while True:
                async for job in job_reads.jobs(self.store, dead_only=False):
                    if (job.ref, job.state, job.attempts) == (call_id, state, attempts):
                        return job
                await asyncio.sleep(0)


@asynccontextmanager
async def a_calling(
    path: Path, *, allow_loopback: bool = True, is_enabled: bool = True
) -> AsyncIterator[Calling]:
    begin_database(path / "desk.db")
    async with (
        SqliteStore.open(path / "desk.db", synchronous="normal") as store,
        receiving() as receiver,
        Egress(allow_loopback=allow_loopback) as egress,
    ):
        calling = Calling(store, receiver, egress, CallbackSettings(enabled=is_enabled))
        key = Key(KEY_ID, "bot", b"", ("actions",), int(calling.clock()))
        await store.run(create_token, token=key)
        kind = calling.callbacks.make_kind(calling.render)
        async with working(store, kind, clock=calling.clock) as jobs:
            calling.wake = jobs.wake
            yield calling


@pytest.fixture
async def calling(tmp_path: Path) -> AsyncIterator[Calling]:
    """Calls of a desk that may tell servers on this machine."""
    async with a_calling(tmp_path) as calling:
        yield calling


async def test_a_client_with_a_key_gets_what_both_know(calling: Calling) -> None:
    await calling.end("call_1")
    await calling.until("call_1", JobState.DONE)
    (told,) = calling.receiver.got
    assert (told.method, told.body) == ("POST", BODY)
    assert told.headers["content-type"] == "application/json"
    assert told.headers["webhook-id"] == "call_1"
    assert verified(KEY_SECRET, told) == {"status": "success", "text": "Größe 42"}
    for forged in (
        replace(told, body=BODY.replace(b"42", b"43")),
        replace(told, headers={**told.headers, "webhook-id": "call_2"}),
        replace(told, headers={**told.headers, "webhook-timestamp": str(int(time.time()) - 9)}),
    ):
        with pytest.raises(WebhookVerificationError):
            verified(KEY_SECRET, forged)


async def test_a_client_is_reported_with_its_secret(calling: Calling) -> None:
    now = int(calling.clock())
    client, _ = ClientSecrets(KEYS).make(
        name="one", scopes=("actions",), is_registered=True, now=now, expires_at=now + 86_400
    )
    await calling.store.run(register_client, client=client, most=9)
    await calling.end("call_1", f"client:{client.id}")
    await calling.until("call_1", JobState.DONE)
    secret = webhook_secret_of_client(KEYS, client.id, 1, client.data_key)
    assert verified(secret, calling.receiver.got[0])
    await calling.store.run(
        rotate_client,
        client=client,
        hash=b"h" * 32,
        data_key=1,
        previous_until=int(time.time()) + 9,
        now=now,
    )
    await calling.end("call_2", f"client:{client.id}")
    await calling.until("call_2", JobState.DONE)
    for one in (secret, webhook_secret_of_client(KEYS, client.id, 2, 1)):
        assert verified(one, calling.receiver.got[1]), "both, while both secrets work"


async def test_everybody_else_verifies_by_the_keys_that_the_desk_publishes(
    calling: Calling,
) -> None:
    await calling.end("call_1", AGENT)
    await calling.until("call_1", JobState.DONE)
    (told,) = calling.receiver.got
    verify = verifying_client().verify_with_keys
    assert verify(calling.jwks, told.headers, told.body)
    assert not verify(calling.jwks, told.headers, told.body + b" ")
    assert not verify(calling.jwks, {**told.headers, "webhook-id": "call_2"}, told.body)
    old = {**told.headers, "webhook-timestamp": str(int(time.time()) - 301)}
    assert not verify(calling.jwks, old, told.body)
    other = describe_keys(SigningKeys(DataKeys({1: bytes(32)})).list_published((), 0))
    assert not verify(other, told.headers, told.body)


async def test_while_two_secrets_of_a_key_work_either_verifies(calling: Calling) -> None:
    now = int(calling.clock())
    await calling.store.run(
        rotate_token,
        id=KEY_ID,
        version=1,
        hash=b"",
        data_key=2,
        previous_until=now + 60,
        now=now,
    )
    new = webhook_secret_of_key(KEYS, KEY_ID, 2, 2)
    await calling.end("call_1")
    await calling.until("call_1", JobState.DONE)
    assert verified(KEY_SECRET, calling.receiver.got[0])
    assert verified(new, calling.receiver.got[0])
    calling.clock.advance(60)
    await calling.end("call_2")
    await calling.until("call_2", JobState.DONE)
    assert verified(new, calling.receiver.got[1])
    with pytest.raises(WebhookVerificationError):
        verified(KEY_SECRET, calling.receiver.got[1])


async def test_a_receiver_that_fails_is_notified_again_under_the_same_id_until_it_accepts(
    calling: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the one that hangs is waited for so long; the others must be done by then on a busy machine
    monkeypatch.setattr("aitp_desk.desk.jobs.callbacks.SEND_SECONDS", 0.5)
    failures = {
        500: "The receiver responded with status 500.",
        "hangs": "127.0.0.1 did not send a complete response within 0.5 seconds.",
        "closes": (
            "127.0.0.1 could not be reached: its response is incomplete or cannot be decompressed."
        ),
        "redirects": "The receiver responded with status 307.",
        404: "The receiver responded with status 404.",
    }
    calling.receiver.behave(*failures)  # type: ignore[arg-type]
    with structlog.testing.capture_logs() as log:
        await calling.end("call_1")
        for attempt, reason in enumerate(failures.values(), start=1):
            job = await calling.until("call_1", JobState.QUEUED, attempt)
            assert job.last_error == reason
            assert job.available_at == int(calling.clock() + DELAYS[attempt - 1])
            calling.clock.advance(DELAYS[attempt - 1])
            calling.wake()
        await calling.until("call_1", JobState.DONE, len(failures) + 1)
    got = calling.receiver.got
    assert [told.body for told in got] == [BODY] * 6
    assert {told.headers["webhook-id"] for told in got} == {"call_1"}
    assert len({told.headers["webhook-timestamp"] for told in got}) == 6
    for told in got:
        moment = datetime.fromtimestamp(int(told.headers["webhook-timestamp"]), UTC)
        signed = Webhook(KEY_SECRET).sign("call_1", moment, BODY.decode())
        assert told.headers["webhook-signature"] == signed
    assert calling.receiver.site.paths().count("/elsewhere") == 0
    assert SECRET_ANSWER not in str(log)


async def test_after_a_day_no_receiver_is_notified_any_more(calling: Calling) -> None:
    assert 86_400 <= sum(DELAYS) <= 90_000
    calling.receiver.behave(*[503] * (len(DELAYS) + 1))
    await calling.end("call_1")
    for attempt, delay in enumerate(DELAYS, start=1):
        await calling.until("call_1", JobState.QUEUED, attempt)
        calling.clock.advance(delay)
        calling.wake()
    dead = await calling.until("call_1", JobState.DEAD, len(DELAYS) + 1)
    assert dead.last_error == "The receiver responded with status 503."


async def test_one_that_wants_no_more_or_says_too_much_has_been_told(calling: Calling) -> None:
    calling.receiver.behave(410, "talks")
    for call_id in ("call_1", "call_2"):
        await calling.end(call_id)
        await calling.until(call_id, JobState.DONE)
    assert len(calling.receiver.got) == 2


async def test_who_may_not_ask_any_more_is_not_told(calling: Calling) -> None:
    await calling.store.run(revoke_token, id_or_name=KEY_ID, now=int(calling.clock()))
    for call_id, principal in (
        ("call_1", f"key:{KEY_ID}"),
        ("call_2", "client:none"),
        ("call_3", "key:none"),
    ):
        await calling.end(call_id, principal)
        assert (await calling.until(call_id, JobState.DEAD)).last_error == NO_MORE
    await calling.end("call_4", body=None)  # a call that was erased
    await calling.until("call_4", JobState.DONE)
    assert calling.receiver.got == []


async def test_one_whose_receiver_hangs_keeps_nobody_else_waiting(calling: Calling) -> None:
    hangs: list[Behaviour] = ["hangs" for _ in range(5 * OF_ONE)]
    calling.receiver.behave(*hangs)
    for n in range(len(hangs)):
        await calling.end(f"call_{n}")
    await calling.receiver.told(OF_ONE)
    async with receiving() as other:
        await calling.end("call_other", AGENT, url=other.url)
        await other.told()
    assert len(calling.receiver.got) == OF_ONE


async def test_what_was_promised_before_it_was_switched_off_is_not_sent(tmp_path: Path) -> None:
    async with a_calling(tmp_path, is_enabled=False) as calling:
        await calling.end("call_1")
        assert (await calling.until("call_1", JobState.DEAD)).last_error == SWITCHED_OFF
        assert calling.receiver.got == []


async def test_an_internal_address_is_not_called_back_even_where_it_was_accepted(
    tmp_path: Path,
) -> None:
    async with a_calling(tmp_path, allow_loopback=False) as calling:
        await calling.end("call_1")
        job = await calling.until("call_1", JobState.DEAD)
        assert calling.receiver.got == []
        assert job.last_error == "127.0.0.1 does not lead to a public address."


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example/told",
        "https://127.0.0.1/told",
        "https://[::1]/told",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://user:secret@agent.example/",
        "ftp://agent.example/",
        "//agent.example",
        "",
    ],
)
async def test_an_address_that_may_not_be_told_is_refused_when_it_is_given(url: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        a_desk().check(a_caller(AGENT), url)
    assert refused.value.param == "context.callback_url"


async def test_a_desk_that_calls_nobody_back_says_so() -> None:
    a_desk().check(a_caller(AGENT), URL)
    with pytest.raises(InvalidRequest, match="sends no callbacks"):
        a_desk(settings=CallbackSettings(enabled=False)).check(a_caller(AGENT), URL)
    a_desk(signing_keys=None).check(a_caller(f"key:{KEY_ID}"), URL)
    with pytest.raises(InvalidRequest, match="publishes no keys"):
        a_desk(signing_keys=None).check(a_caller(AGENT), URL)


def a_desk(
    *, settings: CallbackSettings | None = None, signing_keys: SigningKeys | None = SIGNING
) -> Callbacks:
    """A desk that takes addresses."""
    nothing: Any = None
    webhooks = WebhookSigner(store=nothing, keys=KEYS, signing_keys=signing_keys, clock=time.time)
    given = settings or CallbackSettings()
    return Callbacks(egress=Egress(), webhooks=webhooks, settings=given)


def a_caller(principal_id: str) -> Principal:
    return Principal(principal_id, PrincipalKind.AGENT, frozenset({"actions"}), "192.0.2.1")


def _queue(job: NewJob) -> Work[None]:
    yield from enqueue_job(job)

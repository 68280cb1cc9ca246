"""Limits that hold for all processes together, with a real server between them."""

from __future__ import annotations

import hmac
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.app.shared_state import EXCHANGE_SECONDS
from aitp_desk.config import Limits
from aitp_desk.desk.jobs.background_task import repeat, run_in_background
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.limits.shared_counts import SharedCounts
from aitp_desk.model.access.principal import make_anonymous, make_contact
from aitp_desk.model.counters import Counters, end_of_minute
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.valkey import ValkeyServer
from aitp_desk.transports.base import Transport
from aitp_desk.transports.contacts.continuation import MOST_WRONG, NO_CODE, Continuations
from aitp_desk.transports.events import ChatStart, Incoming
from aitp_desk.transports.host.answer_limits import AnswerLimits
from aitp_desk.transports.host.pace import Pace
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.settings import CommonSettings
from tests.support.doubles.agent import Clock
from tests.support.store.valkey_process import ValkeyProcess

pytestmark = pytest.mark.servers
DIGEST = partial(hmac.digest, b"the key of a desk", digest="sha256")
STEPS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("abcx")), max_size=40)


class Process:
    """The limiter of one of the processes."""

    def __init__(self, server: ValkeyServer | None, clock: Clock, limit: int) -> None:
        self.shared = SharedCounts(server, DIGEST)
        self.limiter = RateLimiter(Limits(converse_per_minute=limit), clock)
        self.limiter.share(self.shared, "")

    def ask(self, address: str = "203.0.113.7") -> bool:
        """Return whether a question is let through."""
        allowance = self.limiter.count(make_anonymous(address), "converse")
        assert allowance is not None
        return allowance.refused is None


async def test_a_limit_holds_for_all_processes_together(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, two = Process(valkey, clock, 5), Process(valkey, clock, 5)
    assert [one.ask(), one.ask(), one.ask(), two.ask()] == [True] * 4
    await two.shared.exchange()
    await one.shared.exchange()
    assert [one.ask(), one.ask()] == [True, False]
    await one.shared.exchange()
    two.ask()
    await two.shared.exchange()
    assert not two.ask()
    assert two.ask("203.0.113.8")
    clock.advance(60)
    assert one.ask()
    assert two.ask()


async def test_strangers_are_counted_by_the_hour_of_all_processes(valkey: ValkeyServer) -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(enabled=False), clock)
    eve = make_contact("pigeon", "eve", is_proven=False)
    common = CommonSettings(strangers_per_hour=3)
    enabled = EnabledTransport("pigeon", cast("Transport", None), common, Pace(1, 1))
    shared = [SharedCounts(valkey, DIGEST), SharedCounts(valkey, DIGEST)]
    one, two = (AnswerLimits(each, clock) for each in shared)

    def is_answered(limits: AnswerLimits) -> bool:
        return limits.count(limiter, eve, enabled, is_stranger=True) is None

    assert [is_answered(one), is_answered(one), is_answered(two)] == [True] * 3
    clock.advance(120)  # longer than the counts of minutes are kept
    for each in shared:
        await each.exchange()
    assert not is_answered(two)
    assert is_answered(one), "it learns of the others when it has counted something"
    await shared[0].exchange()
    assert not is_answered(one)
    clock.advance(3600)
    assert is_answered(one)
    assert is_answered(two)


async def test_wrong_codes_that_join_conversations_are_counted_together(
    tmp_path: Path, valkey: ValkeyServer
) -> None:
    clock = Clock()
    incoming = Incoming(event_id="e", conversation="c", sender="eve", event=ChatStart())
    eve = make_contact("pigeon", "eve", is_proven=True)
    shared = [SharedCounts(valkey, DIGEST), SharedCounts(valkey, DIGEST)]
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        one, two = (Continuations(store, (), lambda _: b"", each, clock) for each in shared)

        async def guess(where: Continuations) -> str:
            claim = cast("ClaimedJob", SimpleNamespace(id="job_1", created_at=1))
            return await where.take_code(incoming, "pigeon", eve, "c", "2222-3333-4444", claim)

        for _ in range(MOST_WRONG - 1):
            assert await guess(one) == NO_CODE
        assert await guess(two) == NO_CODE
        for each in shared:
            await each.exchange()
        assert await guess(two) == "codes_many"


async def test_counts_are_exchanged_while_a_desk_runs(valkey: ValkeyServer) -> None:
    clock = Clock()
    one, two = Process(valkey, clock, 1), Process(valkey, clock, 2)
    assert one.ask()
    told = valkey.client.pubsub()
    await valkey.client.config_set("notify-keyspace-events", "E$")
    await told.subscribe("__keyevent@0__:incrby")
    async with told, run_in_background(partial(repeat, one.shared.exchange, EXCHANGE_SECONDS)):
        await anext(event async for event in told.listen() if event["type"] == "message")
    assert two.ask()
    await two.shared.exchange()
    assert not two.ask()


async def test_the_server_is_told_no_address(valkey: ValkeyServer) -> None:
    one = Process(valkey, Clock(), 5)
    one.ask("203.0.113.77")
    await one.shared.exchange()
    names = await valkey.client.keys("*")
    assert len(names) == 1
    assert b"203.0" not in names[0]


async def test_without_the_server_each_process_counts_on_its_own(
    valkey_process: ValkeyProcess, valkey: ValkeyServer
) -> None:
    now = 0.0
    server = ValkeyServer(valkey.client, lambda: now)
    clock = Clock()
    one, two = Process(server, clock, 3), Process(server, clock, 3)
    assert one.ask()
    await one.shared.exchange()
    valkey_process.kill()
    assert [one.ask(), one.ask(), one.ask()] == [True, True, False]
    await one.shared.exchange()
    assert [two.ask(), two.ask()] == [True, True]
    valkey_process.start()
    now = 60.0
    for each in (one, two):
        await each.shared.exchange()
    assert not two.ask(), "what was counted meanwhile is added when the valkey is back"


def test_without_a_server_windows_begin_with_their_first_request() -> None:
    clock = Clock()
    alone = Process(None, clock, 1)
    clock.advance(30)
    assert alone.ask()
    clock.advance(59)
    assert not alone.ask()
    clock.advance(1)
    assert alone.ask()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_in_the_end_every_process_knows_the_sum(
    valkey: ValkeyServer, steps: list[tuple[int, str]]
) -> None:
    await valkey.client.flushall()
    clock = Clock()
    counters = [Counters(end_of_minute, clock), Counters(end_of_minute, clock)]
    shared = [SharedCounts(valkey, DIGEST), SharedCounts(valkey, DIGEST)]
    for sharing, counting in zip(shared, counters, strict=True):
        sharing.add("test", counting)
    for index, key in [*steps, (0, "a"), (1, "a")]:
        if key == "x":
            await shared[index].exchange()
        else:
            counters[index].count(key, 3)
    await shared[0].exchange()
    await shared[1].exchange()
    asked = 2 + sum(key == "a" for _, key in steps)
    window = counters[1].read("a")
    assert window is not None
    assert window.counted == asked

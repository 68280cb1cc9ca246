"""What engines may drive side by side."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from aitp_desk.store.engine.unit import Unit, list_touched_keys
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import Fork, IdempotencyRecord
from aitp_desk.store.units.runs.workers import renew_lease
from aitp_desk.store.units.threads.threads import append_message
from tests.support.store.messages import VISITOR, a_session, a_thread, first_turn

THREAD = a_thread()
CLAIM = ClaimedRun("run_1", THREAD.id, "w", 1, 0, 1, 1, 0, VISITOR)
JOB = ClaimedJob("job_1", "errand", "r", "", None, "{}", 1, 1, 0, "w")
FORK = Fork("thread_parent", VISITOR, 0)
ONCE = IdempotencyRecord("aya", "key", b"f")
OF_THREAD = ("thread", THREAD.id)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"thread_id": THREAD.id, "message_id": "m", "idempotency": None}, {OF_THREAD}),
        ({"thread_id": THREAD.id, "idempotency": ONCE}, {OF_THREAD, ("once", "aya", "key")}),
        ({"thread": THREAD, "idempotency": None}, {OF_THREAD}),
        ({"thread": THREAD, "fork": FORK}, {OF_THREAD, ("thread", "thread_parent")}),
        ({"claim": CLAIM, "replies": ()}, {OF_THREAD}),
        ({"claim": JOB, "now": 1, "also": None}, {("job", "job_1")}),
        ({"claim": JOB, "now": 1, "also": list}, None),
        ({"session": a_session(THREAD), "messages": ()}, {OF_THREAD}),
        (first_turn(a_session(THREAD)), {OF_THREAD}),
        ({"nonce": b"\1\2", "until": 9}, {("nonce", "0102")}),
        ({"worker": "w", "limit": 3}, None),
        ({}, None),
    ],
)
def test_a_unit_touches_what_its_arguments_name(
    arguments: dict[str, Any], expected: set[tuple[str, ...]] | None
) -> None:
    found = list_touched_keys(Unit(append_message, (), arguments))
    assert (found and set(found)) == expected


def test_arguments_bound_before_count_too() -> None:
    bound = partial(renew_lease, claim=CLAIM)
    unit = Unit(bound, (), {"lease_until": 1})
    assert list_touched_keys(unit) == frozenset({OF_THREAD})
    assert unit.name == "renew_lease"

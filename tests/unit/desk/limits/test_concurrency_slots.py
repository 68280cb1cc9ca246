"""Slots are counted by caller; without a credential by address and subject, and by address."""

from __future__ import annotations

import pytest

from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.errors import RateLimited, Unavailable

OFFICE = make_anonymous("192.0.2.1")


def test_an_office_of_visitors_has_more_slots_than_one_caller() -> None:
    slots = ConcurrencySlots("streams", most=200, most_per_caller=2, most_per_address=150)
    leaves = [slots.acquire(OFFICE, f"thread {number}") for number in range(149)]
    leaves.append(slots.acquire(OFFICE, "thread 0"))
    with pytest.raises(RateLimited, match="At most 150 streams") as refused:
        slots.acquire(OFFICE, "thread 200")
    assert refused.value.scope == "ip"
    slots.acquire(make_anonymous("192.0.2.2"), "thread 0")
    for leave in leaves:
        leave()
    assert slots.figures()[0].samples[0][1] == 1


def test_one_thread_has_no_more_than_a_caller() -> None:
    slots = ConcurrencySlots("streams", most=200, most_per_caller=2, most_per_address=150)
    leave = slots.acquire(OFFICE, "thread")
    slots.acquire(OFFICE, "thread")
    with pytest.raises(RateLimited, match="At most 2 streams"):
        slots.acquire(OFFICE, "thread")
    leave()
    slots.acquire(OFFICE, "thread")


def test_a_caller_with_a_credential_has_its_own_however_many_threads_it_follows() -> None:
    slots = ConcurrencySlots("streams", most=3, most_per_caller=2, most_per_address=150)
    caller = Principal("key:one", PrincipalKind.USER, frozenset(), "192.0.2.9")
    slots.acquire(caller, "one")
    slots.acquire(caller, "two")
    with pytest.raises(RateLimited) as refused:
        slots.acquire(caller, "three")
    assert refused.value.scope == "principal"
    slots.acquire(OFFICE, "one")
    with pytest.raises(Unavailable):
        slots.acquire(OFFICE, "two")

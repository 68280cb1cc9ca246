"""Who may reach a call, for plain values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aitp_desk.model.access.call_access import CallThread, is_call_of, may_reach_call
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.access.rule import Access
from aitp_desk.model.calls.call import ActionCall, CallState

ANYBODY = make_anonymous("192.0.2.1")
AYA = Principal("key:aya", PrincipalKind.AGENT, frozenset({"threads"}), "")
BEN = replace(AYA, id="key:ben")
OPERATOR = replace(AYA, id="key:op", kind=PrincipalKind.OPERATOR, scopes=frozenset({"operator"}))
GUEST = replace(ANYBODY, id="link:grant_1")
WRITES, READS = Access(), Access(may_write=False, may_manage=False)
LEFT = Access(upto_seq=3, may_write=False)


def test_a_call_on_a_thread_follows_the_thread(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Principal, str | None, Principal, Access | None, bool]] = [
        # on an anonymous thread: who holds the call's id
        (ANYBODY, None, ANYBODY, WRITES, True),
        (ANYBODY, None, AYA, WRITES, False),
        (ANYBODY, None, ANYBODY, None, False),
        (AYA, None, AYA, WRITES, True),
        (AYA, None, ANYBODY, WRITES, False),
        # after a claim: the owner
        (ANYBODY, "key:aya", AYA, WRITES, True),
        (ANYBODY, "key:aya", ANYBODY, None, False),
        (ANYBODY, "key:aya", BEN, None, False),
        (ANYBODY, "key:aya", BEN, WRITES, False),
        (ANYBODY, "key:aya", OPERATOR, WRITES, False),
        # what another caller asked for on the owner's thread, until they may write no more
        (BEN, "key:aya", AYA, WRITES, True),
        (BEN, "key:aya", BEN, WRITES, True),
        (BEN, "key:aya", BEN, READS, False),
        (BEN, "key:aya", BEN, LEFT, False),
        (BEN, "key:aya", BEN, None, False),
        (AYA, "key:aya", BEN, READS, False),
        (AYA, "key:aya", GUEST, READS, False),
        (GUEST, "key:aya", GUEST, WRITES, True),
        (GUEST, "key:aya", GUEST, READS, False),
        (GUEST, "key:aya", ANYBODY, None, False),
    ]
    for asker, owner, by, access, may in cases:
        with subtests.test(asker=asker, owner=owner, by=by, access=access, may=may):
            call = _call(asker, "thread_1")
            thread = CallThread(owner, access)
            assert may_reach_call(by, call, thread) is may
            # whatever name it was found by, it belongs to known callers alone
            assert is_call_of(by, call, thread) is (may and by != ANYBODY)
            assert not may_reach_call(by, call, None)


def test_a_call_on_no_thread_is_its_askers(subtests: pytest.Subtests) -> None:
    bys: list[Principal] = [ANYBODY, AYA, BEN, GUEST, OPERATOR]
    askers: list[Principal] = [ANYBODY, AYA, GUEST]
    for by in bys:
        for asker in askers:
            with subtests.test(asker=asker, by=by):
                assert may_reach_call(by, _call(asker, None), None) is (asker == by)


def _call(asker: Principal, thread_id: str | None) -> ActionCall:
    return ActionCall(
        "call_1", "", "order", CallState.SUCCEEDED, asker, "arguments", 0, 1, thread_id=thread_id
    )

"""Who may do what with a thread."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.access.rule import (
    Access,
    AccessNeed,
    Attendance,
    decide_access,
    may_know_parent,
    needs_attendance,
    needs_grant,
)
from aitp_desk.model.errors import Forbidden

VISITOR = make_anonymous("192.0.2.1")
PRESENT = Attendance("https://ben.example")
GONE = Attendance(None, left_seq=3, left_event=7)

EVERYTHING = Access()
PARTNER = Access(may_manage=False, may_join=False)
PAST = Access(3, 7, may_write=False, may_manage=False, may_join=False, sees_notes=False)
PAST_WITH_ID = Access(3, 7, may_write=False, may_manage=False, may_join=True, sees_notes=False)
READER = Access(may_write=False, may_manage=False, may_join=False)
GUEST = Access(may_manage=False, may_join=False, sees_notes=False)
GUEST_WHO_READS = Access(may_write=False, may_manage=False, may_join=False, sees_notes=False)


def signed_in(name: str, *scopes: str) -> Principal:
    return Principal(name, PrincipalKind.AGENT, frozenset(scopes), "192.0.2.2")


AYA, BEN = signed_in("aya", "threads"), signed_in("ben", "threads", "actions")
LINK = Principal("link:grant_1", PrincipalKind.ANONYMOUS, frozenset(), "192.0.2.3")
READ = Grant("grant_1", "thread_1", "ben", GrantLevel.READ, created_at=0)
WRITE, FOR_A_WHILE = replace(READ, may=GrantLevel.WRITE), replace(READ, expires_at=60)
OPERATOR, ADMIN = signed_in("olu", "operator"), signed_in("ada", "admin")


def test_a_thread_is_open_to_its_owner_those_who_look_after_it_and_those_who_take_part(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[Principal, str | None, Attendance | None, Access | None]] = [
        (VISITOR, None, None, EVERYTHING),
        (AYA, None, None, EVERYTHING),
        (BEN, None, PRESENT, EVERYTHING),
        (BEN, None, GONE, PAST_WITH_ID),
        (AYA, "aya", None, EVERYTHING),
        (AYA, "aya", GONE, EVERYTHING),
        (OPERATOR, "aya", None, EVERYTHING),
        (OPERATOR, "aya", GONE, EVERYTHING),
        (ADMIN, "aya", None, EVERYTHING),
        (BEN, "aya", None, None),
        (signed_in("ben", "actions:operator"), "aya", None, None),
        (VISITOR, "aya", None, None),
        (BEN, "aya", PRESENT, PARTNER),
        (BEN, "aya", GONE, PAST),
    ]
    for principal, owner, attendance, access in cases:
        with subtests.test(principal=principal, owner=owner, attendance=attendance, access=access):
            assert decide_access(principal, owner, attendance) == access


@pytest.mark.parametrize(
    ("principal", "owner", "attendance", "granted", "access"),
    [
        (BEN, "aya", None, READ, READER),
        (BEN, "aya", None, WRITE, PARTNER),
        (BEN, "aya", None, FOR_A_WHILE, replace(READER, ends_at=60)),
        (BEN, "aya", PRESENT, FOR_A_WHILE, PARTNER),
        (BEN, "aya", GONE, READ, READER),
        (BEN, "aya", PRESENT, READ, PARTNER),
        (LINK, "aya", None, READ, GUEST_WHO_READS),
        (LINK, "aya", None, WRITE, GUEST),
        (LINK, "aya", None, None, None),
        (LINK, None, None, None, EVERYTHING),
        (AYA, "aya", None, READ, EVERYTHING),
    ],
)
def test_who_it_is_shared_with_does_what_it_is_shared_for_and_manages_nothing(
    principal: Principal,
    owner: str | None,
    attendance: Attendance | None,
    granted: Grant | None,
    access: Access | None,
) -> None:
    assert decide_access(principal, owner, attendance, granted) == access


@pytest.mark.parametrize(
    ("principal", "owner", "attendance", "asks"),
    [
        (VISITOR, "aya", None, False),
        (LINK, "aya", None, True),
        (LINK, None, None, False),
        (BEN, "aya", None, True),
        (BEN, "aya", GONE, True),
        (BEN, "aya", PRESENT, False),
        (BEN, None, None, False),
        (AYA, "aya", None, False),
        (OPERATOR, "aya", None, False),
    ],
)
def test_what_is_shared_is_asked_for_only_where_it_matters(
    principal: Principal, owner: str | None, attendance: Attendance | None, asks: bool
) -> None:
    assert needs_grant(principal, owner, attendance) is asks


@pytest.mark.parametrize(
    ("principal", "owner", "asks"),
    [(VISITOR, None, False), (VISITOR, "aya", False), (AYA, "aya", False), (BEN, "aya", True)],
)
def test_attendance_is_asked_for_only_where_it_matters(
    principal: Principal, owner: str | None, asks: bool
) -> None:
    assert needs_attendance(principal, owner) is asks


@pytest.mark.parametrize(
    ("access", "needs"),
    [
        (EVERYTHING, {AccessNeed.READ, AccessNeed.WRITE, AccessNeed.MANAGE}),
        (PARTNER, {AccessNeed.READ, AccessNeed.WRITE}),
        (PAST, {AccessNeed.READ}),
        (PAST_WITH_ID, {AccessNeed.READ}),
        (READER, {AccessNeed.READ}),
        (GUEST, {AccessNeed.READ, AccessNeed.WRITE}),
    ],
)
def test_what_a_caller_may_not_do_is_refused(access: Access, needs: set[AccessNeed]) -> None:
    for need in needs:
        access.check(need)
    for need in set(AccessNeed) - needs:
        with pytest.raises(Forbidden) as refused:
            access.check(need)
        assert ("left" in refused.value.message) is access.has_left


def test_who_has_left_is_shown_what_was_said_up_to_then() -> None:
    assert [PAST.shows(seq) for seq in (1, 3, 4)] == [True, True, False]
    assert PARTNER.shows(10**9)


@pytest.mark.parametrize(
    ("principal", "fork_owner", "is_claimed", "parent_owner", "may"),
    [
        (VISITOR, None, False, None, False),
        (AYA, None, False, None, False),
        (AYA, "aya", False, None, True),
        (AYA, "aya", True, None, False),
        (BEN, "aya", False, None, False),
        (OPERATOR, None, False, None, True),
        (BEN, None, False, "aya", True),
        (AYA, "aya", True, "aya", True),
    ],
)
def test_the_id_of_an_anonymous_parent_is_shown_to_its_holders(
    principal: Principal,
    fork_owner: str | None,
    is_claimed: bool,
    parent_owner: str | None,
    may: bool,
) -> None:
    told = may_know_parent(principal, fork_owner, parent_owner, is_claimed=is_claimed)
    assert told is may

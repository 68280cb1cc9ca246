"""Who may know and use a thread."""

from __future__ import annotations

import pytest

from aitp_desk.model.principal import Principal, PrincipalKind, anonymous, may_read_thread

VISITOR = anonymous("192.0.2.1")


def signed_in(name: str, *scopes: str) -> Principal:
    return Principal(name, PrincipalKind.AGENT, frozenset(scopes), "192.0.2.2")


@pytest.mark.parametrize(
    ("principal", "owner", "may"),
    [
        (VISITOR, None, True),
        (signed_in("aya"), None, True),
        (signed_in("aya", "threads"), "aya", True),
        (signed_in("ben", "threads", "actions"), "aya", False),
        (VISITOR, "aya", False),
        (signed_in("olu", "operator"), "aya", True),
        (signed_in("ada", "admin"), "aya", True),
        (signed_in("ben", "actions:operator"), "aya", False),
    ],
)
def test_a_thread_is_open_to_its_owner_and_those_who_look_after_it(
    principal: Principal, owner: str | None, may: bool
) -> None:
    assert may_read_thread(principal, owner) is may


def test_an_anonymous_caller_owns_nothing() -> None:
    assert VISITOR.is_anonymous
    assert VISITOR.owner is None
    assert not signed_in("aya").is_anonymous
    assert signed_in("aya").owner == "aya"

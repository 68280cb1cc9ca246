"""What is known of a caller."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous

VISITOR = make_anonymous("192.0.2.1")


def signed_in(name: str, *scopes: str) -> Principal:
    return Principal(name, PrincipalKind.AGENT, frozenset(scopes), "192.0.2.2")


def test_an_anonymous_caller_owns_nothing() -> None:
    assert VISITOR.is_anonymous
    assert VISITOR.owner is None
    assert not signed_in("aya").is_anonymous
    assert signed_in("aya").owner == "aya"

"""Checks the scopes of a credential."""

from __future__ import annotations

from aitp_desk.model.access.principal import (
    Principal,
    may_join_threads,
    may_operate_threads,
    may_use_threads,
)
from aitp_desk.model.calls.action import OpenTo, is_open
from aitp_desk.model.errors import NotAuthenticated, ScopeMissing

_THREADS = "This credential does not open threads. Use one with the scope 'threads'."


def check_scope(principal: Principal) -> None:
    """Refuse a caller whose credential does not open threads.

    Raises:
        ScopeMissing: the credential has other scopes only.
    """
    if not may_use_threads(principal):
        raise ScopeMissing(_THREADS, scope="threads")


def check_participation(principal: Principal) -> None:
    """Refuse a caller whose credential does not open the threads of others.

    Raises:
        ScopeMissing: the credential has other scopes only.
    """
    if not may_join_threads(principal):
        raise ScopeMissing(_THREADS, scope="threads")


def check_insights(principal: Principal) -> None:
    """Refuse a caller that may not read insights: they are for the operators of all threads.

    Raises:
        ScopeMissing: the credential has other scopes only.
    """
    if not may_operate_threads(principal):
        raise ScopeMissing("Insights are for operators.", scope="operator")


def check_access(principal: Principal, open_to: OpenTo, name: str, what: str) -> None:
    """Refuse a caller that may not use an action or a type of resources.

    Parameters:
        name: of the action or of the type of resources.
        what: the caller's name for it.

    Raises:
        NotAuthenticated: it is not open to callers without a credential.
        ScopeMissing: the caller's credential does not open it.
    """
    if is_open(principal.scopes, open_to, name):
        return
    scope = "operator" if open_to == "operators" else f"actions:{name}"
    if principal.is_anonymous:
        raise NotAuthenticated(
            f"{what} needs a credential with the scope {scope}.", reason="unproven"
        )
    raise ScopeMissing(
        f"Your credential does not open {what}. Use one with the scope '{scope}'.", scope=scope
    )


def check_operator(principal: Principal) -> None:
    """Refuse a caller that is no operator.

    Raises:
        NotAuthenticated: there is no credential.
        ScopeMissing: the credential has other scopes only.
    """
    if may_operate_threads(principal):
        return
    if principal.is_anonymous:
        raise NotAuthenticated("Only operators may do this. Send a key with the scope 'operator'.")
    raise ScopeMissing(
        "Only operators may do this. Use a credential with the scope 'operator'.",
        scope="operator",
    )

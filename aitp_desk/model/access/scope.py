"""Scopes: their names, and what they open.

``threads`` opens threads and their messages; ``actions`` every action, and ``actions:<name>`` one;
``operator`` and ``admin`` all of that, and the threads of others. ``sensitive`` opens sealed values
and nothing else, and no other scope opens them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from aitp_desk.model.errors import InvalidRequest

SENSITIVE: Final = "sensitive"
"""The scope that opens sealed values."""
SCOPES = ("threads", "actions", "operator", "admin", SENSITIVE)
"""All scopes except those of single actions."""
SCOPES_IN_WORDS = "threads, actions, actions:NAME, operator, admin and sensitive"
ACTION_NAME: Final = r"[a-z][a-z0-9_]{0,63}"
"""The pattern of action names."""
OPEN_SCOPE: Final = rf"threads|actions(?::{ACTION_NAME})?"
"""The pattern of scopes that strangers may have: they open no messages of others."""

_OPERATING = frozenset({"operator", "admin"})
_OPEN_SCOPE = re.compile(OPEN_SCOPE, re.ASCII)


def is_scope(text: str) -> bool:
    """Return whether a scope exists."""
    return text in _OPERATING or text == SENSITIVE or is_open_scope(text)


def is_open_scope(text: str) -> bool:
    """Return whether a scope exists, and strangers may have it."""
    return _OPEN_SCOPE.fullmatch(text) is not None


def covers_scope(held: Collection[str], scope: str) -> bool:
    """Return whether the held scopes include a scope.

    ``actions`` includes every ``actions:<name>``; the others include no other by name.
    """
    return scope in held or (scope.startswith("actions:") and "actions" in held)


def is_operator_scope(scopes: Collection[str]) -> bool:
    """Return whether these are the scopes of an operator."""
    return not _OPERATING.isdisjoint(scopes)


def opens_sealed_values(scopes: Collection[str]) -> bool:
    """Return whether these scopes open sealed values."""
    return SENSITIVE in scopes


def opens_threads(scopes: Collection[str]) -> bool:
    """Return whether these scopes open threads."""
    return "threads" in scopes or is_operator_scope(scopes)


def opens_action(scopes: Collection[str], name: str) -> bool:
    """Return whether these scopes open an action that needs a scope."""
    return covers_scope(scopes, f"actions:{name}") or is_operator_scope(scopes)


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes without duplicates, in order.

    Raises:
        InvalidRequest: a scope does not exist, or there is none.
    """
    checked = tuple(dict.fromkeys(scopes))
    if not checked:
        raise InvalidRequest(
            (f"A credential needs at least one scope: {SCOPES_IN_WORDS}."), param="scope"
        )
    for scope in checked:
        if not is_scope(scope):
            raise InvalidRequest(
                f"There is no scope {scope!r}; the scopes are {SCOPES_IN_WORDS}.", param="scope"
            )
    return checked

"""Scopes: what a credential opens. Here are their words, and what follows from them.

``threads`` opens threads and what is said on them; ``actions`` every action, and ``actions:<name>``
one; ``operator`` and ``admin`` all of that, and the threads of others. ``sensitive`` opens what is
sealed and nothing else, and no other scope does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from aitp_desk.model.errors import InvalidRequest

SENSITIVE: Final = "sensitive"
"""The scope that sealed values are read by."""
SCOPES = ("threads", "actions", "operator", "admin", SENSITIVE)
"""All but those of single actions."""
SCOPES_IN_WORDS = "threads, actions, actions:NAME, operator, admin and sensitive"
ACTION_NAME: Final = r"[a-z][a-z0-9_]{0,63}"
"""The pattern of what an action is called."""
OPEN_SCOPE: Final = rf"threads|actions(?::{ACTION_NAME})?"
"""The pattern of a scope that strangers may have: it gives nobody a part in what others say."""

_OPERATING = frozenset({"operator", "admin"})
_OPEN_SCOPE = re.compile(OPEN_SCOPE, re.ASCII)


def is_scope(text: str) -> bool:
    """Whether there is such a scope."""
    return text in _OPERATING or text == SENSITIVE or is_open_scope(text)


def is_open_scope(text: str) -> bool:
    """Whether there is such a scope, and strangers may have it."""
    return _OPEN_SCOPE.fullmatch(text) is not None


def covers_scope(held: Collection[str], scope: str) -> bool:
    """Whether whoever may give these scopes may give this one.

    ``actions`` holds every ``actions:<name>``; the others hold no other by name.
    """
    return scope in held or (scope.startswith("actions:") and "actions" in held)


def is_operator_scope(scopes: Collection[str]) -> bool:
    """Whether these scopes are those of somebody who runs the desk."""
    return not _OPERATING.isdisjoint(scopes)


def opens_sealed_values(scopes: Collection[str]) -> bool:
    """Whether these scopes open what is sealed."""
    return SENSITIVE in scopes


def opens_threads(scopes: Collection[str]) -> bool:
    """Whether these scopes open threads."""
    return "threads" in scopes or is_operator_scope(scopes)


def opens_action(scopes: Collection[str], name: str) -> bool:
    """Whether these scopes open an action that is not open to everybody."""
    return covers_scope(scopes, f"actions:{name}") or is_operator_scope(scopes)


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes, each once, in their order.

    Raises:
        InvalidRequest: one of them does not exist, or there is none.
    """
    checked = tuple(dict.fromkeys(scopes))
    if not checked:
        raise InvalidRequest(f"A credential needs a scope: {SCOPES_IN_WORDS}.", param="scope")
    for scope in checked:
        if not is_scope(scope):
            raise InvalidRequest(
                f"There is no scope {scope!r}; the scopes are {SCOPES_IN_WORDS}.", param="scope"
            )
    return checked

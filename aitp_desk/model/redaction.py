"""Redacts secrets in use from the log, from errors, and from responses.

Code that works with secrets registers them. Without registered secrets nothing is searched or
replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from aitp_desk.model.calls.secret_places import HIDDEN

SHORTEST = 4
"""A shorter secret, in characters, is redacted only if it is the whole text: it would match much
unrelated text.
"""

_hidden: ContextVar[tuple[str, ...]] = ContextVar("hidden", default=())


@contextmanager
def hide_secrets(secrets: Iterable[str]) -> Iterator[None]:
    """Redact texts while the context lasts, also in tasks and threads started in it."""
    more = tuple(filter(None, secrets))
    if not more:
        yield
        return
    token = _hidden.set((*_hidden.get(), *more))
    try:
        yield
    finally:
        _hidden.reset(token)


def is_hiding() -> bool:
    """Return whether any secrets are registered now."""
    return bool(_hidden.get())


def redact_text(text: str) -> str:
    """Return a text without registered secrets, in plain, JSON and ``repr`` form."""
    for secret in _hidden.get():
        if text == secret:
            return HIDDEN
        if len(secret) < SHORTEST:
            continue
        said = repr(secret)[1:-1]
        for form in {secret, *(json.dumps(one)[1:-1] for one in (secret, said)), said}:
            text = text.replace(form, HIDDEN)
    return text


def redact_json(value: Any) -> Any:
    """Return a JSON value without registered secrets in any of its texts."""
    if not _hidden.get():
        return value
    match value:
        case str():
            return redact_text(value)
        case dict():
            return {redact_text(name): redact_json(member) for name, member in value.items()}
        case list() | tuple():
            return [redact_json(item) for item in value]
        case _:
            return value

"""Hiding secrets while they are worked with: from the log, from errors, from what is told.

Whoever works with secrets says so. Until then nothing is hidden, and nothing is looked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from aitp_desk.model.calls.secret_places import HIDDEN

SHORTEST = 4
"""What is shorter, in characters, is hidden only where it stands alone: it would be found in much
that has nothing to do with it."""

_hidden: ContextVar[tuple[str, ...]] = ContextVar("hidden", default=())


@contextmanager
def hide_secrets(secrets: Iterable[str]) -> Iterator[None]:
    """Hide texts for as long as the context lasts, in the tasks and threads begun in it as well."""
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
    """Whether anything is hidden now."""
    return bool(_hidden.get())


def redact_text(text: str) -> str:
    """A text without what is hidden now, as it is and as JSON and ``repr`` write it."""
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
    """JSON without what is hidden now in any of its texts."""
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

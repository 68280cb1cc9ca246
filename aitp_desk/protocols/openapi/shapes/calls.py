"""Calls of actions by their arguments."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question that is answered from the site's content."""

    query: str
    locale: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None


class CallStatus(msgspec.Struct):
    """How a call stands that goes on by itself."""

    id: str
    capability: str
    status: Literal["accepted", "pending", "success", "failed", "expired"]
    result: Any = None
    poll: str | None = None
    callback: dict[str, str] | None = None
    eta_seconds: int | None = None
    progress: str | None = None
    error: dict[str, str] | None = None
    effects: list[dict[str, str]] | None = None

"""Calls of actions by their arguments."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question that is answered from the site's content, in a session or as the first of one."""

    query: str
    locale: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None
    session_id: str | None = None
    clarification: str | None = None


class CallRecovery(msgspec.Struct):
    """What helps after a failure, in a sentence, and the capabilities that do it."""

    description: str
    actions: list[str] = []


class CallFailure(msgspec.Struct):
    """Why a call failed."""

    kind: str
    message: str
    param: str | None = None
    recovery: CallRecovery | None = None


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
    error: CallFailure | None = None
    effects: list[dict[str, str]] | None = None

"""Questions and their answers (AHP 0.1, section 6)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class AHPContext(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be known of a question (AHP 0.1, section 6.1)."""

    requesting_agent: str | None = None
    user_intent: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None
    callback_url: str | None = None
    locale: str | None = None


class AHPRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A question to a capability (AHP 0.1, section 6.1)."""

    capability: str
    query: str
    ahp: str | None = None
    session_id: str | None = None
    clarification: str | None = None
    context: AHPContext | None = None


class AHPAnswer(msgspec.Struct):
    """What is answered (AHP 0.1, section 6.2)."""

    content_type: str
    answer: str
    sources: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    besides: str = ""


class AHPResponse(msgspec.Struct):
    """What comes of a question or a call (AHP 0.1, sections 6.2 to 6.4 and 9.2)."""

    status: Literal["success", "clarification_needed", "accepted", "pending", "failed", "expired"]
    session_id: str | None = None
    response: AHPAnswer | None = None
    clarification: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    eta_seconds: int | None = None
    poll: str | None = None
    progress: str | None = None

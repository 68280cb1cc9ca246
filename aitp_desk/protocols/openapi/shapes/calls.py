"""Calls of actions by their arguments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aitp_desk.model.money import Money
from aitp_desk.protocols.base import question_members as questions


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question that is answered from the site's content, in a session or as the first of one."""

    query: Annotated[str, Meta(description=questions.QUERY)]
    locale: Annotated[str | None, Meta(description=questions.LOCALE)] = None
    max_tokens: Annotated[int | None, Meta(description=questions.TOKENS)] = None
    accept_types: Annotated[list[str] | None, Meta(description=questions.ACCEPTS)] = None
    session_id: Annotated[str | None, Meta(description=questions.SESSION)] = None
    clarification: Annotated[str | None, Meta(description=questions.CLARIFICATION)] = None


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


class PaymentPage(msgspec.Struct):
    """A page where a person pays."""

    title: str
    url: str


class HowToPay(msgspec.Struct):
    """How something is paid for that has to be paid first."""

    quote_id: str | None = None
    price: Money | None = None
    expires_at: str | None = None
    message: dict[str, Any] | None = None
    x402: list[dict[str, Any]] | None = None
    links: list[PaymentPage] | None = None
    call_id: str | None = None
    thread_id: str | None = None
    pay_at: str | None = None


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
    price: Money | None = None
    payment: HowToPay | None = None

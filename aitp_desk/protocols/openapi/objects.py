"""Defines the JSON objects of calls by their arguments.

The wire module encodes them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.agent.base import Relevance
from aitp_desk.model.calls.call import CallError, SideEffect
from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money
from aitp_desk.protocols.base import question_members as questions
from aitp_desk.protocols.base.payments.objects import HowToPay


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question answered from the site's content. It continues a session or begins one."""

    query: Annotated[str, Meta(description=questions.QUERY)]
    locale: Annotated[str | None, Meta(description=questions.LOCALE)] = None
    max_tokens: Annotated[int | None, Meta(description=questions.TOKENS)] = None
    accept_types: Annotated[list[str] | None, Meta(description=questions.ACCEPTS)] = None
    session_id: Annotated[str | None, Meta(description=questions.SESSION)] = None
    clarification: Annotated[str | None, Meta(description=questions.CLARIFICATION)] = None


class Callback(msgspec.Struct):
    """Where the outcome of a call is sent."""

    method: str
    url: str


class CallSource(msgspec.Struct):
    """A source of an answer."""

    title: str
    url: str
    relevance: Relevance


class CallAnswer(msgspec.Struct):
    """A result as text, with the members of an AHP answer. See AHP 0.1, section 6.2."""

    content_type: str
    answer: str
    sources: Sequence[CallSource]


class CallStatus(msgspec.Struct, kw_only=True):
    """The status of a call: its result, its progress, its error, or how to pay for it.

    Parameters:
        result: in the form of the action's schema.
        poll: the address of the status.
        progress: of an unfinished call, as text.
    """

    id: str
    capability: str
    status: Literal["accepted", "pending", "success", "failed", "expired"]
    result: Any = UNSET
    response: CallAnswer | UnsetType = UNSET
    effects: Sequence[SideEffect] | UnsetType = UNSET
    error: CallError | UnsetType | None = UNSET
    progress: str | UnsetType = UNSET
    eta_seconds: int | UnsetType | None = UNSET
    poll: str | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    payment: HowToPay | UnsetType = UNSET
    callback: Callback | UnsetType = UNSET


class Problem(msgspec.Struct, kw_only=True):
    """A refusal as problem details (RFC 9457).

    Parameters:
        code: the kind of the error.
        retry_after: seconds.
        id: of the call that has failed.
        price: to be agreed to, or to be paid.
    """

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    code: str
    param: str | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET
    recovery: Recovery | UnsetType = UNSET
    id: str | UnsetType = UNSET
    price: Money | UnsetType | None = UNSET
    payment: HowToPay | UnsetType = UNSET
    available_capabilities: Sequence[str] | UnsetType = UNSET
    available_types: Sequence[str] | UnsetType = UNSET


OBJECTS: tuple[type[msgspec.Struct], ...] = (Question, CallStatus, Problem)
"""The bodies of requests and responses; what they contain follows from them."""

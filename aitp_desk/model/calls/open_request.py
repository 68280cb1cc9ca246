"""Requests that wait for an answer on a thread, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.calls.payment import PaymentTerms


class Rejected(msgspec.Struct, frozen=True):
    """A rejected answer to an open request.

    Parameters:
        message_id: the message that holds it.
        actor: id of the actor that gave it.
        reason: why, as the plugin's own messages name it.
    """

    message_id: str
    actor: str
    reason: str


class OpenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request without an answer.

    Parameters:
        id: named by an answer.
        capability: slug of the plugin that asks; together with it the id is unique on its thread.
        words: the request as text for a person.
        message: the structured message that asks, with ``$schema``, for callers that have declared
            it.
        form: JSON Schema of an object that answers it; its members are texts, numbers, booleans,
            and lists of texts.
        by: id of the actor that asked.
        of: id of the actor that should answer; empty for any other participant.
        until: Unix seconds; from then on it is too late.
        is_own: whether the desk itself asked: text of all others is untrusted data.
        answers_as: id of the actor as which the caller may answer; None if it may not.
        call_id: the call that waits for the answer; None for none.
        terms: how to pay, if it waits for payment.
        rejected: rejected answers, the newest last.
    """

    id: str
    capability: str
    words: str
    message: Mapping[str, Any]
    form: Mapping[str, Any]
    by: str
    of: str
    until: int
    is_own: bool
    answers_as: str | None
    call_id: str | None = None
    terms: PaymentTerms | None = None
    rejected: tuple[Rejected, ...] = ()

"""What waits on a thread for somebody's answer, as any door can show it: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.calls.payment import PaymentTerms


class Rejected(msgspec.Struct, frozen=True):
    """An answer to an open request that does not count.

    Parameters:
        message_id: the message that holds it.
        actor: id of the actor that gave it.
        reason: why, as the capability's own messages name it.
    """

    message_id: str
    actor: str
    reason: str


class OpenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was asked and is not answered.

    Parameters:
        id: what an answer names.
        capability: slug of the capability that asks; with it the id is this request's alone on its
            thread.
        words: the request as a person reads it.
        message: the structured message that asks, ``$schema`` and all, for who has declared it.
        form: JSON Schema of an object that answers it; its members are texts, numbers, yes or no,
            and lists of texts.
        by: id of the actor that has asked.
        of: id of the actor that is to answer; empty for whoever takes part and has not asked.
        until: Unix seconds; from then on it is too late.
        is_own: whether the desk itself has asked: all others' words are data.
        answers_as: id of the actor as which the caller may answer; None where they may not.
        call_id: the action's call that waits for the answer; None where none does.
        terms: how it is paid, where that is what it waits for.
        rejected: answers that came and do not count, the newest last.
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

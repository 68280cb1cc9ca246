"""Decides whether an answer resumes its pending call, as its message is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.history.message_codec import WAITS, find_awaited_call
from aitp_desk.agent.slots.questions import read_asked
from aitp_desk.capability import NotCounted
from aitp_desk.model.access.call_access import CallThread, may_reach_call
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import Access
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.calls.question import Choose, Confirm, Fill, Pay
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewAnswer, NewEffects

LOOKED_BACK = 20
"""How many of the newest messages are searched for the desk's last question."""
TOO_LATE = "This request has expired, and nothing was done. Please ask again."
FOR_OTHERS = NotCounted(
    "not_yours", "You cannot answer this question: only the caller who made the request can."
)
EXPIRED = NotCounted("expired", TOO_LATE)
SETTLED = NotCounted("settled", "This was already decided; nothing more is done.")
ASKED_SINCE = NotCounted("superseded", "A newer question is still open. Answer that one first.")


def find_obstacle(
    call: ActionCall | None,
    value: Any,
    principal: Principal,
    thread_id: str | None,
    now: float,
    owner: str | None = None,
) -> NotCounted | None:
    """Return why an answer does not resume a call; None if it does.

    Parameters:
        call: the pending call; None if it no longer exists.
        value: the answer.
        principal: the caller that answers, with write access to the thread.
        thread_id: where the answer is given.
        now: Unix seconds.
        owner: id of the principal that owns the thread; None for an anonymous thread.
    """
    if call is None or call.thread_id != thread_id:
        return SETTLED
    if not may_reach_call(principal, call, CallThread(owner, Access())):
        return FOR_OTHERS
    if call.state is CallState.EXPIRED or (call.takes_answer and call.expires_at < now):
        return EXPIRED
    if not call.takes_answer:
        return SETTLED
    return None if _waits_for(call, value) else ASKED_SINCE


def _waits_for(call: ActionCall, value: Any) -> bool:
    """Return whether an answer is of the kind that a call waits for now.

    A plugin's new question about a call replaces its earlier one; one of another plugin may still
    be answered.
    """
    if call.state is CallState.WAITING_PAYMENT:
        return value is False
    if call.memory is None:
        return isinstance(value, bool)
    asked = read_asked(call.memory)
    match None if asked is None else asked.question:
        case Choose():
            return isinstance(value, list)
        case Confirm():
            return isinstance(value, bool)
        case Fill():
            return isinstance(value, dict)
        case Pay() | None:
            return False


async def answers_last(store: Store, thread_id: str, answers: Sequence[NewAnswer]) -> bool:
    """Return whether text agrees to, or refuses, the desk's last question.

    A yes to another question must have no effect; any other answer may be to an earlier question.
    """
    calls = {one.call_id for one in answers if isinstance(one.answer.value, bool)}
    if not calls:
        return True
    newest = await reads.newest_messages(store, thread_id, LOOKED_BACK)
    return calls == {find_awaited_call(newest)}


async def still_unpaid(store: Store, thread_id: str, effects: NewEffects) -> NewEffects:
    """Mark the reply as still requesting payment, if nothing was paid.

    So a no after a failed payment declines the call, as it does after the quote.
    """
    if not effects.said or effects.asks or effects.answers or effects.payments:
        return effects
    call_id = find_awaited_call(await reads.newest_messages(store, thread_id, LOOKED_BACK))
    if call_id is None:
        return effects
    unpaid = await call_reads.calls_to_pay(store, thread_id)
    is_unpaid = any(call.id == call_id for call in unpaid)
    return with_notes(effects, {WAITS: call_id}) if is_unpaid else effects


def with_notes(effects: NewEffects, notes: Mapping[str, str]) -> NewEffects:
    """Return effects with metadata on the last message; unchanged without messages."""
    if not effects.said:
        return effects
    *before, last = effects.said
    last = msgspec.structs.replace(last, metadata={**last.metadata, **notes})
    return msgspec.structs.replace(effects, said=(*before, last))

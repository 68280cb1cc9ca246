"""Converts calls of actions to and from columns."""

from __future__ import annotations

from typing import Any

import msgspec

from aitp_desk.model.calls.call import (
    ActionCall,
    Answered,
    CallError,
    CallPayment,
    CallState,
    SideEffect,
)
from aitp_desk.model.money import Money
from aitp_desk.store.base import Params, Row
from aitp_desk.store.rows.threads import read_asker, to_json, write_asker


class _Answer(msgspec.Struct, frozen=True):
    """An answer, as stored in its column."""

    value: Any
    by: str | None
    message_id: str


_arguments = msgspec.json.Decoder(dict[str, Any])
_any = msgspec.json.Decoder()
_money = msgspec.json.Decoder(Money)
_effects = msgspec.json.Decoder(tuple[SideEffect, ...])
_error = msgspec.json.Decoder(CallError)
_answer = msgspec.json.Decoder(_Answer)
_payment = msgspec.json.Decoder(CallPayment)


def write_call(call: ActionCall) -> Params:
    """Return the parameters of the statements ``add_call`` and ``move_call``."""
    return {
        "id": call.id,
        "desk": call.desk,
        "action": call.action,
        "state": call.state.value,
        "thread_id": call.thread_id,
        "session_id": call.session_id,
        "principal": call.asked_by.party,
        "asked_by": write_asker(call.asked_by),
        "source": call.source,
        "arguments": to_json(call.arguments),
        "memory": None if call.memory is None else to_json(call.memory),
        "intent": call.intent,
        "price": None if call.price is None else to_json(call.price),
        "callback_url": call.callback_url,
        "progress": call.progress,
        "result": to_json(call.result),
        "text": call.text,
        "effects": to_json(call.effects),
        "error": None if call.error is None else to_json(call.error),
        "created_at": call.created_at,
        "expires_at": call.expires_at,
        "ended_at": call.ended_at,
        "run_id": call.run_id,
        "tool_call_id": call.tool_call_id,
        "accepted_at": call.accepted_at,
        "answer": None if call.answer is None else answer_to_json(call.answer),
        "payment": None if call.payment is None else to_json(call.payment),
        "held_by": call.held_by,
        "spent": None if call.spent is None else to_json(call.spent),
        "quote_id": (call.payment.quote_id or None) if call.payment is not None else None,
    }


def answer_to_json(answer: Answered) -> str:
    """Write an ``answer`` column."""
    return to_json(_Answer(answer.value, write_asker(answer.by), answer.message_id))


def _answer_of(text: str | None) -> Answered | None:
    if text is None:
        return None
    kept = _answer.decode(text)
    return Answered(kept.value, read_asker(kept.by), kept.message_id)


def read_call_state(row: Row) -> CallState:
    """Read the state of a call; its content may have been erased."""
    return CallState(row[3])


def read_call(row: Row) -> ActionCall:
    """Read a call from a row of the statement ``call`` and similar ones."""
    return ActionCall(
        id=row[0],
        desk=row[1],
        action=row[2],
        state=read_call_state(row),
        asked_by=read_asker(row[4]),
        source=row[5],
        created_at=row[6],
        expires_at=row[7],
        arguments=_arguments.decode(row[8]),
        thread_id=row[9],
        session_id=row[10],
        memory=None if row[11] is None else _arguments.decode(row[11]),
        intent=row[12],
        price=None if row[13] is None else _money.decode(row[13]),
        callback_url=row[14],
        progress=row[15],
        result=_any.decode(row[16]),
        text=row[17],
        effects=_effects.decode(row[18]),
        error=None if row[19] is None else _error.decode(row[19]),
        ended_at=row[20],
        run_id=row[21],
        tool_call_id=row[22],
        accepted_at=row[23],
        answer=_answer_of(row[24]),
        payment=None if row[25] is None else _payment.decode(row[25]),
        held_by=row[26],
        spent=None if row[27] is None else _money.decode(row[27]),
    )

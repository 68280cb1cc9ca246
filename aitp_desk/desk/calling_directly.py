"""Calling an action by its arguments, in no session and mostly on no thread.

What a program knows to call it calls by name and arguments, and is told what came of it, or where
to ask after it. There are no words to read and nobody to ask back: what is missing is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from aitp_desk.desk.exchange import CallStatus
from aitp_desk.desk.invocation import (
    Accepted,
    Beside,
    Consent,
    ConsentNeeded,
    Ended,
    Invocation,
    nothing_beside,
)
from aitp_desk.desk.invoking import Invoking
from aitp_desk.desk.limits import Allowance, Limiter
from aitp_desk.desk.repeats import Repeats, Request, opening_scope
from aitp_desk.model.action import Action
from aitp_desk.model.call import CALL_PREFIX, CONFIRMATION, ActionCall, CallState, Source
from aitp_desk.model.errors import (
    CallNotFound,
    ConsentMissing,
    IdempotencyConflict,
    IdempotencyInFlight,
    MissingField,
)
from aitp_desk.model.ids import id_from
from aitp_desk.model.money import Money
from aitp_desk.model.principal import Principal
from aitp_desk.store.records import Once

INTENT = "_intent"
"""The reserved member of arguments that says what a call is for."""
CALLBACK = "_callback_url"
"""The reserved member that says where the end of an ``async`` call is told."""


class DirectCall(msgspec.Struct, frozen=True):
    """A call that is asked for by name and arguments.

    Parameters:
        arguments: as JSON has them.
        consent: what its caller has agreed to; None for nothing.
        intent: what for, in the caller's words.
        callback_url: where its end is told, if it goes on by itself.
        written_by: whether a program knows the arguments, or a model has written them: then what
            is grave has to be agreed to as well.
        thread_id: the thread that it belongs to and goes with; None for none. Its end is said there
            where it goes on by itself.
    """

    name: str
    arguments: Mapping[str, Any]
    consent: Consent | None = None
    intent: str | None = None
    callback_url: str | None = None
    written_by: Source = "arguments"
    thread_id: str | None = None


class Begun(msgspec.Struct, frozen=True):
    """A call that is about to be made.

    Parameters:
        id: what it is to be called, so that a repeat finds it; None for a new id.
        before: how the call stands that this repeats; None where it repeats none.
    """

    id: str | None
    before: CallStatus | None


class CallingDirectly:
    """Calls actions for those who know what to call.

    Parameters:
        check_callback: refuses an address that a caller may not be told at, by what holds it.

    Attributes:
        requires_intent: whether it must be said what for, where something may change.
    """

    def __init__(
        self,
        invoking: Invoking,
        *,
        limiter: Limiter,
        repeats: Repeats,
        requires_intent: bool,
        check_callback: Callable[[Principal, str, str], None],
    ) -> None:
        self._invoking = invoking
        self._limiter = limiter
        self._repeats = repeats
        self.requires_intent = requires_intent
        self._check_callback = check_callback

    async def call(
        self,
        principal: Principal,
        asked: DirectCall,
        request: Request,
        allowance: Allowance | None,
        beside: Beside = nothing_beside,
    ) -> CallStatus:
        """Call an action.

        A repeat (``Idempotency-Key``) calls nothing: it is told how the call of the first time
        stands, for as long as that is kept. What was refused before it began may be tried again.

        Parameters:
            allowance: what the caller has left; it becomes less where actions have less.
            beside: what else is written with the call, where it is made and no repeat.

        Raises:
            whatever :meth:`aitp_desk.desk.invoking.Invoking.invoke` raises;
            Forbidden: the agent that the caller is may not call this action.
            RateLimited: too many actions were called.
            MissingField: it was not said what for.
            InvalidRequest: nobody is told at the address that was given.
            ConsentMissing: it costs something, or is grave, and that was not agreed to.
            IdempotencyConflict, IdempotencyInFlight: the key is taken.
        """
        if allowance is not None:
            allowance.check_action(asked.name)
        async with self.once(principal, asked, request) as begun:
            if begun.before is not None:
                return begun.before
            return await self._call(principal, asked, begun.id, allowance, beside)

    @asynccontextmanager
    async def once(
        self, principal: Principal, asked: DirectCall, request: Request
    ) -> AsyncIterator[Begun]:
        """Hold the request's key while a call is made with it, here or in a conversation.

        Raises:
            UnknownAction, NotAuthenticated, ScopeMissing: the caller cannot call this action.
            MissingField: it was not said what for.
            InvalidRequest: the key is none that can be taken.
            IdempotencyConflict, IdempotencyInFlight: the key is taken.
        """
        action = self._invoking.find(principal, asked.name).action
        with self._repeats.once(request, opening_scope(principal, request.key)) as once:
            id_ = None if once is None else self._id_of(once)
            before = None if id_ is None else await self._before(principal, asked, id_)
            says = bool((asked.intent or "").strip())
            if before is None and self.requires_intent and action.kind != "query" and not says:
                told = f"Say in {INTENT} what {action.name} is called for."
                raise MissingField(told, param=INTENT)
            yield Begun(id_, before)

    async def status(self, principal: Principal, name: str, call_id: str) -> CallStatus:
        """How a call of the caller's stands.

        Raises:
            CallNotFound: there is none, or it is somebody else's.
        """
        call = await self._invoking.calls.made_by(call_id, name, principal)
        if call is None:
            raise CallNotFound("There is no such call of yours.", param="call_id")
        return await self._status(call)

    async def stands(self, call_id: str) -> CallStatus | None:
        """How a call stands, whosever it is; None where there is none."""
        call = await self._invoking.calls.find(call_id)
        return None if call is None else await self._status(call)

    async def _call(
        self,
        principal: Principal,
        asked: DirectCall,
        id_: str | None,
        allowance: Allowance | None,
        beside: Beside,
    ) -> CallStatus:
        action = self._invoking.action(asked.name)
        callback_url = asked.callback_url if action.kind == "async" else None
        if callback_url is not None:
            self._check_callback(principal, callback_url, CALLBACK)
        if action.kind != "query":
            self._limiter.count_action(principal, allowance)
        invocation = Invocation(
            action.name,
            asked.arguments,
            asked.written_by,
            asked.consent,
            asked.intent,
            callback_url,
            thread_id=asked.thread_id,
            id=id_,
        )
        match await self._invoking.invoke(principal, invocation, beside=beside):
            case Ended(call):
                return await self._status(call)
            case Accepted(call, eta_seconds):
                return CallStatus(call, eta_seconds)
            case ConsentNeeded(_, price):
                raise _consent_missing(action, price)

    async def _before(self, principal: Principal, asked: DirectCall, id_: str) -> CallStatus | None:
        """How the call stands that this repeats; None where it repeats none."""
        call = await self._invoking.calls.find(id_)
        if call is None:
            return None
        known = call.asked_by.id, call.action, call.arguments
        if known != (principal.id, asked.name, asked.arguments):
            raise IdempotencyConflict(
                "This Idempotency-Key was used with another call. Use a new key for a new one.",
                param="Idempotency-Key",
            )
        if call.state is CallState.STARTED and call.accepted_at is None:
            raise IdempotencyInFlight(
                "The first call with this Idempotency-Key is still at work.",
                param="Idempotency-Key",
                retry_after=1,
            )
        return await self._status(call)

    async def _status(self, call: ActionCall) -> CallStatus:
        if not call.is_over:
            return CallStatus(call, await self._invoking.calls.seconds_left(call))
        is_done = call.state is CallState.SUCCEEDED
        return CallStatus(call, offer=self._invoking.offer(call) if is_done else None)

    def _id_of(self, once: Once) -> str:
        """What a call with this key is called, so that its repeat finds it."""
        return id_from(CALL_PREFIX, 0, self._repeats.mark(once))


def _consent_missing(action: Action, price: Money | None) -> ConsentMissing:
    what = f"{action.name} costs {price}" if price else f"{action.name} has to be agreed to"
    to_what = "to that price" if price else "to it"
    return ConsentMissing(
        f"{what}. Nothing was done: agree {to_what} by the member {CONFIRMATION}.",
        param=CONFIRMATION,
        price=price,
    )

"""Calls an action by its arguments, outside sessions and mostly without a thread.

A program calls an action by name and arguments, and receives its result, or an id to poll. There is
no dialogue: a missing argument is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from aitp_desk.desk.access.idempotency import (
    IdempotencyKeys,
    RequestInfo,
    creation_scope,
    payment_scope,
)
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Consent,
    ConsentRequired,
    ExtraWrites,
    Invocation,
    PaymentNeeded,
    write_no_messages,
)
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.payment_token import digest_payment, get_quote_id
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.desk.payments.checkout import Checkout
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import (
    CALL_PREFIX,
    CONFIRMATION,
    PAYMENT,
    ActionCall,
    CallState,
    Source,
)
from aitp_desk.model.errors import (
    CallNotFound,
    ConsentMissing,
    IdempotencyConflict,
    IdempotencyInFlight,
    MissingField,
    PaymentRequired,
    PreconditionFailed,
)
from aitp_desk.model.ids import id_from
from aitp_desk.model.money import Money
from aitp_desk.store.records.threads import IdempotencyRecord

INTENT = "_intent"
"""The reserved member of arguments that states the intent of a call."""
RETRY_SECONDS = 5
CALLBACK = "_callback_url"
"""The reserved member with the address that is notified of the end of an ``async`` call."""


class DirectCall(msgspec.Struct, frozen=True):
    """A call requested by name and arguments.

    Parameters:
        arguments: as JSON has them.
        consent: what its caller has agreed to; None for nothing.
        intent: the purpose, in the caller's words.
        callback_url: notified of the call's end, if it continues after the response.
        written_by: whether a program supplied the arguments, or a model wrote them; in the second
            case actions with grave effects need consent as well.
        thread_id: the thread that it belongs to, and is deleted with; None for none. If the call
            continues after the response, its end is posted there.
        payment: a payment message (:mod:`aitp_desk.desk.calls.payment_token`); None for none.
        refused: why the payment that came with it was rejected; empty if none came.
    """

    name: str
    arguments: Mapping[str, Any]
    consent: Consent | None = None
    intent: str | None = None
    callback_url: str | None = None
    written_by: Source = "arguments"
    thread_id: str | None = None
    payment: Mapping[str, Any] | None = None
    refused: str = ""


class PreparedCall(msgspec.Struct, frozen=True):
    """A call that is about to be made.

    Parameters:
        action: the called one.
        id: the id to use, so that a repeat finds the call; None for a new id.
        before: the status of the call that this repeats; None if it repeats none.
    """

    action: Action
    id: str | None
    before: CallStatus | None


class DirectCalls:
    """Calls actions for programs.

    Parameters:
        check_callback: refuses a callback address, naming the parameter that holds it.
        checkout: handles the payment of prepaid calls.

    Attributes:
        requires_intent: whether calls that may change something must state their intent.
    """

    def __init__(
        self,
        invoker: ActionInvoker,
        *,
        limiter: RateLimiter,
        idempotency: IdempotencyKeys,
        requires_intent: bool,
        check_callback: Callable[[Principal, str, str], None],
        checkout: Checkout,
    ) -> None:
        self._invoker = invoker
        self._checkout = checkout
        self._limiter = limiter
        self._idempotency = idempotency
        self.requires_intent = requires_intent
        self._check_callback = check_callback

    async def call(
        self,
        principal: Principal,
        asked: DirectCall,
        request: RequestInfo,
        allowance: Allowance | None = None,
        extra: ExtraWrites | None = None,
    ) -> CallStatus:
        """Call an action.

        A repeat (``Idempotency-Key``) calls nothing: it returns the status of the first call, as
        long as that is kept. A call that was refused before it began may be repeated. A payment
        that names a quote pays the quoted call, and no new call begins; a repeat returns that
        call's status. A payment that names no quote pays the new call.

        Parameters:
            allowance: the caller's remaining rate limit; reduced if actions have less.
            extra: builds other statements of the same commit; not for a repeat.

        Raises:
            as :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke`.
            Forbidden: the calling agent may not call this action.
            RateLimited: too many actions were called.
            MissingField: the intent is missing.
            InvalidRequest: the callback address is refused.
            ConsentMissing: it has a price or grave effects, and consent is missing.
            PaymentRequired: it must be paid first, and is not.
            PreconditionFailed: the payment is for another call.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
        """
        if allowance is not None:
            allowance.check_action(asked.name)
        quote_id = None if asked.payment is None else get_quote_id(asked.payment)
        async with self.hold_key(principal, asked, request) as begun:
            if quote_id is not None:
                call = await self._quoted(principal, asked, quote_id)
                if await self._holds(principal, asked, call):
                    return await self._pay_or_tell(principal, call, asked.payment)
                why = await self._pay_unheld(principal, asked, call)
                if isinstance(why, CallStatus):
                    return why
                # continue without the payment, and report why it was rejected
                asked = msgspec.structs.replace(asked, payment=None, refused=why)
            if begun.before is None:
                return await self._call(principal, asked, begun, allowance, extra)
            call = begun.before.call
            if call.state is CallState.WAITING_PAYMENT:
                return await self._pay(principal, call, asked.payment, asked.refused)
            if asked.payment is not None and call.payment is not None:
                return await self._status(await self._checkout.settlement.wait_settled(call))
            return begun.before

    def redact_call(self, asked: DirectCall, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a call as its caller wrote it, with secrets replaced.

        Parameters:
            written: with the arguments below ``arguments``.
        """
        shown = self._invoker.secrets.redact_arguments(asked.name, asked.arguments)
        if shown == asked.arguments:
            return written
        given = written.get("arguments", {})
        return {**written, "arguments": {**given, **shown}}

    @asynccontextmanager
    async def hold_key(
        self, principal: Principal, asked: DirectCall, request: RequestInfo
    ) -> AsyncIterator[PreparedCall]:
        """Hold the idempotency key of a request during its call.

        The call is direct or in a conversation. A payment that names no quote is a key too.

        Raises:
            UnknownAction, NotAuthenticated, ScopeMissing: the caller cannot call this action.
            MissingField: the intent is missing.
            InvalidRequest: the key is invalid.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
        """
        action = self._invoker.find(principal, asked.name).action
        scope = "" if request.key is None else creation_scope(principal, request.key)
        payment = asked.payment
        pays = False
        if request.key is None and payment is not None and get_quote_id(payment) is None:
            request = msgspec.structs.replace(request, key=digest_payment(payment))
            scope = payment_scope(principal)
            pays = True
        with self._idempotency.hold_key(request, scope) as idempotency:
            id_ = None if idempotency is None else self._id_of(idempotency)
            before = None if id_ is None else await self._before(principal, asked, id_, pays)
            says = bool((asked.intent or "").strip())
            if before is None and self.requires_intent and action.kind != "query" and not says:
                told = f"{INTENT} must state the purpose of calling {action.name}."
                raise MissingField(told, param=INTENT)
            yield PreparedCall(action, id_, before)

    async def get_own_call(self, principal: Principal, name: str, call_id: str) -> CallStatus:
        """Return the status of a call of the caller's.

        Raises:
            CallNotFound: it does not exist, or belongs to another principal.
        """
        call = await self._invoker.calls.find_direct_call(call_id, name, principal)
        if call is None:
            raise CallNotFound("You have no call with this id.", param="call_id")
        return await self._status(call)

    async def pay_call(
        self, principal: Principal, call_id: str, payment: Mapping[str, Any]
    ) -> CallStatus:
        """Pay for a call of the caller's; a repeat returns its status.

        Raises:
            CallNotFound: there is no such prepaid call, or it belongs to another principal.
            PreconditionFailed: this pays for another call.
            PaymentRequired: the payment is rejected.
        """
        call = await self._invoker.calls.find(call_id)
        is_theirs = call is not None and await self._invoker.calls.can_reach(principal, call)
        if call is None or call.payment is None or not is_theirs:
            raise CallNotFound("You have no call with this id that can be paid.", param="call_id")
        if get_quote_id(payment) not in (None, call.payment.quote_id):
            raise PreconditionFailed("This payment is for another call.", param=PAYMENT)
        return await self._pay_or_tell(principal, call, payment)

    async def withdraw_call(self, call_id: str) -> None:
        """End a call that waits for its caller; leave others unchanged.

        Raises:
            PreconditionFailed: it has continued meanwhile.
        """
        call = await self._invoker.calls.find(call_id)
        if call is not None and call.waits_for_asker:
            await self._invoker.pending_calls.decline(call, write_no_messages)

    async def get_call(self, call_id: str) -> CallStatus | None:
        """Return the status of any principal's call; None if it does not exist."""
        call = await self._invoker.calls.find(call_id)
        return None if call is None else await self._status(call)

    async def _call(
        self,
        principal: Principal,
        asked: DirectCall,
        begun: PreparedCall,
        allowance: Allowance | None,
        extra: ExtraWrites | None,
    ) -> CallStatus:
        action = begun.action
        goes_on = action.may_continue or action.is_prepaid
        callback_url = asked.callback_url if goes_on else None
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
            id=begun.id,
        )
        match await self._invoker.invoke(principal, invocation, extra=extra):
            case CompletedCall(call):
                return await self._status(call)
            case AcceptedCall(call, eta_seconds):
                return CallStatus(call, eta_seconds)
            case ConsentRequired(_, price):
                raise _consent_missing(action, price)
            case PaymentNeeded() as needed:
                call = await self._checkout.request_payment(principal, needed, extra)
                return await self._pay(principal, call, asked.payment, asked.refused)

    async def _quoted(self, principal: Principal, asked: DirectCall, quote_id: str) -> ActionCall:
        """Return the quoted call, if the caller may pay for it.

        Raises:
            PreconditionFailed: there is none.
        """
        call = await self._invoker.calls.find_by_quote(quote_id)
        is_meant = (
            call is not None
            and (call.action, await self._given(call)) == (asked.name, asked.arguments)
            and await self._invoker.calls.can_reach(principal, call)
        )
        if call is not None and is_meant:
            return call
        raise PreconditionFailed(
            f"There is no such quote for this call of {asked.name}. Call it without a"
            " payment first, and pay the quote that you receive.",
            param=PAYMENT,
        )

    async def _holds(self, principal: Principal, asked: DirectCall, call: ActionCall) -> bool:
        """Return whether the caller holds more than a quote's id, which gives no access."""
        if asked.thread_id is not None and asked.thread_id == call.thread_id:
            return True
        return principal.party is not None and await self._invoker.calls.is_owner(principal, call)

    async def _pay_unheld(
        self, principal: Principal, asked: DirectCall, call: ActionCall
    ) -> CallStatus | str:
        """Pay for a call of which the caller knows only the quote's id.

        Nothing is written before the payment is verified. The payer receives the result, but not
        the ids of the conversation in which the quote was made.

        Returns:
            The status of the call, or why the payment was rejected.

        Raises:
            PreconditionFailed: another payment has paid.
            IdempotencyInFlight: it is not known yet which payment has paid.
        """
        given = asked.payment or {}
        if call.state is CallState.WAITING_PAYMENT:
            call = await self._checkout.settlement.wait_settled(call)
        if (
            call.state is CallState.WAITING_PAYMENT
            and await self._checkout.get_terms(call) is not None
        ):
            why = await self._checkout.find_problem(principal, call, given)
            if why is not None:
                return why
            try:
                call = await self._checkout.pay_call(principal, call, given)
            except PaymentRequired as error:
                return error.refused
        if call.state is CallState.WAITING_PAYMENT:
            raise IdempotencyInFlight(
                "The payment is still being checked. Send the same request again.",
                param=PAYMENT,
                retry_after=RETRY_SECONDS,
            )
        if not await self._checkout.was_paid_by(call, given):
            raise PreconditionFailed("This quote was paid by another payment.", param=PAYMENT)
        paid = await self._checkout.settlement.wait_settled(call)
        return await self._status(msgspec.structs.replace(paid, thread_id=None, session_id=None))

    async def _pay_or_tell(
        self, principal: Principal, call: ActionCall, given: Mapping[str, Any] | None
    ) -> CallStatus:
        """Pay for a call of the caller's; a repeat returns its status."""
        if call.state is CallState.WAITING_PAYMENT:
            return await self._pay(principal, call, given)
        return await self._status(await self._checkout.settlement.wait_settled(call))

    async def _pay(
        self,
        principal: Principal,
        call: ActionCall,
        given: Mapping[str, Any] | None,
        refused: str = "",
    ) -> CallStatus:
        """Pay for a call that waits for payment; without a payment raise `PaymentRequired`."""
        if given is None:
            raise await self._checkout.explain_unpaid(call, refused)
        return await self._status(await self._checkout.pay_call(principal, call, given))

    async def _before(
        self, principal: Principal, asked: DirectCall, id_: str, pays: bool
    ) -> CallStatus | None:
        """Return the status of the call that this repeats; None if it repeats none."""
        call = await self._invoker.calls.find(id_)
        if call is None:
            return None
        is_same = (call.action, await self._given(call)) == (asked.name, asked.arguments)
        if not is_same or not await self._invoker.calls.can_reach(principal, call):
            if pays:
                raise PreconditionFailed("This payment is for another call.", param=PAYMENT)
            raise IdempotencyConflict(
                "This Idempotency-Key was used with another call. Use a new key for a new call.",
                param="Idempotency-Key",
            )
        if call.state is CallState.STARTED and call.accepted_at is None:
            raise IdempotencyInFlight(
                "The first call with this Idempotency-Key is still in progress. Try again later.",
                param="Idempotency-Key",
                retry_after=1,
            )
        return await self._status(call)

    async def _given(self, call: ActionCall) -> Mapping[str, Any]:
        """Return the arguments of a call as given; lost secrets stay redacted."""
        try:
            return await self._invoker.secrets.restore_secrets(call)
        except PreconditionFailed:
            return call.arguments

    async def _status(self, call: ActionCall) -> CallStatus:
        if call.state is CallState.WAITING_PAYMENT:
            return CallStatus(call, terms=await self._checkout.get_terms(call))
        if not call.is_over:
            return CallStatus(call, await self._invoker.calls.seconds_left(call))
        is_done = call.state is CallState.SUCCEEDED
        return CallStatus(call, offer=self._invoker.offer_result(call) if is_done else None)

    def _id_of(self, idempotency: IdempotencyRecord) -> str:
        """Return the call id that a key determines, so that repeats find it."""
        return id_from(CALL_PREFIX, 0, self._idempotency.digest_key(idempotency))


def _consent_missing(action: Action, price: Money | None) -> ConsentMissing:
    what = f"{action.name} costs {price}" if price else f"{action.name} needs confirmation"
    to_what = "that price" if price else "it"
    return ConsentMissing(
        f"{what}. Nothing was done: confirm {to_what} with the member {CONFIRMATION}.",
        param=CONFIRMATION,
        price=price,
    )

"""Payment of direct calls: request it, accept it, and wait for the outcome.

A payment is requested on a thread. A call without a thread gets a new one, where its caller can use
all that threads offer: pay, decline, ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.agent.history.message_codec import make_reply_metadata
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.invocation import ExtraWrites, PaymentNeeded
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.payment_token import with_quote_id
from aitp_desk.desk.dialogue.prompts import describe_question, payment_question
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion, Utterance
from aitp_desk.desk.plugins.messages.parts import SCHEMA, write_part
from aitp_desk.desk.plugins.quotes import OpenQuote
from aitp_desk.desk.plugins.resumption import TOO_LATE
from aitp_desk.desk.plugins.verification import PaymentVerifier
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.conversation.thread import VISITOR, Draft, Thread
from aitp_desk.model.errors import DeskError, PaymentRequired, PreconditionFailed
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.calls.quotes import begin_unpaid

AITP = "payment"
"""Member of a payment message in the form of AITP-01."""
THREAD_PREFIX = "thread"


class Checkout:
    """Requests and accepts payments for direct calls.

    Parameters:
        desk_messages: lets plugins judge the payment request.
        verification: verifies payments before they are written.
        messages: posts payment messages.

    Attributes:
        settlement: of the same desk.
    """

    def __init__(
        self,
        context: DeskContext,
        settlement: PaymentSettlement,
        *,
        invoker: ActionInvoker,
        desk_messages: DeskMessages,
        verification: PaymentVerifier,
        messages: MessageService,
        events: Broadcaster,
    ) -> None:
        self._context = context
        self._actor = context.actor
        self._store = context.store
        self._clock = context.clock
        self.settlement = settlement
        self._invoker = invoker
        self._desk_messages = desk_messages
        self._verification = verification
        self._messages = messages
        self._events = events

    async def request_payment(
        self, principal: Principal, needed: PaymentNeeded, extra: ExtraWrites | None
    ) -> ActionCall:
        """Store a call that waits for payment, together with the payment request.

        Parameters:
            extra: builds other statements of the same unit; they may create the call's
                thread.

        Raises:
            InternalError: no plugin can request the payment.
            ThreadNotFound: its thread does not exist any more.
        """
        now = self._clock()
        opens = None
        if needed.invocation.thread_id is None:
            opens = Thread(
                new_id(THREAD_PREFIX, now),
                principal.owner,
                int(now),
                {},
                (self._actor,),
                desk=principal.desk,
            )
            invocation = msgspec.structs.replace(needed.invocation, thread_id=opens.id)
            needed = msgspec.structs.replace(needed, invocation=invocation)
        call = await self._invoker.pending_calls.make_pending(principal, needed, None)
        speaker = principal.owner or VISITOR
        question = payment_question(
            self._invoker.get_action(call.action), call.arguments, needed.price
        )
        words = msgspec.structs.replace(describe_question(question), waits=call.id)
        said = self._context.make_message((words.question,), make_reply_metadata(words))

        async def write(said: tuple[NewMessage, ...], effects: NewEffects | None) -> None:
            await self._store.run(
                begin_unpaid,
                call=call,
                said=said,
                effects=effects or NewEffects(),
                opens=opens,
                speaker=speaker,
                now=int(now),
                extra_statements=None if extra is None else extra(call, None),
            )

        asks = DeskQuestion(question, principal.owner or "", call.id)
        await self._desk_messages.say(call.thread_id or "", (Utterance(said, asks),), write)
        self._events.notify_change(call.thread_id or "")
        return call

    async def get_terms(self, call: ActionCall) -> PaymentTerms | None:
        """Return how a call can be paid now; None if it cannot."""
        quote = await self.settlement.get_quote(call)
        return None if quote is None else quote.terms

    async def pay_call(
        self, principal: Principal, call: ActionCall, given: Mapping[str, Any]
    ) -> ActionCall:
        """Pay for a call, and wait for its outcome.

        While an earlier payment is being checked, wait for that.

        Parameters:
            given: a payment message.

        Returns:
            The call: ended, or in its state after a while.

        Raises:
            PaymentRequired: the payment is rejected.
            PreconditionFailed: it is too late.
            as :meth:`.MessageService.add_message`.
        """
        quote, posted = await self.settlement.get_quote(call), 0
        if quote is not None:
            request = RequestInfo("POST", "", b"", manual=True)
            draft = _draft(quote, given)
            message = await self._messages.add_message(
                principal, call.thread_id or "", draft, request
            )
            posted = message.message.seq
        elif call.expires_at < self._clock():
            raise PreconditionFailed(TOO_LATE)
        call = await self.settlement.wait_settled(call)
        if call.state is CallState.WAITING_PAYMENT and (terms := await self.get_terms(call)):
            why = await self.settlement.read_reply_after(call.thread_id or "", posted)
            raise self.make_payment_required(call, terms, why)
        return call

    async def explain_unpaid(self, call: ActionCall, why: str) -> DeskError:
        """Return the error for a repeated call that still waits for payment.

        Parameters:
            why: as for :meth:`make_payment_required`.
        """
        terms = await self.get_terms(call)
        if terms is None and await self.settlement.is_asked(call):
            told = f"The quote of this call of {call.action} has expired, and nothing was done."
            return PreconditionFailed(f"{told} Call it again, with a new Idempotency-Key.")
        return self.make_payment_required(call, terms, why)

    def make_payment_required(
        self, call: ActionCall, terms: PaymentTerms | None, why: str = ""
    ) -> PaymentRequired:
        """Return the error for a call that waits for payment.

        Parameters:
            why: the reply to a rejected payment; empty if there was none.
        """
        if call.price is None:
            raise ValueError(f"{call.id} is free of charge.")
        told = f"{call.action} costs {call.price} and must be paid first."
        return PaymentRequired(
            f"{why} {told} Nothing was done.".lstrip(),
            price=call.price,
            terms=terms,
            call_id=call.id,
            thread_id=call.thread_id,
            refused=why,
        )

    async def find_problem(
        self, principal: Principal, call: ActionCall, given: Mapping[str, Any]
    ) -> str | None:
        """Return why a payment is rejected, as text; None if it is valid.

        Nothing is written.

        Raises:
            DeskError: as :meth:`.PaymentVerifier.find_problem`.
        """
        quote = await self.settlement.get_quote(call)
        if quote is None:
            return TOO_LATE
        return await self._verification.find_problem(principal, call, _draft(quote, given))

    async def was_paid_by(self, call: ActionCall, given: Mapping[str, Any]) -> bool:
        """Return whether exactly this payment has paid a call."""
        if call.payment is None or not call.payment.message_id:
            return False
        paid = await reads.message(self._store, call.thread_id or "", call.payment.message_id)
        return paid is not None and any(_without_schema(text) == given for text in paid.content)


def _draft(quote: OpenQuote, given: Mapping[str, Any]) -> Draft:
    """Return the message that pays a quote."""
    newest = quote.enabled.url_of(quote.enabled.newest)
    # an AITP-01 payment uses the schema of its request; other forms use the site's own schema
    url = str(quote.terms.message.get(SCHEMA, newest)) if AITP in given else newest
    return Draft("user", (write_part(with_quote_id(given, quote.terms.quote_id), url),))


def _without_schema(text: str) -> Any:
    try:
        read = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    if not isinstance(read, dict):
        return None
    return {name: value for name, value in read.items() if name != SCHEMA}

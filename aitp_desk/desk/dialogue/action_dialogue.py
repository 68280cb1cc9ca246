"""Decides the steps of one call of an action: a state machine without I/O.

A dialogue is a generator. It yields what it needs from outside, is sent the outcome, and returns
the desk's statement. A session turn, a run and an agent's tool call each hold it by a
:class:`~aitp_desk.desk.dialogue.driver.DialogueDriver`, and store what it states in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec
import structlog

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Clarification
from aitp_desk.agent.extractive.dialogue.courtesy import is_agreement, says_pay
from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.agent.slots.filler import FromText, fill_arguments
from aitp_desk.agent.slots.questions import ArgumentQuestion, read_asked, write_memory
from aitp_desk.agent.slots.replies.change import has_question
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Consent,
    ConsentRequired,
    Invocation,
    InvocationOutcome,
    PaymentNeeded,
)
from aitp_desk.desk.dialogue.consent import (
    ONLY_YES,
    agrees_vaguely,
    consent_question,
    is_low_risk,
    parse_answer,
    parse_consent,
)
from aitp_desk.desk.dialogue.next_question import make_correction_question, merge_answer
from aitp_desk.desk.dialogue.prompts import (
    NOT_YET,
    describe_question,
    make_consent_question,
    payment_question,
    refuse_secret,
)
from aitp_desk.desk.dialogue.statements import (
    Ask,
    Call,
    Decline,
    FindQuestion,
    Refuse,
    Remind,
    Resumed,
    Statement,
)
from aitp_desk.model.calls.call import ActionCall, CallState, Source
from aitp_desk.model.calls.question import Fill, Question
from aitp_desk.model.calls.secret_places import is_secret_at, secrets_in
from aitp_desk.model.errors import DeskError, InvalidRequest, PreconditionFailed, StoreBusy

_log = structlog.get_logger()


Amended = Statement | None
"""None if words mean something else than an answer."""
S = TypeVar("S")
Dialogue = Generator[Call | FindQuestion, Any, S]


class ActionDialogue:
    """Decides what is done and asked about one call of an action.

    Parameters:
        base: the call without its arguments.
        can_ask: returns whether a plugin can ask a question; None if there are no plugins.
        now: in the site's time zone.
    """

    def __init__(
        self,
        offered: OfferedAction,
        base: Invocation,
        *,
        can_ask: Callable[[Question], bool] | None,
        now: datetime,
    ) -> None:
        self._offered = offered
        self._action = offered.action
        self._base = base
        self._can_ask = can_ask
        self._now = now

    def call(
        self,
        arguments: Mapping[str, Any],
        source: Source,
        consent: Consent | None = None,
        waiting: ActionCall | None = None,
        *,
        only_asks: bool = False,
    ) -> Dialogue[CompletedCall | AcceptedCall | Ask]:
        """Make the call, or ask for what it needs first: consent or a payment."""
        invoked: InvocationOutcome = yield Call(
            self._invocation(arguments, source, waiting, consent, only_asks=only_asks)
        )
        match invoked:
            case ConsentRequired(invocation, price):
                words = consent_question(self._action, invocation, price)
                return Ask(invoked, words, make_consent_question(words))
            case PaymentNeeded(invocation, price):
                asked = payment_question(self._action, invocation.arguments, price)
                return Ask(invoked, describe_question(asked), asked)
            case _:
                return invoked

    def call_checked(
        self, arguments: Mapping[str, Any]
    ) -> Dialogue[CompletedCall | AcceptedCall | Ask]:
        """Make a model's call; ask through a plugin first for what is missing or wrong."""
        asked = yield from self._find_question(FindQuestion(arguments))
        if asked is None and self._can_ask is not None:
            try:
                self._offered.read(arguments)
            except InvalidRequest as error:
                again = make_correction_question(self._action, None, arguments, error)
                if again is not None and again.again and self._can_ask(again.again.question):
                    asked, arguments = again.again, again.arguments
        if asked is not None:
            return self._ask(asked, arguments, "model")
        return (yield from self.call(arguments, "model"))

    def read(
        self,
        words: str,
        waiting: ActionCall | None,
        *,
        only_asks: bool = False,
        asks_again: bool = False,
    ) -> Dialogue[CompletedCall | AcceptedCall | Ask | Decline]:
        """Read words as arguments, by the action's schema.

        Parameters:
            waiting: the call for whose arguments the desk has asked; None for none.
            only_asks: whether consent is asked for in any case.
            asks_again: whether arguments that the action refuses are asked for again.

        Raises:
            InvalidRequest: the words hold a secret, or only words could ask for one.
        """
        filled = self._fill(
            words, None if waiting is None else waiting.memory, self._offered.from_text
        )
        if secrets_in(filled.arguments, self._action.input_schema):
            raise refuse_secret(self._action.name, "")
        if filled.is_dropped and waiting is not None:
            return Decline(waiting)
        asked = yield from self._find_question(
            FindQuestion(filled.arguments, filled.missing, waiting)
        )
        if asked is not None or filled.missing:
            return self._ask_for(filled, asked, waiting)
        try:
            return (
                yield from self.call(filled.arguments, "text", None, waiting, only_asks=only_asks)
            )
        except InvalidRequest as error:
            if not asks_again:
                raise
            return self._ask_again(error, filled.arguments, waiting)

    def answer(
        self, words: str, waiting: ActionCall, *, may_change: bool
    ) -> Dialogue[Statement | None]:
        """Read words as the answer to a request for consent or payment.

        Parameters:
            may_change: whether the words may change arguments, which need consent again. An agent
                reads changed arguments itself.

        Returns:
            None if the words mean something else.
        """
        if waiting.state is CallState.WAITING_PAYMENT:  # only paying agrees to it
            return self._answer_price(words, waiting, is_mild=False)
        known, is_mild = waiting.arguments, is_low_risk(self._action, waiting.price)
        answer = (
            parse_answer(words, self._action, known, self._now, is_mild=is_mild)
            if may_change
            else parse_consent(words, is_mild=is_mild)
        )
        match answer:
            case True:
                return (
                    yield from self.call(known, waiting.source, Consent(waiting.price), waiting)
                )
            case False:
                return Decline(waiting)
            case None if not may_change:
                return None
            case None if agrees_vaguely(words):
                return (yield from self._ask_for_yes(waiting))
            case _:
                return (yield from self._change(answer or FilledArguments(known), waiting))

    def amend(
        self, words: str, waiting: ActionCall, *, only_asks: bool = False
    ) -> Dialogue[Amended]:
        """Read words that may answer the question about a pending call.

        Parameters:
            only_asks: whether consent is asked for once no argument is missing.

        Returns:
            None if the words mean something else.
        """
        if waiting.state is CallState.WAITING_PAYMENT:
            return self._answer_price(words, waiting, is_mild=True)
        if waiting.memory is not None:
            return (yield from self._amend_arguments(words, waiting, only_asks=only_asks))
        known, is_mild = waiting.arguments, is_low_risk(self._action, waiting.price)
        match parse_answer(words, self._action, known, self._now, is_mild=is_mild):
            case True:
                consent = Consent(waiting.price)
                return (yield from self.call(known, waiting.source, consent, waiting))
            case False:
                return Decline(waiting)
            case FilledArguments() as changed:
                return (yield from self._change(changed, waiting))
            case _ if agrees_vaguely(words):
                return (yield from self._ask_for_yes(waiting))
            case _:
                return None

    def _amend_arguments(
        self, words: str, waiting: ActionCall, *, only_asks: bool
    ) -> Dialogue[Amended]:
        filled = self._fill(words, waiting.memory, self._offered.from_text)
        if filled.is_dropped:
            return Decline(waiting)
        if has_question(words):
            return None
        if is_agreement(words) and not _is_chosen(filled, waiting):
            return self._ask_for_gaps(waiting)
        if not _is_answered(filled, waiting):
            return None
        return (yield from self.read(words, waiting, only_asks=only_asks, asks_again=True))

    def resume(self, call: ActionCall, value: Any) -> Dialogue[Resumed]:
        """Go on with a call that was answered.

        Parameters:
            value: the answer.

        Raises:
            StoreBusy: it may be resumed later.
            ValueError: the call waits for no such answer: a fault of the plugin.
        """
        try:
            return (yield from self._resume(call, value))
        except StoreBusy:
            raise
        except DeskError as error:
            return Refuse(call, error)

    def remind(self, waiting: ActionCall) -> Remind:
        """Repeat that a call waits for payment, without asking again.

        A payment may still settle, and a second quote could be paid twice.
        """
        if waiting.price is None:
            raise ValueError(f"{waiting.id} is free of charge.")
        asked = payment_question(self._action, waiting.arguments, waiting.price)
        return Remind(waiting, describe_question(asked))

    def _answer_price(
        self, words: str, waiting: ActionCall, *, is_mild: bool
    ) -> Remind | Decline | None:
        """Read words as the answer to a request for payment; none of them pays."""
        agreed = says_pay(words) or parse_consent(words, is_mild=is_mild)
        if agreed is None:
            return None
        return self.remind(waiting) if agreed else Decline(waiting)

    def _ask_for_gaps(self, waiting: ActionCall) -> Ask | Remind:
        """Ask again, or say what an open form still lacks."""
        asked, missing = read_asked(waiting.memory), self._fill("", waiting.memory, None)
        is_form = asked is None or isinstance(asked.question, Fill)
        if asked is not None and not (is_form and missing.question):
            return self._ask(asked, waiting.arguments, waiting.source, waiting)
        lacking = missing.question if missing.options else f"{NOT_YET} {missing.question}"
        return Remind(waiting, Clarification(lacking, missing.options))

    def _resume(self, call: ActionCall, value: Any) -> Dialogue[Resumed]:
        if call.state is CallState.WAITING_PAYMENT:  # only paying agrees to it
            return Decline(call)
        if call.memory is None:
            if value is not True:
                return Decline(call)
            consent = Consent(call.price)
            try:
                return (yield from self.call(call.arguments, call.source, consent, call))
            except InvalidRequest as error:
                return self._ask_again(error, call.arguments, call)
        before = read_asked(call.memory)
        if before is None:
            raise ValueError(f"{call.id} waits for text, not for the answer to a question.")
        merged = merge_answer(self._offered, before, value, call.arguments, self._now)
        asked = merged.again or (yield FindQuestion(merged.arguments, waiting=call))
        if asked is None:
            try:
                return (yield from self.call(merged.arguments, call.source, None, call))
            except InvalidRequest as error:
                return self._ask_again(error, merged.arguments, call)
        return self._ask(asked, merged.arguments, call.source, call)

    def _ask_again(
        self, error: InvalidRequest, arguments: Mapping[str, Any], waiting: ActionCall | None
    ) -> Ask:
        """Ask for what the action has refused; raises the error if no question can help."""
        before = None if waiting is None else read_asked(waiting.memory)
        again = make_correction_question(self._action, before, arguments, error)
        if self._can_ask is None or again is None or again.again is None:
            raise error
        if not self._can_ask(again.again.question):
            raise error
        source = "text" if waiting is None else waiting.source
        return self._ask(again.again, again.arguments, source, waiting)

    def _change(
        self, filled: FilledArguments, waiting: ActionCall
    ) -> Dialogue[CompletedCall | AcceptedCall | Ask | Refuse]:
        """Ask for consent to a changed call; nothing is executed.

        A call that cannot be made as changed stops waiting: a later yes would agree to the old one.
        """
        if filled.missing:
            asked = yield from self._find_question(
                FindQuestion(filled.arguments, filled.missing, waiting)
            )
            return self._ask_for(filled, asked, waiting)
        try:
            return (yield from self.call(filled.arguments, "text", None, waiting, only_asks=True))
        except (InvalidRequest, PreconditionFailed) as error:
            return Refuse(waiting, error)

    def _ask_for_yes(
        self, waiting: ActionCall
    ) -> Dialogue[CompletedCall | AcceptedCall | Ask | Refuse]:
        """Ask again for consent to a call that ``sure`` is not enough for."""
        asked = yield from self._change(FilledArguments(waiting.arguments), waiting)
        if not isinstance(asked, Ask):
            return asked
        words = msgspec.structs.replace(
            asked.words, question=f"{ONLY_YES}\n\n{asked.words.question}"
        )
        return msgspec.structs.replace(
            asked, words=words, question=make_consent_question(words) if asked.question else None
        )

    def _ask_for(
        self, filled: FilledArguments, asked: ArgumentQuestion | None, waiting: ActionCall | None
    ) -> Ask:
        """Ask for missing arguments: through a plugin, else as text."""
        if asked is not None:
            return self._ask(asked, filled.arguments, "text", waiting, filled)
        schema = self._action.input_schema
        secret = next((one.path for one in filled.missing if is_secret_at(one.path, schema)), None)
        if secret is not None:
            raise refuse_secret(self._action.name, secret)
        words = Clarification(filled.question, filled.options)
        needed = ConsentRequired(self._invocation(filled.arguments, "text", waiting), None)
        return Ask(needed, words, memory=filled.memory)

    def _ask(
        self,
        asked: ArgumentQuestion,
        arguments: Mapping[str, Any],
        source: Source,
        waiting: ActionCall | None = None,
        filled: FilledArguments | None = None,
    ) -> Ask:
        memory = write_memory(asked, arguments, None if filled is None else filled.memory)
        words = describe_question(asked.question)
        if filled is not None and filled.question:
            words = Clarification(filled.question, filled.options)
        needed = ConsentRequired(self._invocation(arguments, source, waiting), None)
        return Ask(needed, words, asked.question, memory)

    def _find_question(self, wanted: FindQuestion) -> Dialogue[ArgumentQuestion | None]:
        """Return the next question that a plugin can ask, or None."""
        if self._can_ask is None:
            return None
        asked: ArgumentQuestion | None = yield wanted
        return asked if asked is not None and self._can_ask(asked.question) else None

    def _invocation(
        self,
        arguments: Mapping[str, Any],
        source: Source,
        waiting: ActionCall | None = None,
        consent: Consent | None = None,
        *,
        only_asks: bool = False,
    ) -> Invocation:
        return msgspec.structs.replace(
            self._base,
            arguments=arguments,
            source=source,
            consent=consent,
            waiting=waiting,
            only_asks=only_asks,
        )

    def _fill(
        self, words: str, memory: Mapping[str, Any] | None, from_text: FromText | None
    ) -> FilledArguments:
        try:
            return fill_arguments(
                self._action, words, now=self._now, before=memory, from_text=from_text
            )
        except DeskError:
            raise
        except Exception:
            if from_text is None:
                raise
            _log.exception("from_text_failed", action=self._action.name)
            return self._fill(words, memory, None)


def _is_answered(filled: FilledArguments, waiting: ActionCall) -> bool:
    """Return whether words gave a value, or one that does not fit."""
    before = (waiting.memory or {}).get("arguments", {})
    has_problem = any(one.problem for one in filled.missing)
    return has_problem or filled.arguments != before


def _is_chosen(filled: FilledArguments, waiting: ActionCall) -> bool:
    """Return whether words such as ``yes`` are a value, and no mere text."""
    memory = waiting.memory or {}
    before, options = memory.get("arguments", {}), memory.get("options", ())
    found = [value for name, value in filled.arguments.items() if before.get(name) != value]
    return any(not isinstance(value, str) or value in options for value in found)

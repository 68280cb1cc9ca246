"""Defines the request and reply of one turn, for agents and actions."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.agent.base import Said, Utterance
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.calls.invocation import AcceptedCall, Requirement
from aitp_desk.desk.dialogue.answer_cache import RenderSlot
from aitp_desk.model.calls.call import ActionCall, Source
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.conversation.spoken import Spoken


class AskRequest(msgspec.Struct, frozen=True):
    """A question to one action.

    Parameters:
        action: name of the action.
        session_id: the conversation that it belongs to; None begins one.
        clarification: the answer to what the desk asked back.
        accepts: content types that the client accepts, the preferred first; None for the default.
        max_tokens: maximum length of the answer.
        locale: BCP 47 tag of the preferred language.
        requesting_agent: the name that the caller gives itself; it proves nothing.
        intent: the purpose, in the caller's words.
        callback_url: where the outcome of a background call is sent.
        written_by: for a question that is the arguments of a call: whether a program knows them, or
            a model has written them.
        call_id: id for the call once it is made; None for a new id.
        declared: slugs of the capabilities whose messages the client reads in structured form.
        is_written: whether the words are on the thread already.
        understood: the capability messages that the words were interpreted as, stored with them.
        step_aside: releases the caller's slot while it only waits for a payment.
        may_match: whether the words may ask for an action that is not named.
        is_guessed: whether the action was matched to the words instead of named.
        is_from_person: whether it was written in the chat or on a platform for people.
        earlier: the caller's earlier questions, oldest first, of a conversation that the desk does
            not keep; they count in no session.
    """

    action: str
    query: str
    session_id: str | None = None
    clarification: str | None = None
    accepts: tuple[str, ...] | None = None
    max_tokens: int | None = None
    locale: str | None = None
    requesting_agent: str | None = None
    intent: str | None = None
    callback_url: str | None = None
    written_by: Source = "arguments"
    call_id: str | None = None
    declared: frozenset[str] = frozenset()
    is_written: bool = False
    understood: tuple[Spoken, ...] = ()
    step_aside: Callable[[], None] | None = None
    may_match: bool = False
    is_guessed: bool = False
    is_from_person: bool = False
    earlier: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The latest words: the question, or the answer to what was asked back."""
        return self.query if self.clarification is None else self.clarification

    @property
    def unwritten(self) -> str | None:
        """The words, if they are not stored yet."""
        return None if self.is_written else self.words

    def with_stored_words(self, keep: Callable[[str], str]) -> AskRequest:
        """Return the request with its words redacted; arguments stay.

        Parameters:
            keep: as of :meth:`~aitp_desk.capability.Capability.without_secrets`.
        """
        words = self.query if self.clarification is None else self.clarification
        if words.lstrip().startswith("{"):
            return self
        answer = None if self.clarification is None else keep(self.clarification)
        return msgspec.structs.replace(self, query=keep(self.query), clarification=answer)

    def with_written_words(self, words: str, understood: tuple[Spoken, ...] = ()) -> AskRequest:
        """Return the request as stored on the thread.

        Parameters:
            words: the words as text.
            understood: the messages that they were interpreted as.
        """
        said = "query" if self.clarification is None else "clarification"
        return msgspec.structs.replace(
            self, is_written=True, understood=understood, **{said: words}
        )


def list_earlier(ask: AskRequest) -> tuple[Utterance, ...]:
    """Return the earlier questions that a request brings, as a transcript."""
    return tuple(Utterance("visitor", text) for text in ask.earlier)


class ActionRequest(msgspec.Struct, frozen=True):
    """A question to an action of the site's own.

    Parameters:
        words: the question, or the answer to what was asked back.
        is_reply: whether it was sent as the answer to what was asked back.
        accepts: content types that the client accepts, the preferred first; None for the default.
        intent: the purpose, in the caller's words.
        callback_url: where the end of an ``async`` call is sent.
        written_by, call_id: as of :class:`AskRequest`.
        is_written: whether the words are on the thread already.
        is_guessed: whether the action was matched to the words instead of named; then nothing
            changes before the visitor has agreed.
    """

    words: str
    is_reply: bool = False
    accepts: tuple[str, ...] | None = None
    max_tokens: int | None = None
    locale: str | None = None
    intent: str | None = None
    callback_url: str | None = None
    written_by: Source = "arguments"
    call_id: str | None = None
    is_written: bool = False
    is_guessed: bool = False

    @property
    def unwritten(self) -> str | None:
        """The words, if they are not stored yet."""
        return None if self.is_written else self.words


def make_action_request(ask: AskRequest) -> ActionRequest:
    """Return the part of a question that an action needs."""
    return ActionRequest(
        words=ask.words,
        is_reply=ask.clarification is not None,
        accepts=ask.accepts,
        max_tokens=ask.max_tokens,
        locale=ask.locale,
        intent=ask.intent,
        callback_url=ask.callback_url,
        written_by=ask.written_by,
        call_id=ask.call_id,
        is_written=ask.is_written,
        is_guessed=ask.is_guessed,
    )


class ActionReply(msgspec.Struct, frozen=True):
    """The reply to a question to an action.

    Parameters:
        outcome: the answer or clarification.
        accepted: the call that runs in the background; None for any other.
        ended: the call that was executed with its arguments; None for any other.
        needed: what the call needs first: consent if its arguments were given, or payment; None
            for any other.
    """

    outcome: Said
    accepted: AcceptedCall | None = None
    ended: ActionCall | None = None
    needed: Requirement | None = None


class CallStatus(msgspec.Struct, frozen=True):
    """The status of a background call.

    Parameters:
        eta_seconds: expected remaining seconds, from earlier calls; None if unknown.
        offer: its result; None for none.
        terms: how it can be paid, while it waits for that; None while a payment is verified.
    """

    call: ActionCall
    eta_seconds: int | None = None
    offer: Offer | None = None
    terms: PaymentTerms | None = None


class AskReply(msgspec.Struct, frozen=True):
    """The reply to a question.

    Parameters:
        kept: set for an answer from the cache: where its encoded form may be cached.
        age_seconds: age of that answer.
        hit_rate: the share of first questions answered from the cache since the desk started, 0 to
            1; None if the cache is disabled.
        reply: set if the question was for an action of the site's own.
        understood: the capability messages that the words were interpreted as.
        last_event: number of the thread's newest event after the turn, if the client named the
            thread itself; the client may follow it.
    """

    session_id: str
    action: str
    outcome: Said
    kept: RenderSlot | None = None
    age_seconds: int = 0
    hit_rate: float | None = None
    reply: ActionReply | None = None
    understood: tuple[Spoken, ...] = ()
    last_event: int | None = None

    @property
    def cached(self) -> bool:
        """Whether the answer comes from the cache."""
        return self.kept is not None

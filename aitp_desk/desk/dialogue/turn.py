"""What is asked, of the agent or of an action, and what became of asking."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.agent.base import Said
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
        accepts: content types that the asker can handle, the preferred first; None for the default.
        max_tokens: how long the answer should be at most.
        locale: BCP 47 tag of the preferred language.
        requesting_agent: what whoever asks calls themselves; it proves nothing.
        intent: what for, in the asker's words.
        callback_url: where what comes of it is told, if that takes longer.
        written_by: of a question that is the arguments of a call: whether a program knows them, or
            a model has written them.
        call_id: what such a call is called once it is made; None for a new id.
        declared: slugs of the capabilities whose messages the asker reads as they are.
        is_written: whether the words stand on the thread already.
        understood: the messages of capabilities that the words were taken for, and written with.
        step_aside: lets others go on while nothing is done but to wait for what was paid.
        may_match: whether the words may ask for an action that is not named.
        is_guessed: whether the action was not named but matched to the words.
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

    @property
    def words(self) -> str:
        """What was said last: the question, or the answer to what was asked back."""
        return self.query if self.clarification is None else self.clarification

    @property
    def unwritten(self) -> str | None:
        """The words, where they have to be written down yet."""
        return None if self.is_written else self.words

    def with_kept_words(self, keep: Callable[[str], str]) -> AskRequest:
        """The same with what is kept of its words; arguments are no words.

        Parameters:
            keep: as of :meth:`~aitp_desk.capability.Capability.without_secrets`.
        """
        words = self.query if self.clarification is None else self.clarification
        if words.lstrip().startswith("{"):
            return self
        answer = None if self.clarification is None else keep(self.clarification)
        return msgspec.structs.replace(self, query=keep(self.query), clarification=answer)

    def with_written_words(self, words: str, understood: tuple[Spoken, ...] = ()) -> AskRequest:
        """The same, once it stands on the thread.

        Parameters:
            words: what was said, in words.
            understood: the messages that these were taken for.
        """
        said = "query" if self.clarification is None else "clarification"
        return msgspec.structs.replace(
            self, is_written=True, understood=understood, **{said: words}
        )


class ActionRequest(msgspec.Struct, frozen=True):
    """What is asked of an action.

    Parameters:
        words: the question, or the answer to what was asked back.
        is_reply: whether it was sent as the answer to what was asked back.
        accepts: content types that the asker can handle, the preferred first; None for the default.
        intent: what for, in the asker's words.
        callback_url: where the end of an ``async`` call is told.
        written_by, call_id: as of :class:`AskRequest`.
        is_written: whether the words stand on the thread already.
        is_guessed: whether the action was not named but matched to the words: nothing that it
            changes is changed before the asker has agreed.
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
        """The words, where they have to be written down yet."""
        return None if self.is_written else self.words


def make_action_request(ask: AskRequest) -> ActionRequest:
    """What a question asks of an action."""
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
    """What became of a question to an action.

    Parameters:
        outcome: what is said.
        accepted: the call that goes on by itself; None for any other.
        ended: the call that was carried out by its arguments; None for any other.
        needed: what was given as arguments, and has to be agreed to, or was asked for in any way,
            and has to be paid; None for any other.
    """

    outcome: Said
    accepted: AcceptedCall | None = None
    ended: ActionCall | None = None
    needed: Requirement | None = None


class CallStatus(msgspec.Struct, frozen=True):
    """How a call stands that goes on by itself.

    Parameters:
        eta_seconds: how long it still takes, by those before it; None where that is not known.
        offer: what came of it; None where nothing did.
        terms: how it can be paid, where it waits for that; None while what was paid is looked at.
    """

    call: ActionCall
    eta_seconds: int | None = None
    offer: Offer | None = None
    terms: PaymentTerms | None = None


class AskReply(msgspec.Struct, frozen=True):
    """What became of a question.

    Parameters:
        kept: set for an answer from the cache: where its encoded form may be kept.
        age_seconds: how long ago that answer was made.
        hit_rate: the share of first questions that were answered from the cache since the desk
            started, 0 to 1; None where nothing is kept.
        reply: set where an action of the site's own was asked for.
        understood: the messages of capabilities that the asker's words were taken for.
        last_event: number of the thread's newest event after the turn, where the asker named the
            thread itself; they may follow it.
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
        """Whether the answer was given before."""
        return self.kept is not None

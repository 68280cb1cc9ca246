"""What is asked, of the agent or of an action, and what became of asking."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Said
from aitp_desk.desk.invocation import Accepted, ConsentNeeded
from aitp_desk.desk.offer import Offer
from aitp_desk.model.call import ActionCall, Source


class Ask(msgspec.Struct, frozen=True):
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

    @property
    def words(self) -> str:
        """What was said last: the question, or the answer to what was asked back."""
        return self.query if self.clarification is None else self.clarification


class ActionRequest(msgspec.Struct, frozen=True):
    """What is asked of an action.

    Parameters:
        words: the question, or the answer to what was asked back.
        is_reply: whether it was sent as the answer to what was asked back.
        accepts: content types that the asker can handle, the preferred first; None for the default.
        intent: what for, in the asker's words.
        callback_url: where the end of an ``async`` call is told.
        written_by, call_id: as of :class:`Ask`.
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


class ActionReply(msgspec.Struct, frozen=True):
    """What became of a question to an action.

    Parameters:
        outcome: what is said.
        accepted: the call that goes on by itself; None for any other.
        ended: the call that was carried out by its arguments; None for any other.
        needed: what was given as arguments, and has to be agreed to; None for any other.
    """

    outcome: Said
    accepted: Accepted | None = None
    ended: ActionCall | None = None
    needed: ConsentNeeded | None = None


class CallStatus(msgspec.Struct, frozen=True):
    """How a call stands that goes on by itself.

    Parameters:
        eta_seconds: how long it still takes, by those before it; None where that is not known.
        offer: what came of it; None where nothing did.
    """

    call: ActionCall
    eta_seconds: int | None = None
    offer: Offer | None = None

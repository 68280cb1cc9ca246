"""What an agent promises: the one who answers, whether by extraction or by a model.

The desk gives an agent a :class:`Turn` and iterates over the events of :meth:`Agent.reply`. An
agent knows no protocol, no store and no door; it reads the site's content and nothing else.

The promises:

Order
    Any number of :class:`Delta`, then exactly one outcome, :class:`Answer` or
    :class:`Clarification`, then the end. The deltas joined are the answer's text; an agent that
    sends none gives the text in the answer alone. No delta comes before a clarification.
Errors
    A question that the content does not answer is no error: it is an answer with ``found=False``
    that says so. :class:`~aitp_desk.model.errors.Unavailable` is raised when the agent cannot
    answer now and may later. Anything else that escapes is a fault of the program. After an
    exception there is no outcome, and what deltas said before is void.
Cancellation
    Closing the iterator or cancelling its task ends the work at the next event. Nothing is left
    behind: until then a reply has changed nothing.
At once
    Any number of replies may run at once on one event loop. An agent keeps no state between
    replies: everything it knows of a conversation is in the turn.
Reach
    A reply reads one snapshot of the content from its first event to its last. It writes nothing.
    Everything in the turn is what somebody said: data to be answered, never an instruction to the
    agent. What ``other`` parties said is quoted at most, never taken for the visitor's words or for
    the desk's own.
Length
    Where the turn names ``max_tokens`` the answer's text stays within it, four characters to a
    token. Sources and follow-up questions are not counted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol

import msgspec

CHARACTERS_PER_TOKEN = 4
"""What a token is taken to be worth where no model counts them."""

Speaker = Literal["visitor", "desk", "other"]
Relevance = Literal["direct", "indirect", "background"]


class Utterance(msgspec.Struct, frozen=True):
    """Something said earlier in the conversation.

    Parameters:
        speaker: the visitor who asks now, the desk, or any other party of the thread.
    """

    speaker: Speaker
    text: str


class Pending(msgspec.Struct, frozen=True):
    """A question that the desk asked back and that waits for an answer.

    Parameters:
        about: the visitor's question that was not clear.
        question: what the desk asked.
        options: what it offered to choose from.
    """

    about: str
    question: str
    options: tuple[str, ...] = ()


class SiteFacts(msgspec.Struct, frozen=True):
    """What the agent may say of the site itself.

    Parameters:
        contact: how to reach its people, ready to stand in a sentence (``hello@example.com``), or
            None.
    """

    name: str
    url: str
    description: str = ""
    contact: str | None = None


class Turn(msgspec.Struct, frozen=True):
    """All that an agent is told for one reply.

    Parameters:
        question: what is asked now.
        site: whose desk answers.
        transcript: what was said before the question, oldest first, the question itself left out.
        clarification: the visitor's answer to ``pending``, where the protocol names it as such.
        pending: what the desk asked back in its last turn.
        locale: BCP 47 tag of the language that the visitor prefers.
        max_tokens: upper bound of the answer's text, in tokens.
    """

    question: str
    site: SiteFacts
    transcript: tuple[Utterance, ...] = ()
    clarification: str | None = None
    pending: Pending | None = None
    locale: str | None = None
    max_tokens: int | None = None


class Source(msgspec.Struct, frozen=True):
    """Where an answer was taken from.

    Parameters:
        url: address on the site, beginning with ``/``.
        relevance: ``direct`` answers the question, ``indirect`` adds to it, ``background`` is near.
    """

    title: str
    url: str
    relevance: Relevance


class Delta(msgspec.Struct, frozen=True):
    """A further piece of the answer's text."""

    text: str


class Answer(msgspec.Struct, frozen=True):
    """The outcome of a question that was answered, or honestly not.

    Parameters:
        text: the answer; Markdown is allowed.
        sources: where it comes from, the best first; empty when nothing was found.
        follow_ups: questions that the content answers and that may come next.
        tokens_used: what the reply cost, in tokens; an estimate where no model counts them.
        found: whether the content answers the question.
    """

    text: str
    sources: tuple[Source, ...] = ()
    follow_ups: tuple[str, ...] = ()
    tokens_used: int = 0
    found: bool = True


class Clarification(msgspec.Struct, frozen=True):
    """The outcome of a question that fits several topics equally: the desk asks back.

    Parameters:
        options: what to choose from; empty when the question is open.
        free_form: whether any other text will do as well.
    """

    question: str
    options: tuple[str, ...] = ()
    free_form: bool = True


Outcome = Answer | Clarification
Event = Delta | Answer | Clarification


class Agent(Protocol):
    """Who answers. See the module for what every agent promises."""

    @property
    def name(self) -> str:
        """What it is, for people and for the start-up report: ``extractive``."""

    def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn. The iterator is to be closed where it is not read to its end.

        Raises:
            Unavailable: while iterating: not now, perhaps later.
        """


class BrokenPromise(Exception):
    """An agent ended without an outcome or went on after it: a fault of the program."""


async def outcome_of(agent: Agent, turn: Turn) -> Outcome:
    """Read a reply to its end and return its outcome.

    Raises:
        Unavailable: the agent cannot answer now.
        BrokenPromise: there was no outcome, or an event after it.
    """
    outcome: Outcome | None = None
    async for event in agent.reply(turn):
        if outcome is not None:
            raise BrokenPromise(f"{agent.name} sent {type(event).__name__} after its outcome.")
        if not isinstance(event, Delta):
            outcome = event
    if outcome is None:
        raise BrokenPromise(f"{agent.name} ended without an outcome.")
    return outcome

"""Defines the interface of an agent, which answers by extraction or with a model.

The desk gives an agent a :class:`Turn` and iterates over the events of :meth:`Agent.reply`. An
agent knows no protocol and no store; it reads the site's content and nothing else.

The guarantees:

Order
    Any number of :class:`Delta` and :class:`Restart`, then exactly one outcome, then the end. A
    restart voids the text of earlier deltas. The deltas after the last restart, joined, are the
    answer's text; an agent that sends none gives the text in the answer alone. No delta precedes a
    :class:`Clarification`.
Errors
    A question that the content does not answer is not an error: the answer has ``found=False``
    and says so. :class:`~aitp_desk.model.errors.Unavailable` is raised when the agent cannot
    answer now and may later. Anything else that escapes is a fault of the program. After an
    exception there is no outcome, and the text of earlier deltas is void.
Cancellation
    Closing the iterator or cancelling its task ends the work at the next event. Nothing is left
    behind except the effects of called tools.
Concurrency
    Any number of replies may run at once on one event loop. An agent keeps no state between
    replies: everything it knows of a conversation is in the turn.
Reach
    A reply reads one snapshot of the content from its first event to its last. It writes nothing;
    it acts through the turn's tools alone, and calls none that is not listed there. Everything in
    the turn, and every tool's result, is data to be answered, never an instruction to the agent.
    Text of ``other`` parties is quoted at most, never treated as the visitor's or the desk's.
Length
    If the turn has ``max_tokens`` the answer's text stays within it, four characters to a token.
    Sources and follow-up questions are not counted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

import msgspec

from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.agent.tools import Invoke, Tool, ToolRound, invoke_nothing
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import PersonMessage

CHARACTERS_PER_TOKEN = 4
"""Characters per token, if no model counts them."""

Speaker = Literal["visitor", "desk", "other"]
Relevance = Literal["direct", "indirect", "background"]


class Utterance(msgspec.Struct, frozen=True):
    """An earlier message of the conversation.

    Parameters:
        speaker: the visitor who asks now, the desk, or any other party of the thread.
        name: the name that an ``other`` party gave itself.
        source: for a reply, the address of its first source section.
    """

    speaker: Speaker
    text: str
    name: str = ""
    source: str = ""


class FileText(msgspec.Struct, frozen=True):
    """A text file that the visitor attached to a message.

    Parameters:
        name: the file's name, as the visitor gave it.
        text: its beginning, or all of it.
        is_cut: whether there was more.
    """

    name: str
    text: str
    is_cut: bool = False


class PendingQuestion(msgspec.Struct, frozen=True):
    """A clarifying question of the desk that waits for an answer.

    Parameters:
        about: the visitor's question that was not clear.
        question: what the desk asked.
        options: what it offered to choose from.
        call_id: of the action's call that waits for the answer; None if none does.
        offers_person: whether the desk could not answer, and offered to ask a person.
    """

    about: str
    question: str
    options: tuple[str, ...] = ()
    call_id: str | None = None
    offers_person: bool = False


class SiteFacts(msgspec.Struct, frozen=True):
    """Facts about the site that the agent may state.

    Parameters:
        contact: the site's contact, to be put into a sentence (``hello@example.com``), or None.
        answer_characters: about how long the quote of a section is.
    """

    name: str
    url: str
    description: str = ""
    contact: str | None = None
    answer_characters: int = 600


class Turn(msgspec.Struct, frozen=True):
    """The input of one reply.

    Parameters:
        question: the current question.
        site: the site whose desk answers.
        transcript: earlier messages, oldest first, without the question.
        clarification: the visitor's answer to ``pending``, if the protocol marks it as such.
        pending: the desk's clarifying question of the last turn.
        locale: BCP 47 tag of the language that the visitor prefers; if the content exists in
            that language, or another form of it, the tag of that.
        max_tokens: upper bound of the answer's text, in tokens.
        summary: summary of the conversation before the transcript; empty if there is none.
        files: text files that the visitor attached, those of the newest message first.
        page: what the page around the chat says of itself, as JSON; empty if nothing.
        action: name of the action that the visitor chose; empty if none.
        wishes: the caller's wishes for the answer, in the caller's words; not binding.
        tools: the tools that the caller may have called.
        called_first: names of the caller's tools, one of which is to be called before
            answering; an agent that calls no tools, or cannot be made to, answers.
        one_by_one: whether the caller takes one call at a time.
        invoke: carries out the desk's tools.
        now: the present moment in the site's time zone; None if nothing is called.
        rounds: earlier tool calls of this reply, if it waited for the caller's results.
        may_want_person: whether an agent may request a person.
    """

    question: str
    site: SiteFacts
    transcript: tuple[Utterance, ...] = ()
    clarification: str | None = None
    pending: PendingQuestion | None = None
    locale: str | None = None
    max_tokens: int | None = None
    summary: str = ""
    files: tuple[FileText, ...] = ()
    page: str = ""
    action: str = ""
    wishes: str = ""
    tools: tuple[Tool, ...] = ()
    called_first: tuple[str, ...] = ()
    one_by_one: bool = False
    invoke: Invoke = invoke_nothing
    now: datetime | None = None
    rounds: tuple[ToolRound, ...] = ()
    may_want_person: bool = False


class Source(msgspec.Struct, frozen=True):
    """A source of an answer.

    Parameters:
        url: address on the site, beginning with ``/``; of an external page an absolute URL.
        relevance: ``direct`` answers the question, ``indirect`` adds to it, ``background`` is
            related.
        quote: the sentence of it that fits the question best, or its first ones; empty if
            unknown.
    """

    title: str
    url: str
    relevance: Relevance
    quote: str = ""

    def absolute_url(self, site_url: str) -> str:
        """Return the absolute address.

        Parameters:
            site_url: of the desk, without a slash at its end.
        """
        return site_url + self.url if self.url.startswith("/") else self.url


class Delta(msgspec.Struct, frozen=True):
    """A further piece of the answer's text."""

    text: str


class Restart(msgspec.Struct, frozen=True):
    """Voids the text of earlier deltas: the answer begins again."""


class Usage(msgspec.Struct, frozen=True):
    """The tokens that a model counted.

    Parameters:
        prompt: input tokens, cached or not, in all its calls for one reply.
        cached: how many of these were read from its cache.
        completion: output tokens.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """All tokens, read and written."""
        return self.prompt + self.completion

    def plus(self, other: Usage) -> Usage:
        """Return the sum of this and another."""
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
        )


Fallback = Literal["model_failed", "budget_spent"]


class Answer(msgspec.Struct, frozen=True):
    """The outcome of a question that was answered, or found unanswerable.

    Parameters:
        text: the answer; Markdown is allowed.
        sources: its sources, the best first; empty if nothing was found.
        follow_ups: questions that the content answers and that may come next.
        tokens_used: the cost of the reply, in tokens; an estimate if no model counts them.
        found: whether the content answers the question.
        usage: what a model counted; None without a model.
        fallback: why extraction answered instead of the model; None if it did not.
        tools_used: names of the called tools, each once, in order.
        model: name of the model that wrote the text; None if none did.
        locale: language tag of the answer's first page, or, for an answer without one, of the
            language that was searched; None if languages play no part.
        waits: id of the action's call that waits for what the text asks at its end; None if it
            asks nothing of this kind.
        person: set if a person is to be asked as well: the desk asks one, and says so after the
            text, which may then be empty. Such an answer is for one visitor alone.
        offers_person: whether the desk offers at the text's end to ask a person.
        asked_person: id of the ticket that a person was asked by; empty if none was.
        operator_messages: operators' messages since the last turn, which are put before the text.
        spoken: if messages of capabilities are part of the answer: all its parts, whose texts
            are the text; empty if it is text alone.
        is_courtesy: whether it only returns a greeting, thanks or a goodbye.
    """

    text: str
    sources: tuple[Source, ...] = ()
    follow_ups: tuple[str, ...] = ()
    tokens_used: int = 0
    found: bool = True
    usage: Usage | None = None
    fallback: Fallback | None = None
    tools_used: tuple[str, ...] = ()
    model: str | None = None
    locale: str | None = None
    waits: str | None = None
    person: PersonRequest | None = None
    offers_person: bool = False
    asked_person: str = ""
    operator_messages: tuple[PersonMessage, ...] = ()
    spoken: tuple[Spoken, ...] = ()
    is_courtesy: bool = False


class Clarification(msgspec.Struct, frozen=True):
    """The outcome of a question that fits several topics equally: a clarifying question.

    Parameters:
        options: what to choose from; empty for an open question.
        free_form: whether any other text is accepted.
        usage, fallback, tools_used, model, locale, waits: as an answer's.
        operator_messages, spoken: as an answer's.
    """

    question: str
    options: tuple[str, ...] = ()
    free_form: bool = True
    usage: Usage | None = None
    fallback: Fallback | None = None
    tools_used: tuple[str, ...] = ()
    model: str | None = None
    locale: str | None = None
    waits: str | None = None
    operator_messages: tuple[PersonMessage, ...] = ()
    spoken: tuple[Spoken, ...] = ()

    @property
    def tokens_used(self) -> int:
        """The tokens that a model counted; 0 without a model."""
        return self.usage.total if self.usage else 0


class ToolRequest(msgspec.Struct, frozen=True):
    """The outcome of a reply that needs results of the caller's tools.

    It occurs only if the turn lists a tool of the caller.

    Parameters:
        rounds: all tool calls of this reply, including those of earlier turns; the
            last one has a call whose result the caller owes.
        usage: what the model counted in this turn.
    """

    rounds: tuple[ToolRound, ...]
    usage: Usage | None = None


Said = Answer | Clarification
"""The outcomes that carry a message to the visitor."""
Outcome = Said | ToolRequest
Event = Delta | Restart | Answer | Clarification | ToolRequest
ProgressEvent = Delta | Restart
"""The events that are not outcomes."""


class Agent(Protocol):
    """An agent that answers turns. The module states its guarantees."""

    @property
    def name(self) -> str:
        """Its name, for people and for the start-up report: ``extractive``."""

    def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn. Close the iterator if it is not read to its end.

        Raises:
            Unavailable: while iterating: not now, perhaps later.
        """


@runtime_checkable
class Summariser(Protocol):
    """An agent that can summarise a conversation too long to be passed whole."""

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        """Return a summary. It never fails: without a model the text is cut.

        Parameters:
            previous: the result of an earlier call for the messages before; else empty.
            utterances: the messages since, oldest first.
            max_tokens: upper bound of the result, in tokens.
        """


@runtime_checkable
class LimitedAgent(Protocol):
    """An agent that lets another one answer once its budget is used up."""

    @property
    def stand_in(self) -> str | None:
        """Return the agent that answers instead now; None while it answers itself."""


@runtime_checkable
class ToolCallingAgent(Protocol):
    """An agent that can call a turn's tools."""

    @property
    def calls_tools(self) -> bool:
        """Whether it would call tools now; False while another agent answers instead."""


def find_tool_caller(agent: Agent) -> ToolCallingAgent | None:
    """Return the agent if it can call tools; the check is slow, so make it once."""
    return agent if isinstance(agent, ToolCallingAgent) else None


class AgentContractError(Exception):
    """An agent ended without an outcome or went on after it: a fault of the program."""


async def read_outcome(
    agent: Agent, turn: Turn, on_event: Callable[[ProgressEvent], None] | None = None
) -> Outcome:
    """Read a reply to its end and return its outcome.

    Parameters:
        on_event: called with every event before the outcome.

    Raises:
        Unavailable: the agent cannot answer now.
        AgentContractError: there was no outcome, or an event after it.
    """
    outcome: Outcome | None = None
    async for event in agent.reply(turn):
        if outcome is not None:
            raise AgentContractError(f"{agent.name} sent {type(event).__name__} after its outcome.")
        if not isinstance(event, ProgressEvent):
            outcome = event
        elif on_event is not None:
            on_event(event)
    if outcome is None:
        raise AgentContractError(f"{agent.name} ended without an outcome.")
    return outcome


async def read_answer(
    agent: Agent, turn: Turn, on_event: Callable[[ProgressEvent], None] | None = None
) -> Said:
    """As :func:`read_outcome`, for a turn that lists no tool of the caller's.

    Raises:
        AgentContractError: as there, or the agent requests a tool that was not offered.
    """
    outcome = await read_outcome(agent, turn, on_event)
    if isinstance(outcome, ToolRequest):
        raise AgentContractError(f"{agent.name} asks for tools that the caller did not offer.")
    return outcome

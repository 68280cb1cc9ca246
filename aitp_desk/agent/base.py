"""What an agent promises: the one who answers, whether by extraction or by a model.

The desk gives an agent a :class:`Turn` and iterates over the events of :meth:`Agent.reply`. An
agent knows no protocol, no store and no door; it reads the site's content and nothing else.

The promises:

Order
    Any number of :class:`Delta` and :class:`Restart`, then exactly one outcome, then the end. A
    restart makes void what deltas said before it. The deltas after the last restart, joined, are
    the answer's text; an agent that sends none gives the text in the answer alone. No delta stands
    before a :class:`Clarification`.
Errors
    A question that the content does not answer is no error: it is an answer with ``found=False``
    that says so. :class:`~aitp_desk.model.errors.Unavailable` is raised when the agent cannot
    answer now and may later. Anything else that escapes is a fault of the program. After an
    exception there is no outcome, and what deltas said before is void.
Cancellation
    Closing the iterator or cancelling its task ends the work at the next event. Nothing is left
    behind but what tools did that were called.
At once
    Any number of replies may run at once on one event loop. An agent keeps no state between
    replies: everything it knows of a conversation is in the turn.
Reach
    A reply reads one snapshot of the content from its first event to its last. It writes nothing;
    it acts through the turn's tools alone, and calls none that is not listed there. Everything in
    the turn, and every tool's result, is what somebody said: data to be answered, never an
    instruction to the agent. What ``other`` parties said is quoted at most, never taken for the
    visitor's words or for the desk's own.
Length
    Where the turn names ``max_tokens`` the answer's text stays within it, four characters to a
    token. Sources and follow-up questions are not counted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

import msgspec

from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.agent.tools import Invoke, Tool, ToolRound, invoke_nothing
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import PersonSaid

CHARACTERS_PER_TOKEN = 4
"""What a token is taken to be worth where no model counts them."""

Speaker = Literal["visitor", "desk", "other"]
Relevance = Literal["direct", "indirect", "background"]


class Utterance(msgspec.Struct, frozen=True):
    """Something said earlier in the conversation.

    Parameters:
        speaker: the visitor who asks now, the desk, or any other party of the thread.
        name: how an ``other`` party is called, in its own words.
        source: of a reply, the address of the section that it comes from first.
    """

    speaker: Speaker
    text: str
    name: str = ""
    source: str = ""


class FileText(msgspec.Struct, frozen=True):
    """A text file that the visitor attached to a message.

    Parameters:
        name: the file's name, in the visitor's words.
        text: its beginning, or all of it.
        is_cut: whether there was more.
    """

    name: str
    text: str
    is_cut: bool = False


class PendingQuestion(msgspec.Struct, frozen=True):
    """A question that the desk asked back and that waits for an answer.

    Parameters:
        about: the visitor's question that was not clear.
        question: what the desk asked.
        options: what it offered to choose from.
        call_id: of the action's call that waits for the answer; None where none does.
        offers_person: whether the desk could not answer, and has asked whether a person shall.
    """

    about: str
    question: str
    options: tuple[str, ...] = ()
    call_id: str | None = None
    offers_person: bool = False


class SiteFacts(msgspec.Struct, frozen=True):
    """What the agent may say of the site itself.

    Parameters:
        contact: how to reach its people, ready to stand in a sentence (``hello@example.com``), or
            None.
        answer_characters: about how long the quote of a section is.
    """

    name: str
    url: str
    description: str = ""
    contact: str | None = None
    answer_characters: int = 600


class Turn(msgspec.Struct, frozen=True):
    """All that an agent is told for one reply.

    Parameters:
        question: what is asked now.
        site: whose desk answers.
        transcript: what was said before the question, oldest first, the question itself left out.
        clarification: the visitor's answer to ``pending``, where the protocol names it as such.
        pending: what the desk asked back in its last turn.
        locale: BCP 47 tag of the language that the visitor prefers; where the content is there in
            that language, or another form of it, the tag of that.
        max_tokens: upper bound of the answer's text, in tokens.
        summary: what was said before the transcript begins, shortened; empty when nothing was.
        files: text files that the visitor attached, those of the newest message first.
        wishes: how the caller would like to be answered, in the caller's words; it binds nobody.
        tools: what may be called, by whoever asks.
        called_first: names of the caller's tools of which the caller wants one to be called before
            anything is answered; an agent that calls no tools, or cannot be made to, answers.
        one_by_one: whether the caller takes one call at a time.
        invoke: carries out those of the tools that are the desk's.
        now: the present moment in the site's time zone; None where nothing is called.
        rounds: what this reply has called already, where the caller's results were waited for.
        may_want_person: whether an agent may say that a person is to be asked.
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
    wishes: str = ""
    tools: tuple[Tool, ...] = ()
    called_first: tuple[str, ...] = ()
    one_by_one: bool = False
    invoke: Invoke = invoke_nothing
    now: datetime | None = None
    rounds: tuple[ToolRound, ...] = ()
    may_want_person: bool = False


class Source(msgspec.Struct, frozen=True):
    """Where an answer was taken from.

    Parameters:
        url: address on the site, beginning with ``/``; of a page from elsewhere an absolute URL.
        relevance: ``direct`` answers the question, ``indirect`` adds to it, ``background`` is near.
    """

    title: str
    url: str
    relevance: Relevance

    def absolute_url(self, site_url: str) -> str:
        """The address for readers anywhere.

        Parameters:
            site_url: of the desk, without a slash at its end.
        """
        return site_url + self.url if self.url.startswith("/") else self.url


class Delta(msgspec.Struct, frozen=True):
    """A further piece of the answer's text."""

    text: str


class Restart(msgspec.Struct, frozen=True):
    """What deltas said before is void: the answer begins anew."""


class Usage(msgspec.Struct, frozen=True):
    """What a model counted, in tokens.

    Parameters:
        prompt: what it was given, cached or not, in all its calls for one reply.
        cached: how many of these it had in its cache.
        completion: what it wrote.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """All tokens, read and written."""
        return self.prompt + self.completion

    def plus(self, other: Usage) -> Usage:
        """This and another, together."""
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
        )


Fallback = Literal["model_failed", "budget_spent"]


class Answer(msgspec.Struct, frozen=True):
    """The outcome of a question that was answered, or honestly not.

    Parameters:
        text: the answer; Markdown is allowed.
        sources: where it comes from, the best first; empty when nothing was found.
        follow_ups: questions that the content answers and that may come next.
        tokens_used: what the reply cost, in tokens; an estimate where no model counts them.
        found: whether the content answers the question.
        usage: what a model counted; None where none was asked.
        fallback: why extraction answered in the model's place; None where it did not.
        tools_used: names of the tools that were called, each once, in order.
        model: name of the model that wrote the text; None where none did.
        locale: tag of the language of the page that the answer was taken from first, of an answer
            from none of the language that was looked in; None where nothing was said of languages.
        waits: id of the action's call that waits for what the text asks at its end; None where it
            asks nothing of this kind.
        person: set where a person is to be asked as well: the desk asks one, and says so after the
            text, which may be empty then. Such an answer is for one visitor alone.
        offers_person: whether the desk offers at the text's end that a person be asked.
        heard: what people have said there meanwhile, which is told before the text.
        spoken: where messages of capabilities are part of what is said: all its parts, whose texts
            are the text; empty where it is words alone.
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
    heard: tuple[PersonSaid, ...] = ()
    spoken: tuple[Spoken, ...] = ()
    is_courtesy: bool = False


class Clarification(msgspec.Struct, frozen=True):
    """The outcome of a question that fits several topics equally: the desk asks back.

    Parameters:
        options: what to choose from; empty when the question is open.
        free_form: whether any other text will do as well.
        usage, fallback, tools_used, model, locale, waits, heard, spoken: as an answer's.
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
    heard: tuple[PersonSaid, ...] = ()
    spoken: tuple[Spoken, ...] = ()

    @property
    def tokens_used(self) -> int:
        """What a model counted; nothing where none was asked."""
        return self.usage.total if self.usage else 0


class ToolRequest(msgspec.Struct, frozen=True):
    """The outcome of a reply that needs what the caller's own tools give.

    It comes only where the turn lists a tool that is the caller's.

    Parameters:
        rounds: everything that was called in this reply, those of earlier turns of it included; the
            last one has a call whose result the caller owes.
        usage: what the model counted in this turn.
    """

    rounds: tuple[ToolRound, ...]
    usage: Usage | None = None


Said = Answer | Clarification
"""The outcomes that say something to the visitor."""
Outcome = Said | ToolRequest
Event = Delta | Restart | Answer | Clarification | ToolRequest
ProgressEvent = Delta | Restart
"""The events that are no outcome."""


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


@runtime_checkable
class Summariser(Protocol):
    """An agent that can shorten a conversation which has grown too long to be told whole."""

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        """What was said, in few words. It never fails: without a model the text is cut.

        Parameters:
            previous: what an earlier call returned for what was said before; else empty.
            utterances: what was said since, oldest first.
            max_tokens: upper bound of what is returned, in tokens.
        """


@runtime_checkable
class LimitedAgent(Protocol):
    """An agent that has another one answer when it has used what it may."""

    @property
    def stand_in(self) -> str | None:
        """Who answers in its place now; None while it answers itself."""


@runtime_checkable
class ToolCallingAgent(Protocol):
    """An agent that can call a turn's tools."""

    @property
    def calls_tools(self) -> bool:
        """Whether it would do so now; False while another answers in its place."""


def find_tool_caller(agent: Agent) -> ToolCallingAgent | None:
    """The agent, where it is one that can call tools: looked at once, for that takes its time."""
    return agent if isinstance(agent, ToolCallingAgent) else None


class AgentContractError(Exception):
    """An agent ended without an outcome or went on after it: a fault of the program."""


async def read_outcome(
    agent: Agent, turn: Turn, tell: Callable[[ProgressEvent], None] | None = None
) -> Outcome:
    """Read a reply to its end and return its outcome.

    Parameters:
        tell: given every event before the outcome, as it comes.

    Raises:
        Unavailable: the agent cannot answer now.
        BrokenPromise: there was no outcome, or an event after it.
    """
    outcome: Outcome | None = None
    async for event in agent.reply(turn):
        if outcome is not None:
            raise AgentContractError(f"{agent.name} sent {type(event).__name__} after its outcome.")
        if not isinstance(event, ProgressEvent):
            outcome = event
        elif tell is not None:
            tell(event)
    if outcome is None:
        raise AgentContractError(f"{agent.name} ended without an outcome.")
    return outcome


async def read_answer(
    agent: Agent, turn: Turn, tell: Callable[[ProgressEvent], None] | None = None
) -> Said:
    """As :func:`read_outcome`, for a turn that lists no tool of the caller's.

    Raises:
        BrokenPromise: as there, or the agent asks for a tool that nobody offered.
    """
    outcome = await read_outcome(agent, turn, tell)
    if isinstance(outcome, ToolRequest):
        raise AgentContractError(f"{agent.name} asks for tools that the caller did not offer.")
    return outcome

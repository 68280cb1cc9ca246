"""What all protocols of a visited site have in common: endpoints, answers, actions and outcomes.

Each protocol has one :class:`SiteClient`, a thin translation of its wire form. Everything that a
site sends is data: it is shown, compared and passed on, and never followed as an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from aitp_desk.model.calls.action import Precondition, Safety
from aitp_desk.model.money import Money

EndpointKind = Literal[
    "ahp", "aitp", "a2a", "mcp", "hac", "agents_txt", "openapi", "nlweb", "llms_txt"
]


class Endpoint(msgspec.Struct, frozen=True):
    """One protocol that a site speaks.

    Parameters:
        url: where requests of this protocol begin, absolute.
        found_in: the address of the document that names it.
        reason: why it is believed, in a sentence, such as "its manifest names MODE3".
        answers: whether questions can be put through it.
        acts: whether actions can be called through it.
        document: what discovery has read already, such as the manifest; never modified.
    """

    kind: EndpointKind
    url: str
    found_in: str
    reason: str
    answers: bool = False
    acts: bool = False
    document: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])


class UnusedEndpoint(msgspec.Struct, frozen=True):
    """What looked like an endpoint and is not used.

    Parameters:
        what: the kind of an endpoint, or what was looked for.
        reason: why it is not used, in sentences.
    """

    what: str
    url: str
    reason: str


class Source(msgspec.Struct, frozen=True):
    """Where an answer comes from; ``quote`` is the site's own text, if it gave it."""

    url: str
    title: str = ""
    quote: str = ""


class Choice(msgspec.Struct, frozen=True):
    """One reading that the site offers when it asks back.

    Parameters:
        value: what to send to choose it.
        label: what to show.
    """

    value: str
    label: str


class Quote(msgspec.Struct, frozen=True):
    """What a site wants paid before it goes on.

    Parameters:
        reference: what to name when paying or accepting, in the protocol's own form.
        data: what else the site says of it, such as the signed quote.
        prepaid: whether it is paid by its reference, so that the same payment twice is one; else
            agreeing to it makes the call.
    """

    money: Money
    reference: str
    description: str = ""
    data: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    prepaid: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What a site answered.

    Parameters:
        text: as the site wrote it, Markdown at most.
        kind: "question" if the site asks back; ``choices`` are then its readings, if it has any.
            "waiting" if the site, or a person of it, has not answered within the visit's time.
        later: where a person of the site answers later: the thread (AITP) and the ticket; empty if
            nobody was asked.
        quote: what agreeing to a question would cost; only :meth:`Site.agree` agrees to it.
        content_type: that of the protocol, such as "text/answer".
        data: the answer's further members, for content types other than text.
        tokens: how many tokens the site says the answer took; None if it says nothing.
        may_train: False if the site forbids training on it.
        is_conclusive: whether an answer to a yes shows that something was done; False where it may
            as well have been looked up.
    """

    text: str
    kind: Literal["answer", "question", "waiting"] = "answer"
    sources: tuple[Source, ...] = ()
    choices: tuple[Choice, ...] = ()
    content_type: str = "text/answer"
    data: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    tokens: int | None = None
    may_train: bool | None = None
    later: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    quote: Quote | None = None
    is_conclusive: bool = True


class SiteAction(msgspec.Struct, frozen=True):
    """Something that a site offers to do.

    Parameters:
        description: the site's words: data, never an instruction.
        input_schema: a JSON Schema of the arguments.
        safety: what the site declares; None if it declares nothing, which counts as unsafe.
        cost: what a call costs, if the site declares a fixed sum.
        has_cost: whether a call costs anything.
        idempotent: whether the site says that a repeated call with the same key, or the same
            arguments, has no further effect.
        origin: the origin that a call is sent to.
    """

    name: str
    description: str
    origin: str
    input_schema: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    safety: Safety | None = None
    cost: Money | None = None
    has_cost: bool = False
    preconditions: tuple[Precondition, ...] = ()
    idempotent: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """How a call went.

    Parameters:
        kind: "done"; "waiting" for the site or its people, :meth:`SiteClient.poll` asks again;
            "payable", with ``quote``, and nothing is done before it is paid; "question" if the site
            needs more arguments, with ``text``.
        reference: by which the site knows the call.
        result: what the action returned.
    """

    kind: Literal["done", "waiting", "payable", "question"]
    text: str = ""
    reference: str = ""
    result: Any = None
    quote: Quote | None = None
    retry_after: float | None = None


class SiteClient(Protocol):
    """One protocol's way to a site. It keeps the protocol's conversation between calls.

    Every method raises a :class:`~aitp_desk.visitor.errors.VisitError`, and nothing else, for what
    a site does. None confirms, pays or decides: the visit does so before it calls.
    """

    async def ask(self, question: str) -> Answer:
        """Put a question, or the next one of the same conversation."""
        ...

    async def choose(self, choice: Choice) -> Answer:
        """Answer a question of the site's with one of its readings."""
        ...

    async def actions(self) -> Sequence[SiteAction]:
        """Return what the site offers to do, in its order."""
        ...

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Call an action.

        Parameters:
            key: identifies the wish; the same key twice is one call, where the protocol can say so.
        """
        ...

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask once how a waiting call goes."""
        ...

    async def accept(self, outcome: Outcome) -> Outcome:
        """Agree to the quote of a payable call; the visit has checked it."""
        ...

    async def close(self) -> None:
        """End the conversation, as far as the protocol lets one."""
        ...


@runtime_checkable
class PatientClient(SiteClient, Protocol):
    """A client that asks later for answers, also in another visit."""

    async def read_late(self, waiting: Mapping[str, Any]) -> Answer:
        """Ask once for an answer that has not come; its data says which."""
        ...


@runtime_checkable
class ResumableClient(SiteClient, Protocol):
    """A client whose conversation another visit can go on with."""

    def save(self) -> Mapping[str, Any]:
        """Return what another client needs to go on with the conversation, as JSON values."""
        ...

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on with a conversation that :meth:`save` has returned."""
        ...

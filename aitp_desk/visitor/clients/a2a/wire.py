"""A2A 1.0 and 0.3 as a visitor reads them: cards, tasks and messages, in one form."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from aitp_desk.visitor.errors import SiteFailed

Line = Annotated[str, msgspec.Meta(max_length=4096)]
Dialect = Literal["1.0", "0.3"]
Binding = Literal["JSONRPC", "HTTP+JSON"]


class Skill(msgspec.Struct, frozen=True):
    """What an agent can do; A2A has no schema for it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    name: Line = ""
    description: Line = ""
    tags: Annotated[tuple[Line, ...], msgspec.Meta(max_length=100)] = ()


class CardInterface(msgspec.Struct, frozen=True, rename="camel"):
    """An address of an agent; ``transport`` is how 0.3 calls the binding."""

    url: Line
    protocol_binding: Line = ""
    protocol_version: Line = ""
    transport: Line = ""


class CardCapabilities(msgspec.Struct, frozen=True, rename="camel"):
    """What an agent supports."""

    extended_agent_card: bool = False
    push_notifications: bool = False


class Card(msgspec.Struct, frozen=True, rename="camel"):
    """An agent's card, of either version."""

    name: Line = ""
    supported_interfaces: Annotated[tuple[CardInterface, ...], msgspec.Meta(max_length=100)] = ()
    url: Line = ""
    preferred_transport: Line = "JSONRPC"
    protocol_version: Line = "0.3"
    additional_interfaces: Annotated[tuple[CardInterface, ...], msgspec.Meta(max_length=100)] = ()
    capabilities: CardCapabilities = CardCapabilities()
    supports_authenticated_extended_card: bool = False
    skills: Annotated[tuple[Skill, ...], msgspec.Meta(max_length=1000)] = ()


class Interface(msgspec.Struct, frozen=True):
    """Where and how an agent is spoken to."""

    url: str
    binding: Binding
    dialect: Dialect


class Part(msgspec.Struct, frozen=True):
    """A part of a message: text, or data; files are left aside."""

    text: str = ""
    data: Any = None


class Message(msgspec.Struct, frozen=True, rename="camel"):
    """A message of an agent."""

    parts: Annotated[tuple[Part, ...], msgspec.Meta(max_length=1000)] = ()
    context_id: Line | None = None
    task_id: Line | None = None


class Status(msgspec.Struct, frozen=True):
    """The state of a task."""

    state: Line
    message: Message | None = None

    @property
    def name(self) -> str:
        """The state, written the same for both versions."""
        return self.state.removeprefix("TASK_STATE_").lower().replace("_", "-")


class Artifact(msgspec.Struct, frozen=True):
    """What a task has made."""

    parts: Annotated[tuple[Part, ...], msgspec.Meta(max_length=1000)] = ()
    metadata: dict[str, Any] | None = None


class Task(msgspec.Struct, frozen=True, rename="camel"):
    """A task."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    status: Status
    context_id: Line | None = None
    artifacts: Annotated[tuple[Artifact, ...], msgspec.Meta(max_length=1000)] | None = None


class Sent(msgspec.Struct, frozen=True):
    """What sending a message returns in 1.0: a task, or a message."""

    task: Task | None = None
    message: Message | None = None


class Failure(msgspec.Struct, frozen=True):
    """An error of JSON-RPC, or of the REST binding."""

    message: str = ""
    code: int = 0


class Envelope(msgspec.Struct, frozen=True):
    """A response of JSON-RPC."""

    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: Failure | None = None


def find_interface(card: Card) -> Interface:
    """Return the first interface of a card that this visitor speaks.

    Raises:
        SiteFailed: there is none.
    """
    listed = [
        (one.url, one.protocol_binding, one.protocol_version) for one in card.supported_interfaces
    ]
    if card.url:
        listed.append((card.url, card.preferred_transport, card.protocol_version))
    listed += [
        (one.url, one.transport or one.protocol_binding, card.protocol_version)
        for one in card.additional_interfaces
    ]
    for url, binding, version in listed:
        dialect: Dialect = "1.0" if version.startswith("1.") else "0.3"
        if binding == "JSONRPC":
            return Interface(url, "JSONRPC", dialect)
        if binding == "HTTP+JSON" and dialect == "1.0":
            return Interface(url.rstrip("/"), "HTTP+JSON", dialect)
    raise SiteFailed("The agent's card lists no interface by JSON-RPC, nor by HTTP in version 1.0.")


def read_sent(raw: bytes | msgspec.Raw, dialect: Dialect) -> Task | Message:
    """Read what sending a message returned.

    Raises:
        msgspec.DecodeError: it is neither a task nor a message.
    """
    if dialect == "1.0":
        sent = msgspec.json.decode(raw, type=Sent)
        found: Task | Message | None = sent.task or sent.message
        if found is None:
            raise msgspec.ValidationError("a result must have `task` or `message`")
        return found
    kind = msgspec.json.decode(raw, type=dict[str, Any]).get("kind")
    if kind == "message":
        return msgspec.json.decode(raw, type=Message)
    return msgspec.json.decode(raw, type=Task)


def write_message(
    parts: tuple[Part, ...],
    dialect: Dialect,
    *,
    message_id: str,
    context_id: str | None,
    task_id: str | None,
) -> dict[str, Any]:
    """Return a visitor's message in the form of a version."""
    is_new = dialect == "1.0"
    written: list[dict[str, Any]] = []
    for part in parts:
        kind = "text" if part.data is None else "data"
        value = part.text if part.data is None else part.data
        written.append({kind: value} if is_new else {"kind": kind, kind: value})
    message: dict[str, Any] = {
        "messageId": message_id,
        "role": "ROLE_USER" if is_new else "user",
        "parts": written,
    }
    if not is_new:
        message["kind"] = "message"
    if context_id is not None:
        message["contextId"] = context_id
    if task_id is not None:
        message["taskId"] = task_id
    return message


def join_text(parts: tuple[Part, ...]) -> str:
    """Return the texts of parts together."""
    return "\n\n".join(one.text for one in parts if one.text)


def find_data(parts: tuple[Part, ...]) -> dict[str, Any]:
    """Return the first object among the data of parts; empty if there is none."""
    return next((one.data for one in parts if isinstance(one.data, dict)), {})

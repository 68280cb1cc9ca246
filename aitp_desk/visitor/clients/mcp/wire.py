"""MCP over streamable HTTP as a visitor reads it: messages, tools and results."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from aitp_desk.egress import Fetched
from aitp_desk.model.calls.action import Safety
from aitp_desk.visitor.base import Source
from aitp_desk.visitor.errors import SiteFailed

HANDSHAKE = "2025-11-25"
"""The version that is offered first."""
STATELESS = "2026-07-28"
"""The version in which requests are independent, for servers that know no other."""
KNOWN = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
META = "io.modelcontextprotocol/"
Line = Annotated[str, msgspec.Meta(max_length=65536)]
QUESTION_MEMBERS = ("question", "query", "q", "prompt", "message", "text")
"""How the only required member of a tool that answers questions is called."""
ASKING_NAMES = ("ask", "question", "answer", "content_search", "search", "query", "chat")
"""What the names of such tools hold, the likeliest first."""


class Failure(msgspec.Struct, frozen=True):
    """An error of JSON-RPC."""

    message: str = ""
    code: int = 0


class Envelope(msgspec.Struct, frozen=True):
    """A message of JSON-RPC; ``method`` is set if it is the server's own request."""

    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: Failure | None = None
    method: str | None = None


class Initialized(msgspec.Struct, frozen=True, rename="camel"):
    """What the server says at the start."""

    protocol_version: Line


class Annotations(msgspec.Struct, frozen=True, rename="camel"):
    """What a server says of a tool's harm; None: nothing."""

    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None


class Tool(msgspec.Struct, frozen=True, rename="camel"):
    """A tool."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    description: Line | None = None
    input_schema: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    annotations: Annotations | None = None


class ToolPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the list of tools."""

    tools: Annotated[tuple[Tool, ...], msgspec.Meta(max_length=1000)]
    next_cursor: Line | None = None


class Block(msgspec.Struct, frozen=True):
    """A block of a result's content."""

    type: str
    text: str = ""
    uri: Line = ""
    title: Line | None = None
    name: Line | None = None


class Result(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a call."""

    content: Annotated[tuple[Block, ...], msgspec.Meta(max_length=1000)] = ()
    structured_content: dict[str, Any] | None = None
    is_error: bool = False
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The first text; a copy of the data that follows it is left out."""
        texts = [one.text for one in self.content if one.type == "text" and one.text]
        if self.structured_content is not None and len(texts) > 1:
            texts = [one for one in texts if not one.lstrip().startswith("{")]
        return "\n\n".join(texts)


def read_safety(annotations: Annotations | None) -> Safety | None:
    """Return what a tool's hints say of its harm; None if they say nothing."""
    if annotations is None:
        return None
    if annotations.read_only_hint:
        return Safety()
    match annotations.destructive_hint:
        case None:
            return None
        case True:
            return Safety(mutability="irreversible")
        case False:
            return Safety(mutability="reversible")


def find_question_member(tool: Tool) -> str | None:
    """Return the member of a tool's arguments that takes a question; None if it takes none.

    Such a tool changes nothing, as far as its server says, and needs one text and no more.
    """
    if tool.annotations is not None and tool.annotations.read_only_hint is False:
        return None
    properties, required = tool.input_schema.get("properties"), tool.input_schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list) or len(required) != 1:
        return None
    (name,) = required
    schema = properties.get(name) if isinstance(name, str) else None
    is_text = isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema
    return name if name in QUESTION_MEMBERS and is_text else None


def find_asking_tool(tools: tuple[Tool, ...]) -> tuple[Tool, str] | None:
    """Return the tool that answers questions, and the member that takes one."""
    found = []
    for tool in tools:
        member = find_question_member(tool)
        ranks = [place for place, one in enumerate(ASKING_NAMES) if one in tool.name.casefold()]
        if member is not None and ranks:
            found.append((ranks[0], tool, member))
    best = min(found, key=lambda one: one[0], default=None)
    return None if best is None else best[1:]


def list_sources(result: Result) -> tuple[Source, ...]:
    """Return the sources of an answer: those of its data, and linked resources."""
    found = [
        Source(one.uri, one.title or one.name or "")
        for one in result.content
        if one.type == "resource_link" and one.uri
    ]
    listed = (result.structured_content or {}).get("sources")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(one.get("url"), str):
            title, quote = one.get("title"), one.get("quote")
            found.append(
                Source(
                    one["url"],
                    title if isinstance(title, str) else "",
                    quote if isinstance(quote, str) else "",
                )
            )
    return tuple(found)


def read_envelope(found: Fetched, wanted: int) -> Envelope:
    """Return the response to a request: the body, or the event of a stream that has its id.

    Raises:
        SiteFailed: there is none, or it answers another request.
    """
    kind = found.headers.get("Content-Type", "").partition(";")[0].strip().casefold()
    try:
        if kind != "text/event-stream":
            envelope = msgspec.json.decode(found.body, type=Envelope)
            if envelope.id == wanted and envelope.method is None:
                return envelope
            if envelope.error is not None and envelope.id is None:
                return envelope
            raise SiteFailed("The server answered another request.")
        for event in found.body.decode("utf-8").replace("\r\n", "\n").split("\n\n"):
            data = "\n".join(
                line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")
            )
            if not data:
                continue
            envelope = msgspec.json.decode(data, type=Envelope)
            if envelope.method is None and envelope.id == wanted:
                return envelope
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SiteFailed(f"The server did not respond in the form of MCP: {error}") from None
    raise SiteFailed("The server's stream ended without a response.")

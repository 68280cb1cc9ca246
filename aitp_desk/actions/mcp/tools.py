"""Builds an offered action from a tool of an MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.actions.mcp.connection import McpConnection
from aitp_desk.actions.schemas.normal_form import PlainSchemas, SchemaUnusable
from aitp_desk.actions.schemas.sanitised_text import plain_words
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.actions.terms import DescribedAction, make_action
from aitp_desk.config import ActionTerms
from aitp_desk.model.calls.action import Action, Mutability
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, Unavailable

if TYPE_CHECKING:
    from mcp import MCPError, types

MOST_TEXT = 100_000
"""Maximum length of a result as text, in characters."""

_LATER = "The tool cannot do this now; try again later."
_UNKNOWN = "The tool did not finish its response. It is unknown whether it took effect."
_log = structlog.get_logger()


class Tool(msgspec.Struct, frozen=True, rename="camel"):
    """A tool as its server lists it.

    Parameters:
        read_only, destructive, idempotent: the server's hints; None for no hint.
    """

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    @property
    def mutability(self) -> Mutability:
        """Whether a call changes anything; the worst case without a hint."""
        if self.read_only:
            return "read_only"
        return "reversible" if self.destructive is False else "irreversible"


def build_action(
    tool: Tool, terms: ActionTerms, connection: McpConnection, *, prefix: str
) -> OfferedAction:
    """Build an action from a tool.

    Parameters:
        terms: the owner's settings for it.

    Raises:
        SchemaUnusable: it cannot be offered.
    """
    schemas = PlainSchemas(tool.input_schema)
    made = {word: said for word, said in schemas.make(tool.input_schema).items() if word != "title"}
    takes = SchemaValidator(schemas.whole(made), checks_formats=True)
    if takes.schema.get("type") != "object":
        raise SchemaUnusable("takes arguments that are not an object")
    gives = None
    if tool.output_schema is not None:
        schemas = PlainSchemas(tool.output_schema)
        gives = SchemaValidator(
            schemas.whole(schemas.make(tool.output_schema)), checks_formats=False
        )
    action = make_action(
        DescribedAction(
            id=tool.name,
            summary="",
            description=tool.description or tool.title or "",
            mutability=tool.mutability,
            may_be_query=True,
            input_schema=takes.schema,
            output_schema={"type": "string"} if gives is None else gives.schema,
            is_idempotent=tool.idempotent is True,
        ),
        terms,
        prefix=prefix,
    )

    async def perform(arguments: dict[str, Any], context: Context) -> ActionResult:
        result = await _call(connection, tool.name, arguments, action, context.call_id)
        text = _text(result)
        if result.is_error:
            raise PreconditionFailed(plain_words(text) or "The tool reported an error.")
        if gives is not None:
            return ActionResult(gives.prune(result.structured_content))
        if len(text) > MOST_TEXT:
            raise ValueError(f"{tool.name} answered with more than {MOST_TEXT} characters")
        return ActionResult(text, text)

    return OfferedAction(action, read=takes.read, perform=perform)


async def _call(
    connection: McpConnection, name: str, arguments: dict[str, Any], action: Action, call_id: str
) -> types.CallToolResult:
    """Call a tool; retry once if the connection was lost and a repetition is harmless."""
    from mcp import MCPError

    for attempt in range(2):
        client = await connection.client()
        try:
            return await client.call_tool(name, arguments)
        except MCPError as error:
            if not _is_lost(error):
                raise _refusal(error, connection.name, call_id) from None
        except OSError as error:
            _log.warning("tool_failed", server=connection.name, error=type(error).__name__)
        connection.drop(client)
        if attempt or not action.is_repeatable:
            break
    raise Unavailable(_LATER if action.is_repeatable else _UNKNOWN)


def _is_lost(error: MCPError) -> bool:
    from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

    return error.code in {CONNECTION_CLOSED, INVALID_REQUEST}


def _refusal(error: MCPError, server: str, call_id: str) -> InvalidRequest | Unavailable:
    from mcp.types import INVALID_PARAMS

    if error.code == INVALID_PARAMS:
        return InvalidRequest(
            plain_words(error.message) or "The tool does not accept these arguments."
        )
    _log.warning("tool_failed", server=server, call=call_id, code=error.code)
    return Unavailable(_LATER)


def _text(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")

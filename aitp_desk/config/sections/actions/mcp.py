"""Settings of actions that are tools of MCP servers."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import ActionTerms, Prefix, Variable
from aitp_desk.config.units import Url


class ToolTerms(ActionTerms, frozen=True, kw_only=True):
    """What of one tool is otherwise than its server alone would have it."""

    tool: Annotated[str, Meta(description="The tool's name, one of mcp.tools.")] = ""


class Mcp(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server whose tools are actions, of which there may be any number.

    The desk begins it as a process, or asks it at an address. No tool is offered that is not named
    here.
    """

    name: Annotated[
        str,
        Meta(
            max_length=32,
            pattern=r"\A(?:[a-z][a-z0-9_]*)?\Z",
            extra={"unit": "a name of small letters, digits and _"},
            description="What the desk calls it, in its log and its notes.",
        ),
    ] = ""
    tools: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "names of tools"},
            description='The offered tools; "*" alone offers all.',
        ),
    ] = ()
    prefix: Prefix = ""
    command: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "words"},
            description=(
                "The program, with its arguments, that is started in the site's folder without a"
                " shell."
            ),
        ),
    ] = ()
    env: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "names of environment variables"},
            description="What of the desk's environment the program is given, beside HOME,"
            " LOGNAME, PATH, SHELL, TERM and USER.",
        ),
    ] = ()
    url: Annotated[
        Url,
        Meta(
            description="Instead of a command, where the server answers (Streamable HTTP), which"
            " may be an address of this machine or of a private network.",
        ),
    ] = ""
    bearer_env: Annotated[
        Variable, Meta(description="What holds the token that is sent to the address.")
    ] = ""
    terms: tuple[ToolTerms, ...] = ()

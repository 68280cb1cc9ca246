"""Settings of actions that are tools of MCP servers."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import ActionTerms, Prefix, Variable
from aitp_desk.config.units import Url


class ToolTerms(ActionTerms, frozen=True, kw_only=True):
    """Changes to the server's description of one tool."""

    tool: Annotated[str, Meta(description="The tool's name, one of mcp.tools.")] = ""


class Mcp(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server whose tools become actions. Repeatable.

    The desk starts it as a process, or calls it at a URL. Only the tools named here are offered.
    """

    name: Annotated[
        str,
        Meta(
            max_length=32,
            pattern=r"\A(?:[a-z][a-z0-9_]*)?\Z",
            extra={"unit": "a name of small letters, digits and _"},
            description="The server's name in logs and messages.",
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
            description="Environment variables passed to the program, in addition to HOME, "
            "LOGNAME, PATH, SHELL, TERM and USER.",
        ),
    ] = ()
    url: Annotated[
        Url,
        Meta(
            description="The server's URL (Streamable HTTP), instead of a command; it may be "
            "on this machine or a private network.",
        ),
    ] = ""
    bearer_env: Annotated[
        Variable,
        Meta(description="The environment variable with the token that is sent to the URL."),
    ] = ""
    terms: tuple[ToolTerms, ...] = ()

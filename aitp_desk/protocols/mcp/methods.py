"""Maps the methods of MCP to their handlers, with and without the SDK's server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.mcp.caller import Caller
from aitp_desk.protocols.mcp.prompts import PromptMethods, SuggestedQuestions
from aitp_desk.protocols.mcp.resources import Markdown, ResourceMethods
from aitp_desk.protocols.mcp.tool_calls import call_tool, get_tools
from aitp_desk.protocols.mcp.tools import Item

Method = Callable[[Desk, Caller, Mapping[str, Any]], Awaitable[Item]]
Methods = Mapping[str, Method]


def make_methods(suggested: SuggestedQuestions, markdown: Markdown) -> Methods:
    """Return the handlers by method name.

    Parameters:
        suggested: returns the questions that the site suggests.
        markdown: returns a page as Markdown.
    """
    reading, prompting = ResourceMethods(markdown), PromptMethods(suggested)
    return {
        "tools/list": get_tools,
        "tools/call": call_tool,
        "resources/list": reading.get_list,
        "resources/templates/list": reading.get_templates,
        "resources/read": reading.read,
        "prompts/list": prompting.get_list,
        "prompts/get": prompting.get,
    }

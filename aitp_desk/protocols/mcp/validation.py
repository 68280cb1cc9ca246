"""Validates the form of messages and of their parameters.

Every message is validated before the SDK reads it, in each era of the protocol. One program would
answer what another takes for a notification, and the SDK's refusals name either nothing or all of
the message. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from aitp_desk.protocols.base.json_rpc import is_request_id

_LISTS: Final = frozenset(
    {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}
)
_NAMED: Final = {"tools/call": "a tool", "prompts/get": "a prompt"}


def find_message_fault(message: Any) -> str | None:
    """Return why a body is not a JSON-RPC 2.0 message; None for a valid one."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 'The body must be one JSON-RPC 2.0 message: an object with "jsonrpc": "2.0".'
    if "id" in message and not is_request_id(message["id"]):
        return "The id of a message must be a string or a whole number."
    if "method" in message and not isinstance(message["method"], str):
        return "The method of a message must be a string."
    if message.keys().isdisjoint({"method", "result", "error"}):
        return "A message must have a method."
    return None


def find_params_fault(method: str, params: Any) -> str | None:
    """Return what is wrong with a method's parameters; None where they are valid."""
    if not isinstance(params, dict | None):
        return "`params` must be an object."
    given: Mapping[str, Any] = params or {}
    if not isinstance(given.get("_meta"), dict | None):
        return "`_meta` must be an object."
    if method in _LISTS and not isinstance(given.get("cursor"), str | None):
        return "`cursor` must be the nextCursor of the previous page."
    if method == "resources/read" and not isinstance(given.get("uri"), str):
        return "resources/read needs the uri of a resource."
    if (what := _NAMED.get(method)) is None:
        return None
    if not isinstance(given.get("name"), str):
        return f"{method} needs the name of {what}."
    if not isinstance(given.get("arguments"), dict | None):
        return f"The arguments of {what} must be an object."
    return None

"""Builds messages of JSON-RPC 2.0, for the protocols that use it."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
"""The codes that JSON-RPC itself defines (section 5.1)."""


class JSONRPCRequest(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    """A call of a method, or a notification."""

    method: str
    params: dict[str, Any] | None = None
    id: str | int | None = None


class JSONRPCError(msgspec.Struct):
    """Why a call failed."""

    code: int
    message: str
    data: Any = UNSET


class JSONRPCAnswer(msgspec.Struct, tag_field="jsonrpc", tag="2.0", kw_only=True):
    """The response to a call: its result, or its error."""

    id: str | int | None
    result: Any = UNSET
    error: JSONRPCError | UnsetType = UNSET


OBJECTS: Final[tuple[type[msgspec.Struct], ...]] = (JSONRPCRequest, JSONRPCAnswer)
"""The bodies of requests and responses."""


def is_request_id(value: Any) -> bool:
    """Return whether a value can be a request's id: a string or an integer."""
    return isinstance(value, str) or type(value) is int


def make_result(id_: Any, result: Any) -> JSONRPCAnswer:
    """Return a successful response (section 5)."""
    return JSONRPCAnswer(id=id_, result=result)


def make_error(id_: Any, code: int, message: str, data: Any = None) -> JSONRPCAnswer:
    """Return an error response (section 5.1).

    Parameters:
        id_: None where the request is unknown.
        data: details for programs; None for none.
    """
    return JSONRPCAnswer(id=id_, error=JSONRPCError(code, message, UNSET if data is None else data))

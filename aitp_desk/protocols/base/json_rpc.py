"""Builds messages of JSON-RPC 2.0, for the protocols that use it."""

from __future__ import annotations

from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
"""The codes that JSON-RPC itself defines (section 5.1)."""


def is_request_id(value: Any) -> bool:
    """Return whether a value can be a request's id: a string or an integer."""
    return isinstance(value, str) or type(value) is int


def make_result(id_: Any, result: Any) -> dict[str, Any]:
    """Return a successful response (section 5)."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def make_error(id_: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """Return an error response (section 5.1).

    Parameters:
        id_: None where the request is unknown.
        data: details for programs; None for none.
    """
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id_, "error": error}

"""Messages of JSON-RPC 2.0, for the doors that speak it."""

from __future__ import annotations

from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
"""The codes that it has itself (section 5.1)."""


def is_request_id(value: Any) -> bool:
    """Whether a request may be called so: by a text, or a whole number."""
    return isinstance(value, str) or type(value) is int


def make_result(id_: Any, result: Any) -> dict[str, Any]:
    """A response that gives what was asked for (section 5)."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def make_error(id_: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """A response that says what is wrong (section 5.1).

    Parameters:
        id_: None where it is not known which request it answers.
        data: what programs may read of it; None for nothing.
    """
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id_, "error": error}

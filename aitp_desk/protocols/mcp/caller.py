"""Identifies the sender of an MCP message, and refuses messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.model.access.principal import Principal

REFUSED: Final = -32010
"""The code for errors that JSON-RPC does not define; ``data.code`` names them."""


class Caller(msgspec.Struct):
    """The sender of a message and what its client supports.

    Parameters:
        allowance: what the caller has left; None where nothing is counted.
        path: the called address.
        key: the idempotency key (``Idempotency-Key``).
        is_over_http: whether an HTTP status reports a missing credential or scope.
        step_aside: releases the concurrency slot while a call only waits for its paid outcome.
        elicits: whether the client can ask its user for input before it calls again.
        escaped: an error of a handler that the HTTP response must report, such as a missing
            credential; None for none.
    """

    principal: Principal
    allowance: Allowance | None = None
    path: str = "/mcp"
    key: str | None = None
    is_over_http: bool = True
    step_aside: Callable[[], None] = lambda: None
    elicits: bool = False
    escaped: Exception | None = None


class RpcError(Exception):
    """A message that is answered with a JSON-RPC error (section 5.1).

    Parameters:
        message: a sentence or two for the caller: what is wrong, what would be right.
        data: details for programs.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

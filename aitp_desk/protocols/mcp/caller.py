"""Who asks over MCP, and how a message of theirs is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.model.access.principal import Principal

REFUSED: Final = -32010
"""The code that this server has for what JSON-RPC has none for; ``data.code`` says what it is."""


class Caller(msgspec.Struct):
    """Who sends a message, and what is known of what they can do.

    Parameters:
        allowance: what they have left; None where nothing is counted.
        path: the address that they have called.
        key: what has a call count once (``Idempotency-Key``).
        is_over_http: whether what is lacking to be let in is told by an HTTP status.
        step_aside: lets others go on while a call only waits for what was paid for it.
        elicits: whether the client can ask its user for something before it calls again.
        escaped: what a handler has raised that the HTTP answer has to say, such as that a
            credential is needed; None for nothing.
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
    """A message that is answered with an error of JSON-RPC (section 5.1).

    Parameters:
        message: a sentence or two for the caller: what is wrong, what would be right.
        data: what programs may read of it.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

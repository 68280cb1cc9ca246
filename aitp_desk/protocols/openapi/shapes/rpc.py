"""Calls by JSON-RPC 2.0, of MCP and of A2A."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class JSONRPCRequest(msgspec.Struct):
    """A method that is called."""

    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, Any] | None = None
    id: str | int | None = None


class JSONRPCError(msgspec.Struct):
    """Why a method failed."""

    code: int
    message: str
    data: Any = None


class JSONRPCAnswer(msgspec.Struct):
    """What came of a call: result, or error."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    result: Any = None
    error: JSONRPCError | None = None

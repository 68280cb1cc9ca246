"""The interface of a model's API: its client, and the pieces of a message."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from aitp_desk.agent.base import Usage

CONNECT_SECONDS = 10.0
"""How long a connection to an API may take."""
RETRIED = frozenset({408, 409, 429})
"""Statuses below 500 after which the same call may succeed."""
KIND = re.compile(r"[a-z_]{1,40}")
"""The form of an error's type; anything else is not logged."""
MALFORMED = (ValueError, RuntimeError, TypeError, AttributeError, LookupError, AssertionError)
"""Raised when a message is read that is not as its API documents it, such as a proxy's."""


class ModelFailed(Exception):
    """A call failed.

    Parameters:
        reason: the cause, as a word for the log.
        may_retry: whether the same call may succeed later.
        retry_after: seconds to wait before, as the API requests; None if it does not say.
        is_refused_key: whether the API rejects the key.
    """

    def __init__(
        self,
        reason: str,
        *,
        may_retry: bool = False,
        retry_after: float | None = None,
        is_refused_key: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_retry = may_retry
        self.retry_after = retry_after
        self.is_refused_key = is_refused_key


class Text(msgspec.Struct, frozen=True):
    """A piece of the model's text."""

    text: str


class Citation(msgspec.Struct, frozen=True):
    """A citation of a search result in the model's text.

    Parameters:
        index: its index among all search results of the request, from 0.
        block: index of the first cited block of its content, from 0.
        source: the source that it was sent with.
    """

    index: int
    block: int
    source: str


class ToolUse(msgspec.Struct, frozen=True):
    """The model calls a tool."""

    id: str
    name: str
    arguments: str


class MessageEnded(msgspec.Struct, frozen=True):
    """The end of a message.

    Parameters:
        stop_reason: why, as the API names it.
        blocks: its content, as it can be sent back.
    """

    stop_reason: str
    text: str
    tool_uses: tuple[ToolUse, ...]
    blocks: tuple[dict[str, Any], ...]


class ModelStream(Protocol):
    """A message of a model that is being read."""

    @property
    def usage(self) -> Usage:
        """The tokens so far."""

    def pieces(self) -> AsyncGenerator[Text | Citation | MessageEnded]:
        """Yield the pieces of the message as they arrive, and then its end."""


class ModelClient(Protocol):
    """A client of a model's API. Requests are written as for the Messages API.

    Its methods raise :class:`ModelFailed`.
    """

    @property
    def has_tools(self) -> bool:
        """Whether the model can call tools, as far as is known."""

    async def open(self) -> object:
        """Import the SDK and validate the address."""

    async def close(self) -> None:
        """Close the connections."""

    def open_stream(self, request: dict[str, Any]) -> AbstractAsyncContextManager[ModelStream]:
        """Send a request and read the response message."""


def read_retry_after(headers: Any) -> float | None:
    """Return the seconds to wait that a response requests."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def replace_surrogates(text: str) -> str:
    """Remove lone surrogates from a text. JSON can write them, but few programs can read them."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )

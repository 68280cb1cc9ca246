"""Calls the Messages API through its SDK, streamed, and converts its failures.

The SDK is imported at the first call, in a thread, because that takes a second. It is given the key
and the address explicitly, so that it looks for no other credential; it retries nothing itself.

Source: the Messages API as the SDK ``anthropic`` 2.12 types it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from aitp_desk.agent.base import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

DEFAULT_URL = "https://api.anthropic.com"
CONNECT_SECONDS = 10.0
RETRIED = frozenset({408, 409, 429})
_AGAIN_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})

KIND = re.compile(r"[a-z_]{1,40}")
"""The form of an error's type; anything else is not logged."""
MALFORMED = (ValueError, RuntimeError, TypeError, AttributeError, LookupError, AssertionError)
"""Raised when a message is read that is not as the API documents it, such as a proxy's."""


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


class MessageStream:
    """A message that is being read.

    Attributes:
        usage: the API's counts so far.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.usage = Usage()

    async def pieces(self) -> AsyncGenerator[Text | Citation | MessageEnded]:
        """Yield the pieces of the message as they arrive, and then its end.

        Raises:
            ModelFailed: it broke off.
        """
        try:
            async for event in self._stream:
                match event.type:
                    case "message_start" | "message_delta":
                        self.usage = _usage(self._stream.current_message_snapshot)
                    case "text":
                        yield Text(replace_surrogates(event.text))
                    case "citation" if event.citation.type == "search_result_location":
                        cited = event.citation
                        place, block = int(cited.search_result_index), int(cited.start_block_index)
                        yield Citation(place, block, str(cited.source))
                    case "message_stop":
                        yield _ended(self._stream.current_message_snapshot)
                        return
                    case _:
                        pass
        except MALFORMED as error:  # the SDK does not validate what it assembles
            raise ModelFailed("bad_message") from error
        raise ModelFailed("cut_off", may_retry=True)


class MessagesClient:
    """A client of the Messages API.

    Attributes:
        has_tools: that the model can call tools.

    Parameters:
        key: the API key; it goes to the SDK and nowhere else.
        url: the API's address; None for the public one.
        seconds: how long the API may be silent.
    """

    has_tools = True

    def __init__(self, key: str, url: str | None, seconds: float) -> None:
        self._make: Callable[[], AsyncAnthropic] = lambda: _make_client(key, url, seconds)
        self._client: AsyncAnthropic | None = None
        self._lock = asyncio.Lock()

    async def open(self) -> AsyncAnthropic:
        """Return the SDK's client; made at its first use.

        Raises:
            ModelFailed: the address is invalid.
        """
        async with self._lock:
            if self._client is None:
                await asyncio.to_thread(_import_sdk)
                import httpx2

                try:
                    self._client = self._make()
                except httpx2.InvalidURL as error:
                    raise ModelFailed("bad_address") from error
            return self._client

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def open_stream(self, request: dict[str, Any]) -> AsyncIterator[MessageStream]:
        """Send a request and read the response message.

        Raises:
            ModelFailed: there is none, or the body of the context meets a failure of the API.
        """
        client = await self.open()
        with convert_errors():
            async with client.messages.stream(**request) as stream:
                yield MessageStream(stream)


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert the SDK's exceptions into :class:`ModelFailed`; the SDK is imported."""
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.APIStatusError as error:
        raise _status_failure(error.status_code, error.type, error.response.headers) from error
    except anthropic.APITimeoutError as error:
        raise ModelFailed("timeout", may_retry=True) from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        raise ModelFailed("connection", may_retry=True) from error
    except anthropic.AnthropicError as error:
        raise ModelFailed("bad_message") from error


def _import_sdk() -> None:
    import anthropic
    import anthropic.resources.messages  # noqa: F401 -- the SDK imports it at the first call

    for name in ("anthropic", "httpx2"):
        # with ANTHROPIC_LOG the SDK would log all messages
        logging.getLogger(name).setLevel(logging.WARNING)


def _make_client(key: str, url: str | None, seconds: float) -> AsyncAnthropic:
    import anthropic

    return anthropic.AsyncAnthropic(
        api_key=key,
        base_url=url or DEFAULT_URL,
        timeout=anthropic.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        max_retries=0,
    )


def _status_failure(status: int, kind: str | None, headers: Any) -> ModelFailed:
    """Convert an API error; an error inside a stream comes with status 200."""
    inside = status < 400
    may_retry = kind in _AGAIN_TYPES if inside else status in RETRIED or status >= 500
    if headers.get("x-should-retry") == "false":
        may_retry = False
    reason = kind if kind and KIND.fullmatch(kind) else f"status_{status}"
    return ModelFailed(
        reason,
        may_retry=may_retry,
        retry_after=read_retry_after(headers),
        is_refused_key=status in {401, 403},
    )


def read_retry_after(headers: Any) -> float | None:
    """Return the seconds to wait that a response requests."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def _usage(message: Message) -> Usage:
    counted = message.usage
    cached = counted.cache_read_input_tokens or 0
    written = counted.cache_creation_input_tokens or 0
    return Usage(counted.input_tokens + cached + written, cached, counted.output_tokens)


def _ended(message: Message) -> MessageEnded:
    if message.stop_reason is None:
        raise ModelFailed("cut_off", may_retry=True)
    said: list[str] = []
    uses: list[ToolUse] = []
    blocks: list[dict[str, Any]] = []
    for block in message.content:
        match block.type:
            case "text" if block.text.strip():
                text = replace_surrogates(block.text)
                said.append(text)
                blocks.append({"type": "text", "text": text})
            case "tool_use":
                given = dict(block.input)
                uses.append(ToolUse(block.id, block.name, msgspec.json.encode(given).decode()))
                blocks.append(
                    {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
                )
            case "thinking" | "redacted_thinking":
                blocks.append(block.to_dict())
            case _:
                pass
    return MessageEnded(message.stop_reason, "".join(said), tuple(uses), tuple(blocks))


def replace_surrogates(text: str) -> str:
    """Remove lone surrogates from a text. JSON can write them, but few programs can read them."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )

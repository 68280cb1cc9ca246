"""Calls the Messages API through its SDK, streamed, and converts its failures.

The SDK is given the key and the address explicitly, so that it looks for no other credential; it
retries nothing itself.

Source: the Messages API as the SDK ``anthropic`` 2.12 types it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from aitp_desk.agent.base import Usage
from aitp_desk.agent.generative.providers.base import (
    CONNECT_SECONDS,
    KIND,
    MALFORMED,
    RETRIED,
    Citation,
    MessageEnded,
    ModelFailed,
    Text,
    ToolUse,
    read_retry_after,
    replace_surrogates,
)
from aitp_desk.agent.generative.providers.sdk_connection import SdkConnection

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

DEFAULT_URL = "https://api.anthropic.com"
_AGAIN_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


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
            async with aclosing(aiter(self._stream)) as events:
                async for event in events:
                    match event.type:
                        case "message_start" | "message_delta":
                            self.usage = _usage(self._stream.current_message_snapshot)
                        case "text":
                            yield Text(replace_surrogates(event.text))
                        case "citation" if event.citation.type == "search_result_location":
                            yield _citation(event.citation)
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
        self._connection: SdkConnection[AsyncAnthropic] = SdkConnection(
            "anthropic", _import_sdk, lambda: _make_client(key, url, seconds)
        )
        self.open = self._connection.open
        self.close = self._connection.close

    @asynccontextmanager
    async def open_stream(self, request: dict[str, Any]) -> AsyncIterator[MessageStream]:
        """Send a request and read the response message.

        Raises:
            ModelFailed: there is none, or the body of the context meets a failure of the API.
        """
        client = await self.open()
        with convert_errors():
            async with client.messages.stream(**request) as stream, _ending(stream):
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


@asynccontextmanager
async def _ending(stream: Any) -> AsyncIterator[None]:
    """Close a stream when its reader has gone, and let the SDK's generators end.

    They would stay suspended until the garbage collector finds them, after the loop has closed at
    worst. Reading on from a closed response ends each of them.
    """
    try:
        yield
    finally:
        await stream.close()
        with suppress(Exception):
            while True:
                await anext(stream)


def _import_sdk() -> None:
    import anthropic.resources.messages  # noqa: F401 -- the SDK imports it at the first call


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


def _usage(message: Message) -> Usage:
    counted = message.usage
    cached = counted.cache_read_input_tokens or 0
    written = counted.cache_creation_input_tokens or 0
    return Usage(counted.input_tokens + cached + written, cached, counted.output_tokens)


def _citation(cited: Any) -> Citation:
    place, block = int(cited.search_result_index), int(cited.start_block_index)
    return Citation(place, block, str(cited.source))


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

"""Calls Chat Completions through the SDK ``openai``, streamed, and converts its failures.

The SDK, of the extra ``openai``, retries nothing itself. A parameter that a server refuses is left
out from then on, with a line in the log.

Source: Chat Completions as the SDK ``openai`` 3.54 types it, and the refusals that vLLM, llama.cpp,
Ollama and OpenRouter document.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import structlog

from aitp_desk.agent.generative.providers.base import (
    CONNECT_SECONDS,
    KIND,
    RETRIED,
    ModelFailed,
    read_retry_after,
)
from aitp_desk.agent.generative.providers.completions.request import (
    ChatRequest,
    Dialect,
    write_request,
)
from aitp_desk.agent.generative.providers.completions.stream import ChatStream
from aitp_desk.agent.generative.providers.sdk_connection import SdkConnection

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_DEFAULT_URL = "https://api.openai.com/v1"
_FINAL = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Errors of status 429 that waiting does not mend."""
_RETRIED_KINDS = frozenset({"server_error", "rate_limit_exceeded", "overloaded", "internal_error"})
_EFFECTS = {
    "stream_options": "tokens are estimated",
    "parallel_tool_calls": "several tools may be called at once",
    "tool_choice": "the model cannot be made to call a tool",
    "tools": "the model calls no actions and does not search again",
}
"""What is lost without a parameter."""

_log = structlog.get_logger()


class ChatClient:
    """A client of Chat Completions.

    Parameters:
        key: the API key; empty for none.
        url: the API's base URL; None for OpenAI's.
        seconds: how long the API may be silent.
    """

    def __init__(self, key: str, url: str | None, seconds: float) -> None:
        self._connection: SdkConnection[AsyncOpenAI] = SdkConnection(
            "openai", _import_sdk, lambda: _make_client(key, url, seconds)
        )
        self.open = self._connection.open
        self.close = self._connection.close
        self._has_key = bool(key)
        self._dialect = Dialect()

    @property
    def has_tools(self) -> bool:
        """Whether the model can call tools, as far as is known."""
        return self._dialect.has_tools

    @asynccontextmanager
    async def open_stream(self, request: dict[str, Any]) -> AsyncIterator[ChatStream]:
        """Send a request, written as for the Messages API, and read the response message.

        Raises:
            ModelFailed: there is none, or the body of the context meets a failure of the API.
        """
        client = await self.open()
        with convert_errors():
            written, chunks = await self._send(client, request)
            async with chunks:
                yield ChatStream(chunks, written)

    async def _send(self, client: AsyncOpenAI, request: dict[str, Any]) -> tuple[ChatRequest, Any]:
        """Send a request, again without each parameter that the server refuses."""
        import openai

        headers = {} if self._has_key else {"Authorization": openai.Omit()}
        while True:
            dialect = self._dialect
            written = write_request(request, dialect)
            completions: Any = client.chat.completions
            try:
                return written, await completions.create(**written.body, extra_headers=headers)
            except openai.APIStatusError as error:
                refused = dialect.refuse(
                    error.status_code, error.param, error.message, written.body
                )
                if refused is None:
                    raise
                self._leave_out(refused, request["model"])

    def _leave_out(self, parameter: str, model: str) -> None:
        """Leave out a parameter from now on."""
        if parameter in self._dialect.refused:  # another request has met the same refusal
            return
        self._dialect = Dialect(self._dialect.refused | {parameter})
        if effect := _EFFECTS.get(parameter):
            _log.warning("model_refuses_parameter", model=model, parameter=parameter, so=effect)


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert the SDK's exceptions into :class:`ModelFailed`; the SDK is imported."""
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise _status_failure(error) from error
    except openai.APITimeoutError as error:
        raise ModelFailed("timeout", may_retry=True) from error
    except (openai.APIConnectionError, httpx2.HTTPError) as error:
        raise ModelFailed("connection", may_retry=True) from error
    except openai.APIError as error:  # inside a stream
        kind = _kind(error)
        raise ModelFailed(kind or "stream_error", may_retry=kind in _RETRIED_KINDS) from error
    except (openai.OpenAIError, ValueError) as error:
        raise ModelFailed("bad_message") from error


def _import_sdk() -> None:
    import openai.resources.chat.completions  # noqa: F401 -- the SDK imports it at the first call


def _make_client(key: str, url: str | None, seconds: float) -> AsyncOpenAI:
    import openai

    client = openai.AsyncOpenAI(
        api_key=key or "none",
        base_url=url or _DEFAULT_URL,
        timeout=openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        max_retries=0,
    )
    if url:  # of another provider, which the names of OpenAI's account are none of the business
        client.organization = client.project = None
    return client


def _status_failure(error: Any) -> ModelFailed:
    """Convert an error response."""
    status, headers, kind = error.status_code, error.response.headers, _kind(error)
    may_retry = (status in RETRIED or status >= 500) and kind not in _FINAL
    if headers.get("x-should-retry") == "false":
        may_retry = False
    return ModelFailed(
        kind or f"status_{status}",
        may_retry=may_retry,
        retry_after=read_retry_after(headers),
        is_refused_key=status in {401, 403},
    )


def _kind(error: Any) -> str | None:
    """Return the code or type of an error, if it may be logged."""
    named = (str(name) for name in (error.code, error.type) if name)
    return next((name for name in named if KIND.fullmatch(name)), None)

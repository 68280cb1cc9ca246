"""Connects the models of the settings, in the order in which they are called."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec
import structlog

from aitp_desk.agent.base import Usage
from aitp_desk.agent.claude.completions.client import ChatClient
from aitp_desk.agent.claude.messages import Citation, MessageEnded, MessagesClient, Text
from aitp_desk.config import Model, ModelChoice
from aitp_desk.config.sections.content.model import API_URL

_log = structlog.get_logger()


class ModelStream(Protocol):
    """A message of a model that is being read.

    Attributes:
        usage: the tokens so far.
    """

    @property
    def usage(self) -> Usage:
        """The tokens so far."""

    def pieces(self) -> AsyncGenerator[Text | Citation | MessageEnded]:
        """Yield the pieces of the message as they arrive, and then its end."""


class ModelClient(Protocol):
    """A client of a model's API. Requests are written as for the Messages API.

    Its methods raise :class:`~aitp_desk.agent.claude.messages.ModelFailed`.
    """

    @property
    def has_tools(self) -> bool:
        """Whether the model can call tools, as far as is known."""

    async def open(self) -> Any:
        """Import the SDK and validate the address."""

    async def close(self) -> None:
        """Close the connections."""

    def open_stream(self, request: dict[str, Any]) -> AbstractAsyncContextManager[ModelStream]:
        """Send a request and read the response message."""


class ConnectedModel(msgspec.Struct, frozen=True):
    """A model that can be called."""

    choice: ModelChoice
    client: ModelClient


def connect_models(settings: Model, environment: Mapping[str, str]) -> tuple[ConnectedModel, ...]:
    """Connect the models whose keys the environment has.

    Without a key for the default model that is no fault: extraction answers.
    """
    return tuple(_connect(settings, environment))


def _connect(settings: Model, environment: Mapping[str, str]) -> Iterator[ConnectedModel]:
    for choice in settings.chain:
        client = make_client(choice, environment, settings.reply_seconds)
        if client is not None:
            yield ConnectedModel(choice, client)
        elif not choice.is_default:
            _log.warning("model_not_used", model=choice.name, reason=describe_missing_key(choice))


def make_client(
    choice: ModelChoice, environment: Mapping[str, str], seconds: float
) -> ModelClient | None:
    """Return a client of a model's API; None without the key that it needs.

    Parameters:
        seconds: how long the API may be silent.
    """
    if not has_key(choice, environment):
        return None
    key = environment.get(choice.key_variable, "").strip()
    match choice.provider:
        case "anthropic":
            return MessagesClient(key, choice.url or environment.get(API_URL) or None, seconds)
        case "openai":
            return ChatClient(key, choice.url or None, seconds)


def has_key(choice: ModelChoice, environment: Mapping[str, str]) -> bool:
    """Return whether the environment has the key of a model, or it needs none."""
    return not choice.key_variable or bool(environment.get(choice.key_variable, "").strip())


def describe_missing_key(choice: ModelChoice) -> str:
    """Return why a model without a key is not used."""
    return f"{choice.key_variable} is not set."

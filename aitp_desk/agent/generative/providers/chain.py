"""Connects the models of the settings, in the order in which they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

import msgspec
import structlog

from aitp_desk.agent.generative.providers.base import ModelClient
from aitp_desk.agent.generative.providers.completions.client import ChatClient
from aitp_desk.agent.generative.providers.messages import MessagesClient
from aitp_desk.config import Model, ModelChoice
from aitp_desk.config.sections.content.model import API_URL

_log = structlog.get_logger()


class ConnectedModel(msgspec.Struct, frozen=True):
    """A model that can be called."""

    choice: ModelChoice
    client: ModelClient


def connect_models(settings: Model, environment: Mapping[str, str]) -> tuple[ConnectedModel, ...]:
    """Connect the models whose key and extra are there.

    That the default model has no key is no fault: extraction answers.
    """
    return tuple(_connect(settings, environment))


def _connect(settings: Model, environment: Mapping[str, str]) -> Iterator[ConnectedModel]:
    for choice in settings.chain:
        client = make_client(choice, environment, settings.reply_seconds)
        if client is not None:
            yield ConnectedModel(choice, client)
        elif not choice.is_default:
            reason = describe_obstacle(choice, environment)
            _log.warning("model_not_used", model=choice.name, reason=reason)


def make_client(
    choice: ModelChoice, environment: Mapping[str, str], seconds: float
) -> ModelClient | None:
    """Return a client of a model's API; None without the key or the extra that it needs.

    Parameters:
        seconds: how long the API may be silent.
    """
    if describe_obstacle(choice, environment):
        return None
    key = environment.get(choice.key_variable, "").strip()
    match choice.provider:
        case "anthropic":
            return MessagesClient(key, choice.url or environment.get(API_URL) or None, seconds)
        case "openai":
            return ChatClient(key, choice.url or None, seconds)


def describe_obstacle(choice: ModelChoice, environment: Mapping[str, str]) -> str | None:
    """Return why a model cannot be called; None if it can."""
    if not _has_key(choice, environment):
        return f"{choice.key_variable} is not set."
    if not has_extra(choice):
        return f"It needs an extra: pip install 'aitp-desk[{choice.provider}]'."
    return None


def has_extra(choice: ModelChoice) -> bool:
    """Return whether the SDK of a model's API is installed; all but Claude's are extras."""
    return find_spec(choice.provider) is not None


def _has_key(choice: ModelChoice, environment: Mapping[str, str]) -> bool:
    return not choice.key_variable or bool(environment.get(choice.key_variable, "").strip())

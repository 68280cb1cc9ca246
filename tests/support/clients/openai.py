"""The OpenAI SDK as a client of a desk, and the strictest look at what it was given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from pydantic import BaseModel

from tests.support.clients.threads import Talker
from tests.support.clients.tls import certificates

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Given = TypeVar("Given", bound=BaseModel)

DEPRECATED = pytest.mark.filterwarnings(
    "ignore:The Assistants API is deprecated:DeprecationWarning",
    "ignore:deprecated$:DeprecationWarning",
)
"""The SDK says so of every call to threads and assistants; the desk serves them all the same."""


@asynccontextmanager
async def sdk(talker: Talker) -> AsyncIterator[AsyncOpenAI]:
    """The SDK's client with a talker's key. It checks types strictly and never tries again."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    assert talker.key is not None, "the SDK always sends a key"
    async with AsyncOpenAI(
        base_url=f"{talker.desk.url}/v1",
        api_key=talker.key,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(verify=certificates()),
        _strict_response_validation=True,
    ) as client:
        yield client


def exact(given: Given) -> Given:
    """The same object, after a look that it has every member of its type and no other."""
    _check_members(given, type(given).__name__)
    return given


def _check_members(value: Any, at: str) -> None:
    if isinstance(value, BaseModel):
        assert not value.model_extra, f"{at} has {sorted(value.model_extra)} besides"
        required = {name for name, field in type(value).model_fields.items() if field.is_required()}
        assert required <= value.model_fields_set, f"{at} lacks {required - value.model_fields_set}"
        for name in value.model_fields_set:
            _check_members(getattr(value, name), f"{at}.{name}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_members(item, f"{at}[{place}]")

"""The agents of a site, as the OpenAI API has them."""

from __future__ import annotations

from typing import Literal

import msgspec


class Assistant(msgspec.Struct):
    """An agent of the site."""

    id: str
    object: Literal["assistant"]
    created_at: int
    name: str | None
    description: str | None
    model: str


class Model(msgspec.Struct):
    """What an agent answers with."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str

"""Whether a desk is well."""

from __future__ import annotations

from typing import Literal

import msgspec


class Health(msgspec.Struct):
    """The process answers."""

    status: Literal["ok"]


class Readiness(msgspec.Struct):
    """Whether the desk can do its work, and with what."""

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str
    notes: list[str]

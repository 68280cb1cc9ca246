"""Whether a desk is well."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.component import ComponentState


class Health(msgspec.Struct):
    """The process answers."""

    status: Literal["ok"]


class Taken(msgspec.Struct):
    """What was sent to a hook was taken, and is on disk."""

    status: Literal["ok"]


class Component(msgspec.Struct):
    """A part of the desk, and since when it is so; the reason where there is one."""

    name: str
    status: ComponentState
    since: str
    reason: str | UnsetType = UNSET


class Readiness(msgspec.Struct):
    """Whether the desk can do its work, and with what; its parts for those who run it."""

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str
    notes: list[str]
    status: ComponentState
    components: list[Component] | UnsetType = UNSET

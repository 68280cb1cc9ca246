"""Defines the JSON objects of health checks, which the OpenAPI document describes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.component import ComponentState


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"]


class Component(msgspec.Struct, frozen=True, omit_defaults=True):
    """A component of the desk.

    Parameters:
        since: since when it is in this state.
        reason: why it is not up, or another note; absent where there is none.
    """

    name: str
    status: ComponentState
    since: datetime
    reason: str = ""


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the desk can work, and with what.

    Parameters:
        working: whether runs are processed.
        documents: number of pages it knows.
        problems: number of content files that could not be read.
        agent: the agent that answers now.
        notes: sentences for operators.
        components: for operators only.
        worker: the process that answers; absent if it is the only one of the desk.
    """

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str
    notes: Sequence[str]
    status: ComponentState
    components: Sequence[Component] | UnsetType = UNSET
    worker: str | UnsetType = UNSET


OBJECTS: tuple[type[msgspec.Struct], ...] = (Health, Readiness)
"""The bodies of responses."""

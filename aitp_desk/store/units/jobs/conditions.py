"""Stores since when the desk's components are in their condition, across restarts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.component import ComponentState
from aitp_desk.store.base import Work


class StoredCondition(msgspec.Struct, frozen=True):
    """The condition of a component.

    Parameters:
        since: Unix seconds.
    """

    name: str
    state: ComponentState
    since: int


def keep_conditions(*, conditions: Sequence[StoredCondition]) -> Work[None]:
    """Store the conditions of components, replacing the previous ones."""
    for one in conditions:
        yield "keep_condition", {"name": one.name, "state": one.state, "since": one.since}

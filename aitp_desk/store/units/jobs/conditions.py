"""Since when the parts of the desk are as they are, over its restarts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.component import ComponentState
from aitp_desk.store.base import Work


class KeptCondition(msgspec.Struct, frozen=True):
    """How a part of the desk is.

    Parameters:
        since: Unix seconds.
    """

    name: str
    state: ComponentState
    since: int


def keep_conditions(*, conditions: Sequence[KeptCondition]) -> Work[None]:
    """Write down how parts are now, in place of how they were."""
    for one in conditions:
        yield "keep_condition", {"name": one.name, "state": one.state, "since": one.since}

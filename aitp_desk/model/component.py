"""The components of a desk and their states, as monitoring sees them.

A component that works with limitations is ``degraded``: a stand-in answers, jobs were given up, a
page cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

ComponentState = Literal["up", "degraded", "down"]
Part = Literal["vital", "own", "elsewhere"]
"""The effect of a component that is down: without a ``vital`` one the desk itself is down. One that
is ``elsewhere`` is only observed: its degraded state is reported, but does not count for the desk.
"""


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """The current condition of a component.

    Parameters:
        name: unique, at most 100 characters.
        reason: why it is not up, in a sentence for operators; or another note. It holds no content
            of callers.
    """

    name: str
    state: ComponentState = "up"
    reason: str = ""
    part: Part = "own"


class Component(Condition, frozen=True, kw_only=True):
    """The condition of a component, and since when it has its state.

    Parameters:
        since: Unix seconds.
    """

    since: int


def state_of(components: Iterable[Condition]) -> ComponentState:
    """Return the state of a desk with these components.

    Another desk that is degraded does not make this one degraded: otherwise two desks that watch
    each other would keep each other in that state.
    """
    counted: set[ComponentState] = set()
    for one in components:
        if one.state == "down":
            counted.add("down" if one.part == "vital" else "degraded")
        elif one.part != "elsewhere":
            counted.add(one.state)
    if "down" in counted:
        return "down"
    return "degraded" if "degraded" in counted else "up"

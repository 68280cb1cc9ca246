"""What a desk is made of, as whoever watches it sees it: parts, and how each of them is.

A part that does its work, but not as it should, is ``degraded``: a stand-in answers, jobs were
given up, a page cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

ComponentState = Literal["up", "degraded", "down"]
Part = Literal["vital", "own", "elsewhere"]
"""What becomes of the desk where a part is down: without a ``vital`` one it is down itself; what it
only watches ``elsewhere`` is somebody else's, and its being degraded is told as theirs alone."""


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """How a part is just now.

    Parameters:
        name: at most 100 characters; no other part has it.
        reason: why it is not up, in a sentence for whoever runs the desk; or what else is to be
            known of it. It holds nothing of what callers said.
    """

    name: str
    state: ComponentState = "up"
    reason: str = ""
    part: Part = "own"


class Component(Condition, frozen=True, kw_only=True):
    """How a part is, and since when.

    Parameters:
        since: Unix seconds.
    """

    since: int


def state_of(components: Iterable[Condition]) -> ComponentState:
    """How a desk is that is made of these.

    Another desk that is degraded does not make this one so: two that watch each other would hold
    each other there.
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

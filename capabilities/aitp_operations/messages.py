"""The messages of AITP-04: ``healthcheck``, and ``health``, the reply.

Source: the examples of AITP-04's draft, which has only the first. The second is the desk's own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Kind = Literal["simple", "full"]
Status = Literal["up", "degraded", "down"]
Moment = Annotated[datetime, Meta(tz=True)]
MOST_IN_NAME, MOST_IN_SENTENCE, MOST_PARTS = 200, 2000, 500
Name = Annotated[str, Meta(max_length=MOST_IN_NAME)]
Sentence = Annotated[str, Meta(max_length=MOST_IN_SENTENCE)]


class Healthcheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request for an agent's health.

    Parameters:
        type: ``simple`` for the status; ``full`` for each component too, for operators.
    """

    type: Kind = "simple"


class PartHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """The health of a component.

    Parameters:
        name: its name.
        status: its status.
        since: since when it has this status.
        reason: the reason if it is not up.
    """

    name: Name
    status: Status
    since: Moment
    reason: Sentence = ""


class AgentHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """The health of an agent.

    Parameters:
        status: the overall status; ``degraded`` if it works with limitations.
        checked_at: when it was checked.
        components: its components, if an operator requested them.
        note: further information for the caller.
    """

    status: Status
    checked_at: Moment
    components: Annotated[tuple[PartHealth, ...], Meta(max_length=MOST_PARTS)] = ()
    note: Sentence = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"healthcheck": Healthcheck, "health": AgentHealth}

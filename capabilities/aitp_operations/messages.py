"""The messages of AITP-04: ``healthcheck``, and ``health``, which answers one.

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
    """The question how an agent is.

    Parameters:
        type: simple, as one word; full, of each of its parts, for those who run it.
    """

    type: Kind = "simple"


class PartHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a part of an agent is.

    Parameters:
        name: what it is called.
        status: how it is.
        since: since when it is so.
        reason: why it is not up.
    """

    name: Name
    status: Status
    since: Moment
    reason: Sentence = ""


class AgentHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an agent is.

    Parameters:
        status: on the whole; degraded where it does its work, but not as it should.
        checked_at: when that was looked at.
        components: each of its parts, where that was asked for by somebody who may.
        note: what whoever asks should know besides.
    """

    status: Status
    checked_at: Moment
    components: Annotated[tuple[PartHealth, ...], Meta(max_length=MOST_PARTS)] = ()
    note: Sentence = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"healthcheck": Healthcheck, "health": AgentHealth}

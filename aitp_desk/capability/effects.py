"""What capabilities want done, and how they judge: closed lists."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from aitp_desk.model.errors import DeskError

MAX_KEY = 200
"""How many characters a key of a record or counter has at most."""


class Keep(msgspec.Struct, frozen=True):
    """Write a record.

    Parameters:
        key: the capability's own name for it, of 1 to 200 characters.
        value: what JSON can hold.
        expected_version: the version that is replaced; 0 where there must be none.
        open_until: as of :class:`Record`: a request that waits for an answer says until when, and
            its answer writes it again without.
        outlives: whether it stays when what was said on the thread is erased: a balance, what was
            used up. It then holds nothing of a person, nor do keys ever.
    """

    key: str
    value: Any
    expected_version: int
    open_until: int | None = None
    outlives: bool = False


class Add(msgspec.Struct, frozen=True):
    """Add to a counter: a balance, a stock, what was spent.

    Parameters:
        delta: may be below 0.
        minimum: what must be left; None for any.
    """

    counter: str
    delta: int
    minimum: int | None = 0


class Say(msgspec.Struct, frozen=True):
    """Have the desk say something on the thread, after the message.

    Parameters:
        content: text; or a message of this capability, such as ``{"decision": {…}}``, to which the
            desk adds ``$schema``. Whoever has not declared the capability is told it in words
            (:meth:`Capability.as_text`).
        version: the version of such a message; None for the highest that all understand who have
            declared the capability.
    """

    content: str | Mapping[str, Any]
    version: int | None = None


class Start(msgspec.Struct, frozen=True):
    """Have a job done after the commit.

    Parameters:
        job: its name in :meth:`Capability.jobs`.
        ref: id of what it is about: of one name there is one job for it, ever.
        payload: what JSON can hold and the job needs besides.
        after: seconds that pass first.
    """

    job: str
    ref: str
    payload: Any = None
    after: int = 0


class Replace(msgspec.Struct, frozen=True):
    """Store something else in place of the part that is judged: what is sealed, for instance.

    Parameters:
        given: the whole part; ``$schema`` is kept where it has none.
    """

    given: Mapping[str, Any]


class Audit(msgspec.Struct, frozen=True):
    """Note something in the audit log, in the name of whoever speaks.

    Parameters:
        event: what happened, as a word of small letters, digits and ``_``; never what was said.
    """

    event: str


Effect = Keep | Add | Say | Start | Replace | Audit
"""All that a capability can have done."""


class Then(Enum):
    """Who speaks next."""

    AGENT = "agent"
    NOBODY = "nobody"


class Leave(msgspec.Struct, frozen=True):
    """The message is stored as it came, and whoever answers here answers it."""


class Take(msgspec.Struct, frozen=True):
    """The message is stored and these effects with it.

    Parameters:
        then: who speaks next; the agent where a part of the message wants that.
    """

    effects: tuple[Effect, ...] = ()
    then: Then = Then.NOBODY


class Refuse(msgspec.Struct, frozen=True):
    """The message is not stored; its sender is told why, in the form of the door.

    For what is well-formed and fails, rather take the message and say so in a message of the
    capability's own.
    """

    error: DeskError


Verdict = Leave | Take | Refuse

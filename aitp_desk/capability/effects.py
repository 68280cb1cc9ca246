"""What capabilities want done, and how they judge: closed lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

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
            desk adds ``$schema`` unless it has one, of this capability too. Whoever has not
            declared the capability is told it in words (:meth:`Capability.as_text`).
        version: the version of such a message; None for the highest that all understand who have
            declared the capability, or a newer one where that cannot say it.
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
        outlives: whether it is done also when what was said on the thread is erased meanwhile:
            money that is on its way is looked after to the end. Its payload then holds nothing of
            a person.
    """

    job: str
    ref: str
    payload: Any = None
    after: int = 0
    outlives: bool = False


class Replace(msgspec.Struct, frozen=True):
    """Store something else in place of the part that is judged.

    Parameters:
        given: the whole part, of this capability too; ``$schema`` is kept where it has none.
        version: of the schema, where that changes; None for the one in ``$schema``.
        hides_words: whether words that the part was understood from are not kept either: they hold
            what was replaced.
    """

    given: Mapping[str, Any]
    hides_words: bool = False
    version: int | None = None


class Seal(msgspec.Struct, frozen=True):
    """Keep something that nobody is to read in passing: sealed, apart from the message.

    What it stands in is told by :func:`~aitp_desk.model.access.sealed_value.sealed_as` in place of
    it, so it
    comes with a :class:`Replace`. Where the part was understood from words, these are not kept.

    Parameters:
        ref: as :meth:`Context.ref` gives it; nothing else was sealed by it.
        value: text of at most 16,384 characters.
    """

    ref: str
    value: str

    def __repr__(self) -> str:
        return f"Seal(ref={self.ref!r})"


class Audit(msgspec.Struct, frozen=True):
    """Note something in the audit log, in the name of whoever speaks.

    Parameters:
        event: what happened, as a word of small letters, digits and ``_``; never what was said.
    """

    event: str


class Guessed(msgspec.Struct, frozen=True):
    """Count that whoever speaks has shown a secret that is none.

    After some in a minute :attr:`Context.guessed_too_often` says so.
    """


class Paid(msgspec.Struct, frozen=True):
    """What an action's call costs is paid: the call is made now, without whoever paid waiting.

    Where it waits for that no more, or fails, ``failing`` is started: the money goes back.

    Parameters:
        call_id: of the :class:`Asking` that was paid.
        payment_id: what the capability calls the payment.
        receipt: what whoever paid is told with the call's end, where the way of paying has an
            object for that: x402's settlement response. Empty for nothing.
    """

    call_id: str
    payment_id: str
    failing: Start
    receipt: Mapping[str, Any] = {}


Effect = Keep | Add | Say | Start | Replace | Seal | Audit | Guessed | Paid
"""All that a capability can have done."""


class Then(Enum):
    """Who speaks next."""

    AGENT = "agent"
    NOBODY = "nobody"


class Resume(msgspec.Struct, frozen=True):
    """The action's call that waited for this answer goes on, for whoever gave it.

    Parameters:
        call_id: of the :class:`Asking` that the message answers.
        value: what was answered. To a Choose a list of ``{"id": …, "quantity": …}``; to a Confirm
            true or false; to a Fill an object of texts, and of ``{"sealed": …}`` for what was
            sealed, by the ids of fields.
    """

    call_id: str
    value: Any


class Leave(msgspec.Struct, frozen=True):
    """The message is stored as it came, and whoever answers here answers it."""


Uncounted = Literal[
    "unknown_request",
    "answered",
    "expired",
    "superseded",
    "own_request",
    "not_yours",
    "price_expired",
    "settled",
]
"""Why an answer does not count: a closed list."""


class NotCounted(msgspec.Struct, frozen=True):
    """Why an answer does not count.

    Parameters:
        message: the same in words.
    """

    reason: Uncounted
    message: str


class Take(msgspec.Struct, frozen=True):
    """The message is stored and these effects with it.

    Parameters:
        then: who speaks next; the agent where a part of the message wants that.
        otherwise: returns the effects in place of ``effects`` where the call of a
            :class:`Resume` does not go on by this answer. None if the desk only says why.
    """

    effects: tuple[Effect, ...] = ()
    then: Then | Resume = Then.NOBODY
    otherwise: Callable[[NotCounted], Sequence[Effect]] | None = None


class Refuse(msgspec.Struct, frozen=True):
    """The message is not stored; its sender is told why, in the form of the door.

    For what is well-formed and fails, rather take the message and say so in a message of the
    capability's own.
    """

    error: DeskError


Verdict = Leave | Take | Refuse

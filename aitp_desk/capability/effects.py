"""Effects that capabilities request, and their verdicts: closed lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

import msgspec

from aitp_desk.model.errors import DeskError

MAX_KEY = 200
"""Maximum length of the key of a record or counter, in characters."""
MAX_REF = 400
"""Maximum length of the id of a job's subject, in characters."""


class Keep(msgspec.Struct, frozen=True):
    """Writes a record.

    Parameters:
        key: the capability's name for it, of 1 to 200 characters, without personal data.
        value: a JSON value.
        expected_version: the version that is replaced; 0 if the record must not exist.
        open_until: as of :class:`Record`. A request that waits for an answer sets it; its answer
            writes the record again without it.
        outlives: whether it is kept when the thread's messages are erased: a balance, what was used
            up. It must then hold no personal data.
    """

    key: str
    value: Any
    expected_version: int
    open_until: int | None = None
    outlives: bool = False


class Add(msgspec.Struct, frozen=True):
    """Adds to a counter: a balance, a stock, an amount spent.

    Parameters:
        delta: may be negative.
        minimum: what must be left; None for any.
    """

    counter: str
    delta: int
    minimum: int | None = 0


class Say(msgspec.Struct, frozen=True):
    """Sends a message of the desk on the thread, after the judged message.

    Parameters:
        content: text; or a message of this capability, such as ``{"decision": {…}}``. The desk adds
            ``$schema`` if it is missing. Readers who have not declared the capability receive it as
            text (:meth:`Capability.as_text`).
        version: the version of such a message; None for the highest that all readers who declared
            the capability know, or a newer one if that cannot express it.
    """

    content: str | Mapping[str, Any]
    version: int | None = None


class Start(msgspec.Struct, frozen=True):
    """Starts a job after the commit.

    Parameters:
        job: its name in :meth:`Capability.jobs`.
        ref: id of its subject, of 1 to 400 characters: there is only ever one job of this name and
            ref.
        payload: a JSON value with everything else that the job needs.
        after: delay in seconds.
        outlives: whether it runs even if the thread's messages are erased before: a transfer of
            money has to be completed. Its payload must then hold no personal data.
    """

    job: str
    ref: str
    payload: Any = None
    after: int = 0
    outlives: bool = False


class Replace(msgspec.Struct, frozen=True):
    """Stores another part in place of the one that is judged.

    Parameters:
        given: the whole part, of this capability too; ``$schema`` is kept if it has none.
        version: of the schema, if that changes; None for the one in ``$schema``.
        hides_words: whether the text from which the part was understood is dropped too, because it
            holds what was replaced.
    """

    given: Mapping[str, Any]
    hides_words: bool = False
    version: int | None = None


class Seal(msgspec.Struct, frozen=True):
    """Stores a secret value sealed, apart from the message.

    :func:`~aitp_desk.model.access.sealed_value.sealed_as` marks its place in the part, so it comes
    with a :class:`Replace`. The text from which the part was understood is not stored.

    Parameters:
        ref: from :meth:`Context.ref`; used for no other value.
        value: text of at most 16,384 characters.
    """

    ref: str
    value: str

    def __repr__(self) -> str:
        return f"Seal(ref={self.ref!r})"


class Audit(msgspec.Struct, frozen=True):
    """Writes an entry to the audit log, in the name of the sender.

    Parameters:
        event: what happened, as a word of lowercase letters, digits and ``_``; never message text.
    """

    event: str


class Guessed(msgspec.Struct, frozen=True):
    """Counts a wrong secret against the sender.

    After several within a minute :attr:`Context.guessed_too_often` is set.
    """


class Paid(msgspec.Struct, frozen=True):
    """Marks an action's price as paid: the call runs now, without the payer waiting.

    If the call no longer waits for the payment, or fails, ``failing`` is started to return the
    money.

    Parameters:
        call_id: of the :class:`Asking` that was paid.
        payment_id: the capability's id of the payment.
        receipt: the payment method's object for the payer, sent with the call's outcome: x402's
            settlement response. Empty for none.
    """

    call_id: str
    payment_id: str
    failing: Start
    receipt: Mapping[str, Any] = {}


Effect = Keep | Add | Say | Start | Replace | Seal | Audit | Guessed | Paid
"""All effects that a capability can request."""


class Then(Enum):
    """Who speaks next."""

    AGENT = "agent"
    NOBODY = "nobody"


class Resume(msgspec.Struct, frozen=True):
    """Resumes the action call that waited, for the actor that answered.

    Parameters:
        call_id: of the :class:`Asking` that the message answers.
        value: the answer. For a Choose a list of ``{"id": …, "quantity": …}``; for a Confirm true
            or false; for a Fill an object by field ids of texts, and of ``{"sealed": …}`` for
            sealed values.
    """

    call_id: str
    value: Any


class Leave(msgspec.Struct, frozen=True):
    """Stores the message unchanged; the agent or the site's people answer it."""


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
"""Reasons why an answer does not count: a closed list."""


class NotCounted(msgspec.Struct, frozen=True):
    """Why an answer does not count.

    Parameters:
        message: the reason as a sentence.
    """

    reason: Uncounted
    message: str


class Take(msgspec.Struct, frozen=True):
    """Stores the message together with these effects.

    Parameters:
        then: who speaks next; the agent if any part of the message wants that.
        otherwise: returns the effects to apply instead of ``effects`` if the call of a
            :class:`Resume` does not resume by this answer. None if the desk only reports why.
    """

    effects: tuple[Effect, ...] = ()
    then: Then | Resume = Then.NOBODY
    otherwise: Callable[[NotCounted], Sequence[Effect]] | None = None


class Refuse(msgspec.Struct, frozen=True):
    """Rejects the message; its sender receives the error in the form of the protocol.

    For a well-formed message that fails, prefer to take it and to report the failure in a message
    of the capability.
    """

    error: DeskError


Verdict = Leave | Take | Refuse

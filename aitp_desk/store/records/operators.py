"""Defines operators on other platforms, and the tickets that they see, as stored."""

from __future__ import annotations

from enum import Enum

import msgspec


class Deed(Enum):
    """What a button below a ticket does."""

    TAKE = "take"
    RELEASE = "release"
    ANSWER = "answer"
    CLOSE = "close"
    APPROVE = "approve"
    CONFIRM = "confirm"
    """Approves what was asked again."""
    DECLINE = "decline"


class OperatorTicket(msgspec.Struct, frozen=True):
    """A ticket as operators on a platform know it.

    Parameters:
        address: what the platform calls the conversation about it; empty before the first message.
        state, taken_by: as last sent; empty before the first message.
        seq: up to which messages of its thread the operators have them.
        steps: how many messages were sent.
        queued: how many jobs were queued; the other ``queued_`` are what the last one was for.
        answerer: the person whose next reply is the answer, until ``answerer_until``, in Unix
            seconds; empty for nobody.
        is_over: whether the operators know that it has ended.
    """

    ticket: str
    transport: str
    address: str
    state: str
    taken_by: str
    seq: int
    steps: int
    queued: int
    queued_state: str
    queued_by: str
    queued_seq: int
    answerer: str
    answerer_until: int
    is_over: bool


class TicketChange(msgspec.Struct, frozen=True):
    """What a job tells operators on a platform of a ticket: the same at each attempt.

    Parameters:
        seq: up to which messages of its thread; 0 for those that are there at the first attempt.
    """

    state: str
    taken_by: str
    seq: int = 0


class TicketControl(msgspec.Struct, frozen=True, kw_only=True):
    """What a button below a ticket does.

    Parameters:
        person: the platform's id of who may press it; empty for every operator.
        expires_at: Unix seconds.
    """

    token: str
    ticket: str
    transport: str
    deed: Deed
    person: str = ""
    expires_at: int


class PressedButton(msgspec.Struct, frozen=True):
    """A press of a button, which counts once.

    Parameters:
        event: names it among those of its transport.
    """

    transport: str
    event: str


class BoundPerson(msgspec.Struct, frozen=True):
    """A person on a platform who acts as the holder of a key.

    Parameters:
        person: the platform's id.
        version: of the key's secret when the code was made.
        code: hash of the code that was used.
        bound_at: Unix seconds.
    """

    transport: str
    person: str
    key_id: str
    version: int
    code: bytes
    bound_at: int


class BindingCode(msgspec.Struct, frozen=True, kw_only=True):
    """A code that binds a person to a key, once.

    Parameters:
        hash: of the code.
        version: of the key's secret.
        expires_at: Unix seconds.
    """

    hash: bytes
    transport: str
    key_id: str
    version: int
    expires_at: int

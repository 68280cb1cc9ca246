"""A refusal, as far as it matters to what helps: as it was raised, or as it was written once."""

from __future__ import annotations

import msgspec

from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    MethodNotAllowed,
    Recovery,
    ScopeMissing,
)
from aitp_desk.model.money import Money

_KINDS = frozenset(kind.value for kind in ErrorKind)


class Refused(msgspec.Struct, frozen=True):
    """What matters of a refusal."""

    kind: ErrorKind
    message: str
    param: str | None = None
    retry_after: int | None = None
    recovery: Recovery | None = None
    scope: str = ""
    is_for_price: bool = False
    price: Money | None = None
    allowed: tuple[str, ...] = ()


def refused_of(error: DeskError) -> Refused:
    """What matters of an error."""
    return Refused(
        error.kind,
        error.message,
        error.param,
        error.retry_after,
        error.recovery,
        error.scope if isinstance(error, ScopeMissing) else "",
        isinstance(error, ConsentMissing),
        error.price if isinstance(error, ConsentMissing) else None,
        error.allowed if isinstance(error, MethodNotAllowed) else (),
    )


class _Told(msgspec.Struct):
    """A refusal as an earlier request was told it (RFC 9457), as far as it matters."""

    code: str = ""
    detail: str = ""
    param: str | None = None
    recovery: Recovery | None = None


def refused_in(body: bytes) -> Refused:
    """What matters of a refusal that was written already, as of an earlier request."""
    told = msgspec.json.decode(body, type=_Told)
    kind = ErrorKind(told.code) if told.code in _KINDS else ErrorKind.PRECONDITION_FAILED
    return Refused(kind, told.detail, told.param, recovery=told.recovery)

"""A refusal as recovery hints need it, from an error or stored reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    MethodNotAllowed,
    PaymentRequired,
    Recovery,
    ScopeMissing,
)
from aitp_desk.model.money import Money
from aitp_desk.protocols.base.payments.wire import write_required_payment


class Refusal(msgspec.Struct, frozen=True):
    """The properties of a refusal that recovery hints depend on.

    Parameters:
        payment: how to pay, in the form of every protocol; empty where it cannot be paid.
    """

    kind: ErrorKind
    message: str
    param: str | None = None
    retry_after: int | None = None
    recovery: Recovery | None = None
    scope: str = ""
    is_for_price: bool = False
    price: Money | None = None
    allowed: tuple[str, ...] = ()
    payment: Mapping[str, Any] = {}


def refusal_from_error(error: DeskError, below: str) -> Refusal:
    """Convert an error.

    Parameters:
        below: the base path of the desk; empty for the main one.
    """
    if isinstance(error, PaymentRequired):
        told = msgspec.to_builtins(write_required_payment(error, below))
        payment = told.get("payment", {})
        return Refusal(error.kind, error.message, error.param, price=error.price, payment=payment)
    return Refusal(
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


class _ProblemBody(msgspec.Struct):
    """The members of a stored refusal (RFC 9457) that recovery hints need."""

    code: str = ""
    detail: str = ""
    param: str | None = None
    recovery: Recovery | None = None
    price: Money | None = None
    payment: Mapping[str, Any] = {}


def parse_refusal(body: bytes) -> Refusal:
    """Parse a refusal that was stored for an earlier request."""
    told = msgspec.json.decode(body, type=_ProblemBody)
    return Refusal(
        ErrorKind.find(told.code) or ErrorKind.PRECONDITION_FAILED,
        told.detail,
        told.param,
        recovery=told.recovery,
        price=told.price,
        payment=told.payment,
    )

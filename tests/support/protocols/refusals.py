"""Every error that a desk can report, made as for a caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from aitp_desk.model import errors
from aitp_desk.model.errors import DeskError
from aitp_desk.model.money import Money
from tests.support.payments.methods import unpaid

_SPECIAL: dict[type[DeskError], Callable[[str], DeskError]] = {
    errors.UnknownAction: lambda said: errors.UnknownAction(said, available=("a", "b")),
    errors.UnsupportedType: lambda said: errors.UnsupportedType(said, available=("text/answer",)),
    errors.ConsentMissing: lambda said: errors.ConsentMissing(
        said, param="_confirm", price=Money(Decimal("29.99"), "EUR")
    ),
    errors.PaymentRequired: unpaid,
    errors.MethodNotAllowed: lambda said: errors.MethodNotAllowed(said, allowed=("GET", "HEAD")),
    errors.ScopeMissing: lambda said: errors.ScopeMissing(said, scope="threads"),
    errors.RateLimited: lambda said: errors.RateLimited(said, scope="ip", retry_after=42),
    errors.InternalError: lambda said: errors.InternalError(said, request_id="00ff00ff"),
    errors.IdempotencyInFlight: lambda said: errors.IdempotencyInFlight(
        said, param="Idempotency-Key", retry_after=1
    ),
    errors.Unavailable: lambda said: errors.Unavailable(said, retry_after=3),
    errors.StoreBusy: lambda said: errors.StoreBusy(said, retry_after=1),
}
"""How an error is made that needs more than its message."""


def subclasses(kind: type[DeskError]) -> Iterator[type[DeskError]]:
    """Every class below one, however deep."""
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


CLASSES = sorted(set(subclasses(DeskError)), key=lambda found: found.__name__)


def make_error(made: type[DeskError], message: str) -> DeskError:
    """One error of a class."""
    if made in _SPECIAL:
        return _SPECIAL[made](message)
    return made(message, param="some.member")

"""The choices of a request, in one order for rendering, counting and parsing."""

from __future__ import annotations

from decimal import Decimal

import msgspec
from msgspec import UnsetType

from aitp_desk.capability import one_line
from aitp_requests.messages import RequestDecision, Variant


class Choice(msgspec.Struct, frozen=True):
    """A choice: an option, or a variant of one.

    Parameters:
        name: the displayed name; its id if it has none.
        names: further names.
        price: as text, empty for none.
        description: further text.
        valid_until: when its quote expires, Unix seconds; None for never.
    """

    id: str
    name: str
    names: tuple[str, ...]
    price: str = ""
    description: str = ""
    valid_until: float | None = None


def choices_of(request: RequestDecision) -> tuple[Choice, ...]:
    """Return all choices of a request, each option before its variants."""
    found = []
    for option in request.options:
        name = one_line(option.name) or one_line(option.short_variant_name) or one_line(option.id)
        found.append(_choice(option, name, (option.short_variant_name,)))
        for variant in option.variants:
            short = one_line(variant.short_variant_name)
            own = one_line(variant.name)
            full = own or (f"{name} – {short}" if short else one_line(variant.id))
            also = (short, f"{name} {short}" if short else "")
            found.append(_choice(variant, full, also))
    return tuple(found)


def _choice(variant: Variant, name: str, also: tuple[str, ...]) -> Choice:
    names = tuple(filter(None, map(one_line, also)))
    description = one_line(variant.description)
    quote = variant.quote
    if isinstance(quote, UnsetType):
        return Choice(variant.id, name, names, description=description)
    prices = [f"{_amount(plan.amount)} {plan.currency}" for plan in quote.payment_plans]
    until = quote.valid_until.timestamp()
    return Choice(variant.id, name, names, " or ".join(prices), description, until)


def _amount(amount: float) -> str:
    """Format an amount with at least two decimals, and all that were given."""
    exact = Decimal(str(amount)).normalize()
    places = -int(exact.as_tuple().exponent)
    return f"{exact:.{max(places, 2)}f}"

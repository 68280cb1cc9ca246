"""Validates requests and decisions. Pure: values and a time in, values out."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from aitp_desk.capability import InvalidRequest
from aitp_requests.choices import choices_of
from aitp_requests.messages import RequestDecision, SelectedOption

MOST_CHOICES = 100
"""Maximum number of options and variants of one request together."""


def check_choices(request: RequestDecision) -> None:
    """Reject a request that cannot be answered.

    Raises:
        InvalidRequest: two options have one id, or there are too many.
    """
    choices = choices_of(request)
    if len(choices) > MOST_CHOICES:
        raise InvalidRequest(
            f"A request can have at most {MOST_CHOICES} options and variants, not {len(choices)}.",
            param="request_decision.options",
        )
    seen: set[str] = set()
    for choice in choices:
        if choice.id in seen:
            raise InvalidRequest(
                f"Two options or variants have the id {choice.id!r}. Give each a different id.",
                param="request_decision.options",
            )
        seen.add(choice.id)


def settle_options(
    request: RequestDecision, options: tuple[SelectedOption, ...]
) -> tuple[SelectedOption, ...]:
    """Validate the chosen options, and set their names from the request.

    Raises:
        InvalidRequest: an option is unknown or chosen twice, there are too many for the request's
            type, or a quantity is not allowed.
    """
    names = {choice.id: choice.name for choice in choices_of(request)}
    if len(options) > 1 and request.type in {"radio", "confirmation"}:
        raise _wrong(f"A decision of type {request.type} must have exactly one option.", "options")
    settled: list[SelectedOption] = []
    for index, option in enumerate(options):
        at = f"options[{index}]"
        if option.id not in names:
            raise _wrong(f"{option.id!r} is not an option of the request.", f"{at}.id")
        if any(option.id == other.id for other in settled):
            raise _wrong(f"{option.id!r} is chosen more than once.", f"{at}.id")
        quantity = _settle_quantity(request, option.quantity, f"{at}.quantity")
        settled.append(SelectedOption(option.id, names[option.id], quantity))
    return tuple(settled)


def _settle_quantity(
    request: RequestDecision, quantity: float | UnsetType, at: str
) -> int | UnsetType:
    if isinstance(quantity, UnsetType):
        return UNSET
    if quantity != int(quantity):
        raise _wrong("A quantity must be a whole number.", at)
    if request.type == "products":
        return int(quantity)
    if quantity != 1:
        raise _wrong("Only products can have a quantity.", at)
    return UNSET


def lapsed(
    request: RequestDecision, options: tuple[SelectedOption, ...], now: int
) -> tuple[str, ...]:
    """Return the names of chosen options whose quote has expired."""
    chosen = {option.id for option in options}
    return tuple(
        choice.name
        for choice in choices_of(request)
        if choice.id in chosen and choice.valid_until is not None and choice.valid_until <= now
    )


def _wrong(message: str, at: str) -> InvalidRequest:
    return InvalidRequest(message, param=f"decision.{at}")

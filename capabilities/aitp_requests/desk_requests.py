"""Converts questions of the desk to requests, and decisions to their answers."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from aitp_desk.capability import Asking, Choice, Choose, Confirm, Fill, Money, Pay
from aitp_requests.messages import Kind, Option, RequestDecision, SelectedOption, Variant

YES, NO = "yes", "no"
_KINDS: dict[str, Kind] = {"one": "radio", "several": "checkbox", "counted": "products"}


def phrase(asking: Asking) -> RequestDecision | None:
    """Convert a question of the desk to a request; None if it is not a choice."""
    match asking.question:
        case Choose() as question:
            return RequestDecision(
                asking.id,
                tuple(_option(choice) for choice in question.choices),
                question.title,
                question.description,
                _KINDS[question.many],
                asking.of,
            )
        case Confirm() as question:
            options = (Option(YES, question.yes), Option(NO, question.no))
            return RequestDecision(
                asking.id, options, question.title, question.description, "confirmation", asking.of
            )
        case Fill() | Pay():
            return None


def value_of(request: RequestDecision, options: tuple[SelectedOption, ...]) -> Any:
    """Return the value of a decision, as the question's caller expects it."""
    if request.type == "confirmation":
        return options[0].id == YES
    return [{"id": option.id, "quantity": _count(option)} for option in options]


def _count(option: SelectedOption) -> int:
    return 1 if isinstance(option.quantity, UnsetType) else int(option.quantity)


def _option(choice: Choice) -> Option:
    variants = tuple(_variant(variant) for variant in choice.variants)
    return Option(**_told(choice), variants=variants)


def _variant(choice: Choice) -> Variant:
    return Variant(**_told(choice))


def _told(choice: Choice) -> dict[str, Any]:
    return {
        "id": choice.id,
        "name": choice.name,
        "description": ". ".join(filter(None, (choice.description, _price(choice.price)))),
        "image_url": choice.image_url or UNSET,
        "url": choice.url or UNSET,
    }


def _price(price: Money | None) -> str:
    """Return a price as text: a quote would be payable, and none was offered."""
    return "" if price is None else str(price)

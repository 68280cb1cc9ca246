"""Renders requests and decisions as text, with instructions for replies."""

from __future__ import annotations

from msgspec import UnsetType

from aitp_desk.capability import one_line
from aitp_requests.choices import choices_of
from aitp_requests.messages import Decision, RequestDecision, SelectedOption

FEW = 3
"""Up to this count, numbers are listed one by one."""


def tell_request(request: RequestDecision) -> str:
    """Render a request with numbered choices and what to reply."""
    choices = choices_of(request)
    lines = [one_line(request.title), one_line(request.description)]
    for number, choice in enumerate(choices, 1):
        price = f" ({choice.price})" if choice.price else ""
        more = f": {choice.description}" if choice.description else ""
        lines.append(f"{number}. {choice.name}{price}{more}")
    lines.append(_how(request, len(choices)))
    return "\n".join(filter(None, lines))


def tell_decision(decision: Decision) -> str:
    """Render a decision."""
    return f"Chosen: {tell_options(decision.options)}."


def tell_options(options: tuple[SelectedOption, ...]) -> str:
    """Render chosen options with quantities."""
    return ", ".join(map(_option, options))


def _option(option: SelectedOption) -> str:
    name = one_line(option.name) or one_line(option.id)
    quantity = option.quantity
    if isinstance(quantity, UnsetType) or quantity == 1:
        return name
    return f"{int(quantity) if quantity == int(quantity) else quantity} × {name}"


def _how(request: RequestDecision, count: int) -> str:
    numbers = [str(number) for number in range(1, count + 1)]
    if request.type == "products":
        return f"Reply with a number, or with a quantity: 2 of number {count}."
    if request.type == "checkbox" and count > 1:
        return "Reply with one or more numbers: 1, 2."
    if count > FEW:
        return f"Reply with a number from 1 to {count}."
    *first, last = numbers
    return f"Reply {', '.join(first)} or {last}." if first else f"Reply {last}."

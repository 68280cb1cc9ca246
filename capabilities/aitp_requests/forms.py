"""Converts requests to JSON Schema forms, and submitted forms to decisions.

A form has only plain members: ``choice`` or ``choices`` take ids of choices; for products each
product is a member by its id, which takes a quantity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.capability import InvalidRequest, MissingField
from aitp_requests.choices import Choice, choices_of
from aitp_requests.messages import Decision, RequestDecision, SelectedOption

CHOICE, CHOICES = "choice", "choices"
MOST_OF_ONE = 1_000_000


def form_of(request: RequestDecision) -> dict[str, Any]:
    """Return the JSON Schema of a request's answer."""
    choices = choices_of(request)
    if request.type == "products":
        members = {choice.id: _counted(choice) for choice in choices}
        return _object(members, ())
    listed = [{"const": choice.id, "title": _told(choice)} for choice in choices]
    if request.type == "checkbox":
        several = {"type": "array", "minItems": 1, "items": {"anyOf": listed}}
        return _object({CHOICES: several}, (CHOICES,))
    return _object({CHOICE: {"type": "string", "oneOf": listed}}, (CHOICE,))


def decision_by(request: RequestDecision, given: Mapping[str, Any]) -> Decision:
    """Build the decision of a submitted form.

    Raises:
        MissingField, InvalidRequest: the values do not fit the form; ``param`` is the member.
    """
    ids = tuple(choice.id for choice in choices_of(request))
    names = {"products": ids, "checkbox": (CHOICES,)}.get(request.type, (CHOICE,))
    for name in given:
        if name not in names:
            raise InvalidRequest(
                f"The form has no member {name[:64]!r}. Its members are: {', '.join(names)}.",
                param=name[:64],
            )
    if request.type == "products":
        options = _count(given)
    elif request.type == "checkbox":
        options = tuple(map(SelectedOption, _ids(given.get(CHOICES), ids)))
    else:
        options = (SelectedOption(_id(given.get(CHOICE), ids, CHOICE)),)
    return Decision(options, request.id)


def _count(given: Mapping[str, Any]) -> tuple[SelectedOption, ...]:
    options = []
    for name, count in given.items():
        is_number = isinstance(count, int | float) and not isinstance(count, bool)
        if not is_number or count != int(count) or not 0 <= count <= MOST_OF_ONE:
            raise InvalidRequest(
                f"The quantity of {name} must be a whole number from 0 to {MOST_OF_ONE}.",
                param=name,
            )
        if count:
            options.append(SelectedOption(name, quantity=int(count)))
    if not options:
        raise MissingField("Give the quantity of at least one product.")
    return tuple(options)


def _ids(given: Any, ids: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(given, list) or not given:
        raise MissingField(
            f"{CHOICES} must be a list of one or more of {', '.join(ids)}.", param=CHOICES
        )
    return tuple(_id(one, ids, f"{CHOICES}[{index}]") for index, one in enumerate(given))


def _id(given: Any, ids: Sequence[str], at: str) -> str:
    if given is None:
        raise MissingField(f"{at} must be one of {', '.join(ids)}.", param=at)
    if not isinstance(given, str) or given not in ids:
        raise InvalidRequest(f"{at} must be one of {', '.join(ids)}.", param=at)
    return given


def _object(members: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    form: dict[str, Any] = {"type": "object", "properties": dict(members)}
    return form | ({"required": list(required)} if required else {"minProperties": 1})


def _counted(choice: Choice) -> dict[str, Any]:
    bounds = {"minimum": 0, "maximum": MOST_OF_ONE, "default": 0}
    return {"type": "integer", "title": _told(choice), **bounds}


def _told(choice: Choice) -> str:
    price = f" ({choice.price})" if choice.price else ""
    more = f": {choice.description}" if choice.description else ""
    return f"{choice.name}{price}{more}"

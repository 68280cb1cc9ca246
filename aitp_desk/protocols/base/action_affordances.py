"""Describes an action of the site as a request that calls it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast, get_args
from weakref import WeakKeyDictionary

import msgspec

from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.config import THREADS
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.direct.calls import CALLBACK, INTENT
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.model.access.principal import Principal, may_use_threads
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.model.money import Money
from aitp_desk.protocols.base.affordances import Affordance, InputField, Kind
from aitp_desk.protocols.base.call_members import (
    CAPABILITIES_PATH,
    MAX_INTENT,
    MAX_QUESTION,
    PAYING,
)

_KINDS = frozenset(get_args(Kind))
_NOTHING_KNOWN: Mapping[str, Any] = {}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} character{s}",
    "maxLength": "at most {} character{s}",
    "minItems": "at least {} item{s}",
    "maxItems": "at most {} item{s}",
    "pattern": "matches {}",
    "format": "format {}",
}
_declared: WeakKeyDictionary[Desk, dict[str, tuple[Action, Affordance]]] = WeakKeyDictionary()
_QUESTION = (
    InputField(
        "query",
        "string",
        f"The question; at most {MAX_QUESTION} characters.",
        is_required=True,
    ),
    InputField("locale", "string", "The language of the answer, such as en or fr-CA."),
    InputField("max_tokens", "integer", "The longest answer, in tokens."),
    InputField("accept_types", "array", "The accepted content types, such as text/answer."),
)


def list_callable_actions(
    desk: Desk, principal: Principal, allowance: Allowance | None
) -> tuple[Action, ...]:
    """Return the actions that a caller may call, in the order of their declaration."""
    return tuple(
        action
        for action in desk.registry.actions
        if may_invoke(principal.scopes, action)
        and (allowance is None or allowance.allows_action(action.name))
    )


def may_converse(principal: Principal, allowance: Allowance | None) -> bool:
    """Return whether a caller may open, read and write threads."""
    return may_use_threads(principal) and (allowance is None or allowance.allows_action(THREADS))


def make_call_affordance(
    desk: Desk,
    action: Action,
    *,
    known: Mapping[str, Any] = _NOTHING_KNOWN,
    price: Money | None = None,
) -> Affordance:
    """Return the request that calls an action.

    Parameters:
        known: arguments that follow from the resource; each is the only accepted value.
        price: the price of this call, where it is known.

    Returns:
        The same object until the action changes, where neither arguments nor a price are known:
        an agent that looks around receives all actions.
    """
    if known or price is not None:
        return _write(desk, action, known, price)
    made = _declared.setdefault(desk, {})
    held = made.get(action.name)
    if held is None or held[0] is not action:
        held = made[action.name] = action, _write(desk, action, known, None)
    return held[1]


def _write(desk: Desk, action: Action, known: Mapping[str, Any], price: Money | None) -> Affordance:
    price = price or action.cost
    is_own = action.name in OWN_NAMES
    told = (action.summary, action.description, *(() if is_own else list_consequences(action)))
    return Affordance(
        action.name.replace("_", "-"),
        "POST",
        f"{desk.base_path}{CAPABILITIES_PATH}{action.name}",
        " ".join(part.strip() for part in told if part.strip()),
        msgspec.structs.replace(action.safety, confirmation_recommended=True)
        if action.may_cost
        else action.safety,
        price,
        _QUESTION if is_own else tuple(_taken(desk, action, known, price)),
        tuple(needed.description for needed in action.preconditions),
    )


def make_consent_member(price: Money | None, *, is_required: bool) -> InputField:
    """Return the member of a call by which the caller agrees to the price."""
    text = "Confirms the price: an object of amount (a string) and currency."
    values = () if price is None else (msgspec.to_builtins(price),)
    return InputField(CONFIRMATION, "object", text, is_required=is_required, values=values)


def make_payment_member(*, is_required: bool) -> InputField:
    """Return the member of a call that pays for it."""
    text = "Pays for the call: an object with one payment, for the quote that was received."
    return InputField(PAYMENT, "object", text, is_required=is_required, schema=dict(PAYING))


def _taken(
    desk: Desk, action: Action, known: Mapping[str, Any], price: Money | None
) -> Iterator[InputField]:
    schema = action.input_schema
    required = frozenset(schema.get("required", ()))
    for name, member in schema.get("properties", {}).items():
        yield _field(name, member, schema, known, is_required=name in required or name in known)
    if action.is_prepaid:
        yield make_payment_member(is_required=False)
    elif action.may_cost:
        yield make_consent_member(price, is_required=price is not None)
    if action.kind != "query":
        text = f"The purpose of the call, in at most {MAX_INTENT} characters."
        yield InputField(INTENT, "string", text, is_required=desk.direct_calls.requires_intent)
    if action.may_continue:
        yield InputField(
            CALLBACK, "string", "A URL that receives a signed notification when the call ends."
        )


def _field(
    name: str,
    member: Any,
    whole: Mapping[str, Any],
    known: Mapping[str, Any],
    *,
    is_required: bool,
) -> InputField:
    schema = _resolved(member, whole)
    kind = _kind_of(schema)
    given = [known[name]] if name in known else schema.get("enum", ())
    values = tuple(value for value in given if value is not None)
    is_plain = kind not in {"array", "object"}
    if not all(_is_of(value, kind) for value in values):  # values of several types
        values, is_plain = (), False
    default = msgspec.UNSET if is_required else _default_of(member, kind)
    told = _describe(member, schema, default)
    return InputField(name, kind, told, is_required, values, None if is_plain else schema, default)


def _default_of(member: Any, kind: Kind) -> Any:
    """Return a member's default; UNSET without one, or if no field holds it."""
    default = member.get("default") if isinstance(member, Mapping) else None
    return msgspec.UNSET if default is None or not _is_of(default, kind) else default


def _is_of(value: Any, kind: Kind) -> bool:
    found = _kind_of_value(value)
    return found == kind or (found == "integer" and kind == "number")


def _describe(member: Any, schema: Mapping[str, Any], default: Any) -> str:
    given = member if isinstance(member, Mapping) else {}
    said = str(given.get("description") or schema.get("description") or "").strip()
    bounds = [
        text.format(schema[key], s="" if schema[key] == 1 else "s")
        for key, text in _BOUNDS.items()
        if key in schema
    ]
    if default is msgspec.UNSET and given.get("default") is not None:
        bounds.append(f"{msgspec.json.encode(given['default']).decode()} if it is left out")
    told = ", ".join(bounds)
    return f"{said} ({told})" if said and told else said or told


def _resolved(member: Any, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a member's schema: follow references, take the first alternative that is not null."""
    for _ in range(8):  # bounds a circular schema
        if not isinstance(member, Mapping):
            return {}
        if isinstance(ref := member.get("$ref"), str):
            member = _at(whole, ref)
        elif options := member.get("anyOf") or member.get("oneOf"):
            member = _first(options)
        elif isinstance(parts := member.get("allOf"), list | tuple) and len(parts) == 1:
            member = parts[0]
        else:
            return member
    return {}


def _at(whole: Mapping[str, Any], ref: str) -> Any:
    found: Any = whole
    for part in ref.removeprefix("#/").split("/"):
        if not isinstance(found, Mapping):
            return {}
        found = found.get(part, {})
    return found


def _first(options: Iterable[Any]) -> Any:
    return next(
        (one for one in options if isinstance(one, Mapping) and one.get("type") != "null"), {}
    )


def _kind_of(schema: Mapping[str, Any]) -> Kind:
    given = schema.get("type")
    types = given if isinstance(given, list | tuple) else [given]
    for one in types:
        if one in _KINDS:
            return cast(Kind, one)
    values = [value for value in schema.get("enum", (schema.get("const"),)) if value is not None]
    return _kind_of_value(values[0]) if values else "object" if "properties" in schema else "string"


def _kind_of_value(value: Any) -> Kind:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
        case _:
            return "string"

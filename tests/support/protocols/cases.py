"""What is called, in which situation, and the outcome over every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from aitp_desk.model.error_kind import ErrorKind
from tests.support.sites.shop import FILTER, RUTH, SAM, STOVE, TENT

Situation = Literal["ok", "bad_arguments", "not_allowed", "precondition", "consent", "late"]
SITUATIONS: tuple[Situation, ...] = get_args(Situation)
Kind = Literal["done", "accepted", "asks", "refused"]

INES = {"order_id": "TH10481150", "email": "ines@customer.example", "sku": "TO-3107"}
JONAS = {"order_id": "TH10481988", "email": "jonas@customer.example", "sku": "TO-1190"}
STOVES = {
    "items": [{"sku": STOVE, "quantity": 2}],
    "store": "Portland",
    "email": "kai@customer.example",
}
ADDRESS = {
    "name": "Kai Moss",
    "street": "12 Elm Street",
    "city": "Boise",
    "state": "ID",
    "postal_code": "83702",
}
PARCEL = {"items": [{"sku": STOVE}], "address": ADDRESS, "email": "kai@customer.example"}
VISIT = {"store": "Bend", "day": "2027-01-22", "time": "16:30", "email": "kai@customer.example"}


class Outcome(msgspec.Struct, frozen=True):
    """What came of a call, as far as its protocol tells it.

    Parameters:
        code: of a refusal, by the name of its kind in the desk; None where nothing tells it.
        message: of a refusal.
        data: the result, or the price that has to be agreed to; None where it is given in words.
        words: the result in words; None where it is given as data.
        handle: by which it is asked after, where it goes on by itself.
    """

    kind: Kind
    code: str | None = None
    message: str | None = None
    data: Any = None
    words: str | None = None
    handle: str = ""


class Case(msgspec.Struct, frozen=True):
    """A call and what must come of it.

    Parameters:
        agreed: the price that its caller agrees to.
    """

    action: str
    situation: Situation
    arguments: Mapping[str, Any]
    kind: Kind
    code: str | None = None
    agreed: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return f"{self.action}-{self.situation}"


class Tried(msgspec.Struct, frozen=True):
    """The arguments that bring an action into each situation that it can be in.

    Parameters:
        bad: members that are not what they have to be, in place of those of ``ok``.
        too_soon: arguments that do not fit the present state; None without a precondition.
        agreed: what ``ok`` costs; None where it costs nothing.
        kind: the outcome of ``ok``.
    """

    ok: Mapping[str, Any]
    bad: Mapping[str, Any]
    too_soon: Mapping[str, Any] | None = None
    agreed: Mapping[str, str] | None = None
    kind: Kind = "done"


TRIED = {
    "product_search": Tried({"words": "stove"}, {"words": ""}),
    "inventory_check": Tried({"sku": TENT}, {"sku": "tent"}),
    "get_quote": Tried({"items": [{"sku": TENT, "quantity": 12}]}, {"items": []}),
    "order_lookup": Tried(RUTH, {"order_id": "10482201"}),
    "cancel_order": Tried(SAM, {"order_id": "10482317"}, RUTH),
    "return_order": Tried({**RUTH, "sku": FILTER}, {"condition": "new"}, {**SAM, "sku": STOVE}),
    "late_return": Tried(INES, {"sku": "pack"}, JONAS, kind="accepted"),
    "place_order": Tried(
        STOVES,
        {"store": "Salem"},
        {**STOVES, "items": [{"sku": STOVE, "quantity": 99}]},
        {"amount": "128.00", "currency": "USD"},
    ),
    "ship_order": Tried(
        PARCEL,
        {"address": {**ADDRESS, "postal_code": "837"}},
        {**PARCEL, "items": [{"sku": TENT}]},
        {"amount": "74.79", "currency": "USD"},
    ),
    "contact_human": Tried(
        {"question": "Can you engrave mugs?"}, {"question": ""}, kind="accepted"
    ),
    "book_visit": Tried(VISIT, {"time": "noon"}, {**VISIT, "day": "2027-01-15"}),
}

NEVER: Mapping[tuple[str, Situation], str] = {
    ("product_search", "not_allowed"): "it is open to anyone",
    ("inventory_check", "not_allowed"): "it is open to anyone",
    ("product_search", "precondition"): "it declares none",
    ("inventory_check", "precondition"): "it declares none",
    ("get_quote", "precondition"): "it declares none",
    ("order_lookup", "precondition"): "it declares none",
    ("contact_human", "precondition"): "it declares none",
    ("contact_human", "late"): "it reads nothing: it is a ticket at once",
    **{
        (name, "consent"): "it costs nothing, and a caller by arguments knows what it does"
        for name, tried in TRIED.items()
        if tried.agreed is None
    },
    **{
        (
            "buy_trail_map",
            situation,
        ): "it is paid first, which journeys/payments/protocols/test_protocols.py tries"
        for situation in SITUATIONS
    },
}
"""The situations that an action of the shop cannot be in, and why."""


def cases() -> tuple[Case, ...]:
    """One for each action in each situation that it can be in."""
    return tuple(
        _case(name, tried, situation)
        for name, tried in TRIED.items()
        for situation in SITUATIONS
        if (name, situation) not in NEVER
    )


def _case(name: str, tried: Tried, situation: Situation) -> Case:
    match situation:
        case "ok":
            return Case(name, situation, tried.ok, tried.kind, agreed=tried.agreed)
        case "bad_arguments":
            wrong = {**tried.ok, **tried.bad}
            return _refused(name, situation, wrong, ErrorKind.INVALID_REQUEST)
        case "not_allowed":
            return _refused(name, situation, tried.ok, ErrorKind.FORBIDDEN)
        case "precondition":
            given = tried.too_soon or {}
            return _refused(name, situation, given, ErrorKind.PRECONDITION_FAILED)
        case "consent":
            return Case(name, situation, tried.ok, "asks", ErrorKind.PRECONDITION_FAILED.value)
        case "late":
            return _refused(name, situation, tried.ok, ErrorKind.UNAVAILABLE)


def _refused(
    name: str, situation: Situation, arguments: Mapping[str, Any], kind: ErrorKind
) -> Case:
    return Case(name, situation, arguments, "refused", kind.value)

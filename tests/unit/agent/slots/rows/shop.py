"""Actions of an invented shop, for reading their arguments out of words."""

from __future__ import annotations

from typing import Any

from aitp_desk.model.calls.action import Action, Safety

ORDER_ID = {
    "type": "string",
    "pattern": r"^ORD-\d{6}$",
    "title": "Order number",
    "description": "The number of the order, as ORD-000123.",
}
SKU = {"type": "string", "pattern": r"^(?:TS|MUG)-\d{2,3}$", "title": "Article number"}
STORE = {"type": "string", "enum": ["portland", "bend", "boise"]}
EMAIL = {"type": "string", "format": "email", "title": "E-mail address"}
DATE = {"type": "string", "format": "date"}


def _takes(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


_SCHEMAS: dict[str, dict[str, Any]] = {
    "cancel": _takes("order_id", order_id=ORDER_ID, reason={"type": "string"}),
    "stock": _takes("sku", sku=SKU, store=STORE),
    "quote": _takes(
        "items",
        items={
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/Item"},
        },
        customer_type={"enum": ["private", "business", "school"], "default": "private"},
        shipping={
            "anyOf": [
                {
                    "oneOf": [
                        {"const": "standard", "title": "Ground"},
                        {"const": "express", "title": "Next working day"},
                        {"const": "pick_up", "title": "Collected in a store"},
                    ]
                },
                {"type": "null"},
            ],
            "default": None,
        },
    )
    | {
        "$defs": {
            "Item": {
                "type": "object",
                "properties": {"sku": SKU, "quantity": {"type": "integer", "minimum": 1}},
                "required": ["sku", "quantity"],
            }
        }
    },
    "mug": _takes(
        "size colour",
        size={"enum": ["S", "M", "L"]},
        colour={"enum": ["blue", "navy blue", "red", "green"], "title": "Colour"},
        quantity={"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
        gift_wrap={"type": "boolean", "default": False},
    ),
    "visit": _takes(
        "store date time email",
        store=STORE,
        date=DATE | {"title": "Date"},
        time={"type": "string", "format": "partial-time"},
        people={"type": "integer", "minimum": 1, "maximum": 8, "default": 1},
        email=EMAIL,
    ),
    "rent": _takes(
        "item from_date to_date",
        item={"enum": ["tent", "kayak", "mountain bike"]},
        from_date=DATE,
        to_date=DATE,
    ),
    "refund": _takes(
        "order_id amount currency",
        order_id=ORDER_ID,
        amount={"type": "number", "exclusiveMinimum": 0},
        currency={"enum": ["EUR", "GBP", "USD"]},
    ),
    "contact": _takes(
        "name email message",
        name={"type": "string", "maxLength": 80},
        email=EMAIL,
        message={"type": "string", "minLength": 1},
        newsletter={"type": "boolean"},
    ),
    "find": _takes(
        "query",
        query={"type": "string", "x-from-text": "rest"},
        max_price={"type": "number"},
        min_price={"type": "number"},
    ),
    "move": _takes(
        "sku quantity from_store to_store",
        sku=SKU,
        quantity={"type": "integer", "minimum": 1},
        from_store=STORE,
        to_store=STORE,
    ),
    "buy": _takes(
        "items",
        items={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "product": {"type": "string"},
                    "quantity": {"type": "integer", "minimum": 1, "default": 1},
                },
                "required": ["product"],
            },
        },
    ),
    "label": _takes(
        "orders",
        orders={"type": "array", "items": ORDER_ID, "minItems": 1},
        colours={"type": "array", "items": {"enum": ["red", "blue", "green"]}},
    ),
    "call": _takes(
        "starts_at",
        starts_at={"type": "string", "format": "date-time", "title": "Time of the call"},
        page={"type": "string", "format": "uri"},
        reference={"type": "string", "format": "uuid"},
    ),
    "ship": _takes(
        "order_id address",
        order_id=ORDER_ID,
        address={
            "type": "object",
            "properties": {
                "street": {"type": "string"},
                "city": {"type": "string"},
                "postcode": {"type": "string", "pattern": r"\d{5}"},
            },
            "required": ["street", "city", "postcode"],
        },
    ),
    "trip": _takes(
        "guests nights",
        guests={"type": "integer", "minimum": 1},
        nights={"type": "integer", "minimum": 1},
        breakfast={"type": "boolean"},
    ),
    "pack": _takes("count", count={"type": "integer", "enum": [6, 12, 24]}),
}

ACTIONS = {
    name: Action(
        name=name,
        summary=f"The shop can {name} what you say.",
        kind="action",
        open_to="actions",
        input_schema=schema,
        safety=Safety(mutability="reversible", reversible_within="P30D"),
    )
    for name, schema in _SCHEMAS.items()
}

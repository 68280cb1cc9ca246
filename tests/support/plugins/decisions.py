"""Requests for decisions, as the tests of AITP-02 ask them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import jsonschema
import msgspec

from aitp_requests.messages import Kind, Option, RequestDecision
from tests.support.specs.folder import find_shared_folder

PUBLISHED = "https://aitp.dev/capabilities/aitp-02-decisions/v1.0.0/schema.json"


def quote(amount: float, valid_until: str = "2050-01-01T00:00:00Z") -> dict[str, Any]:
    plan = {"plan_id": "p", "plan_type": "one-time", "amount": amount, "currency": "USD"}
    return {
        "type": "Quote",
        "quote_id": "q",
        "payee_id": "shop",
        "payment_plans": [plan],
        "valid_until": valid_until,
    }


TENTS = {
    "id": "tents",
    "title": "Which tent?",
    "description": "Both fit two people.",
    "type": "products",
    "options": [
        {
            "id": "ridge",
            "name": "Ridge",
            "description": "Light.",
            "quote": quote(349),
            "reviews_count": 12,
            "five_star_rating": 4.5,
            "url": "https://shop.example/ridge",
            "image_url": "https://shop.example/ridge.jpg",
            "variants": [
                {"id": "ridge-green", "short_variant_name": "green", "quote": quote(359.5)},
                {"id": "ridge-red", "name": "Ridge in red", "short_variant_name": "red"},
            ],
        },
        {"id": "cove", "name": "Cove", "quote": quote(199.99)},
    ],
}
COLOURS = {
    "id": "colours",
    "type": "checkbox",
    "options": [{"id": "r", "name": "Red"}, {"id": "b", "name": "Blue"}, {"id": "g"}],
}
SIZE = {"id": "size", "title": "Size?", "options": [{"id": "s", "name": "S"}, {"id": "m"}]}
CANCEL = {
    "id": "cancel",
    "title": "Cancel order TH1?",
    "type": "confirmation",
    "options": [{"id": "y", "name": "Yes, cancel it"}, {"id": "n", "name": "No, keep it"}],
}
REQUESTS = (TENTS, COLOURS, SIZE, CANCEL)
DECISIONS = (
    {"request_decision_id": "size", "options": [{"id": "s"}]},
    {"request_decision_id": "tents", "options": [{"id": "cove", "name": "Cove", "quantity": 2}]},
    {"options": [{"id": "r", "name": "Red"}, {"id": "b", "name": "Blue"}]},
)


def request(*names: str, type: Kind = "radio", id: str = "r") -> RequestDecision:
    """A request with options of these names, whose ids are o1, o2 and so on."""
    options = tuple(Option(f"o{number}", name) for number, name in enumerate(names, 1))
    return RequestDecision(id, options, type=type)


def read(given: Mapping[str, Any]) -> RequestDecision:
    return msgspec.convert(given, RequestDecision)


def upstream_errors(message: Mapping[str, Any]) -> list[str]:
    """What the published schema of AITP-02 has against a message."""
    path = (
        find_shared_folder(os.environ.get("AITP_DESK_SHARED"))
        / "schemas"
        / "aitp"
        / "aitp-02-decisions-v1.0.0.json"
    )
    whole = json.loads(path.read_text(encoding="utf-8"))
    schemas = {"components": whole["components"]}
    validator = jsonschema.Draft202012Validator(
        {**schemas, "$ref": "#/components/schemas/DecisionProtocol"},
        format_checker=jsonschema.FormatChecker(),
    )
    return [error.message for error in validator.iter_errors(message)]

"""Forms and replies, as the tests of AITP-03 have them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import jsonschema
import msgspec

from aitp_data import DataRequests
from aitp_data.capability import DataSettings
from aitp_data.encryption.keys import Keys
from aitp_data.messages import FormField
from aitp_desk.capability import Own
from tests.support.specs.folder import find_shared_folder

PUBLISHED = "https://aitp.dev/capabilities/aitp-03-data-request/v1.0.0/schema.json"
SITE = "https://desk.example"
CARD = "4242 4242 4242 4242"

ADDRESS: dict[str, Any] = {
    "id": "address",
    "title": "Where shall it go?",
    "description": "We send it the same day.",
    "fillButtonLabel": "Fill in",
    "form": {
        "fields": [
            {"id": "name", "label": "Name", "required": True, "autocomplete": "name"},
            {"id": "email", "label": "E-mail", "type": "email", "autocomplete": "email"},
            {
                "id": "street",
                "label": "Street",
                "type": "textarea",
                "required": True,
                "autocomplete": "shipping street-address",
            },
            {
                "id": "zip",
                "label": "Postal code",
                "required": True,
                "autocomplete": "shipping postal-code",
            },
            {
                "id": "speed",
                "label": "How fast",
                "type": "select",
                "options": ["Standard", "Express"],
                "default_value": "Standard",
            },
            {"id": "colour", "type": "combobox", "options": ["red"], "description": "Of the bag."},
            {"id": "count", "type": "number", "default_value": "1"},
            {"id": "phone", "type": "tel"},
        ]
    },
}
PAYING: dict[str, Any] = {
    "id": "paying",
    "description": "How do you pay?",
    "form": {
        "fields": [
            {"id": "holder", "label": "Name", "autocomplete": "name"},
            {
                "id": "card",
                "label": "Card number",
                "required": True,
                "autocomplete": "billing cc-number",
            },
            {"id": "until", "label": "Expires", "autocomplete": "cc-exp"},
        ]
    },
}
PIN: dict[str, Any] = {
    "id": "pin",
    "description": "Which PIN?",
    "form": {"fields": [{"id": "pin", "label": "PIN", "sensitive": True, "required": True}]},
}
MAIL: dict[str, Any] = {
    "id": "mail",
    "description": "Where do we write to?",
    "form": {"fields": [{"id": "mail", "type": "email", "required": True}]},
}
HOSTED: dict[str, Any] = {
    "id": "hosted",
    "description": "A form from elsewhere",
    "form": {"json_url": "https://forms.example/address.json"},
}
REQUESTS = (ADDRESS, PAYING, PIN, MAIL, HOSTED)
ENCRYPTED = {
    "id": "card",
    "value": "00ff",
    "encryption": {
        "algorithm": "ECIES-secp256k1-AES-256-GCM",
        "ephemeralPublicKey": "02" + "11" * 32,
        "mac": "00" * 16,
        "iv": "00" * 12,
    },
}
REPLIES: tuple[dict[str, Any], ...] = (
    {
        "request_data_id": "address",
        "fields": [
            {"id": "name", "label": "Name", "value": "Ada"},
            {"id": "street", "value": "1 Long Lane\nRoom 2"},
            {"id": "zip", "value": "10115"},
        ],
    },
    {"fields": [{"id": "mail", "value": "ada@example.com"}]},
    {"fields": [{"id": "mail"}], "remember": True},
    {"fields": [ENCRYPTED]},
)


def own(site: str = "one") -> Own:
    """What a capability has for itself at a site."""
    return Own(
        "https://desk.example",
        lambda purpose: hashlib.sha256(f"{site} {purpose}".encode()).digest(),
    )


def keys(site: str = "one") -> Keys:
    return Keys(own(site))


def jwks(site: str = "one") -> dict[str, Any]:
    """The public keys of a site for JWEs."""
    public = keys(site).jwks
    assert public is not None
    return public


def data_requests(**chosen: int) -> DataRequests:
    """The capability, as a desk has it that has started."""
    capability = DataRequests(DataSettings(**chosen))
    capability.use(own())
    return capability


def field(**given: Any) -> FormField:
    return msgspec.convert({"id": "f", **given}, FormField)


def upstream_errors(message: Mapping[str, Any], draft: str = "v1.0.0") -> list[str]:
    """What a published schema of AITP-03 has against a message."""
    names = {
        "v1.0.0": "aitp-03-data-request-v1.0.0.json",
        "encrypted": "aitp-03-data-request-encrypted-draft.json",
    }
    folder = find_shared_folder(os.environ.get("AITP_DESK_SHARED"))
    whole = json.loads((folder / "schemas" / "aitp" / names[draft]).read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())
    return [error.message for error in validator.iter_errors(message)]

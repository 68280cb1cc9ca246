"""Reads members of documents that may have any shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.egress import Fetched
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.model.text import drop_invisible

MAX_TEXT = 4096
"""The most characters of a site's text that are shown."""


def text_of(value: Any, name: str) -> str:
    """Return a text member; empty if it is missing or no text."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def object_of(value: Any, name: str) -> Mapping[str, Any]:
    """Return an object member; empty if it is missing or no object."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def list_of(value: Any, name: str) -> list[Any]:
    """Return a list member; empty if it is missing or no list."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def decode_object(found: Fetched) -> Mapping[str, Any] | None:
    """Return the JSON object of a response with status 200; None for anything else."""
    if found.status != 200:
        return None
    try:
        value = decode_json(found.body)
    except InvalidRequest:
        return None
    return value if isinstance(value, dict) else None


def clean(text: str) -> str:
    """Return a site's text for display: short, and without characters that hide or reorder."""
    shown = drop_invisible(text[: MAX_TEXT + 1])
    return shown if len(text) <= MAX_TEXT else f"{shown[:MAX_TEXT].rstrip()}…"

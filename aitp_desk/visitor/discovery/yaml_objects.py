"""Reads a site's YAML as the JSON that it stands for, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.egress import Fetched
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json, load_yaml

MAX_BYTES = 512 * 1024
"""The largest document that is read: YAML takes far longer than JSON."""


def decode_yaml_object(found: Fetched) -> Mapping[str, Any] | None:
    """Return the object of a response with status 200; None for anything else.

    Aliases are not read: a few can expand to gigabytes. It takes seconds: run it in a thread.
    """
    if found.status != 200 or len(found.body) > MAX_BYTES:
        return None
    import yaml  # only for the rare form

    try:
        value = load_yaml(found.body)
        # dates become texts, and numbers as keys as well, such as a response's status
        told = decode_json(msgspec.json.encode(value))
    except (yaml.YAMLError, InvalidRequest, ValueError, TypeError, RecursionError, OverflowError):
        return None
    return told if isinstance(told, dict) else None

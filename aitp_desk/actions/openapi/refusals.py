"""Converts a service's error responses to errors for the caller, as plain text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from aitp_desk.actions.openapi.arguments import is_json
from aitp_desk.actions.schemas.sanitised_text import plain_words
from aitp_desk.model.errors import DeskError, InvalidRequest, PreconditionFailed, Unavailable

LONGEST_WAIT = 3600
"""Maximum ``Retry-After`` passed on to callers, in seconds."""

_STATE = frozenset({404, 409, 410, 412, 423, 428})
_LATER = frozenset({408, 425, 429})
_SAYING = ("detail", "message", "error_description", "title", "error")


def make_error(
    status: int, headers: Mapping[str, str], body: bytes, secrets: Collection[str]
) -> DeskError:
    """Return the error of a status; Unavailable unless it is the caller's.

    Parameters:
        secrets: values that no caller may see, even in the service's text.
    """
    if status in _LATER or not 400 <= status < 500:
        wait = headers.get("Retry-After", "")
        seconds = min(int(wait), LONGEST_WAIT) if wait.isdecimal() and len(wait) < 9 else None
        return Unavailable("The service cannot do this now; try again later.", retry_after=seconds)
    said = _said(headers.get("Content-Type", ""), body)
    if not said or any(secret in said for secret in secrets):
        said = (
            "The service refused the request ({0})."
            if status == 404
            else f"The service says no ({status})."
        )
    if status in _STATE:
        return PreconditionFailed(said)
    return InvalidRequest(said)


def _said(media_type: str, body: bytes) -> str:
    """Return the text of an error response, on one line; empty if it has no plain one."""
    if is_json(media_type):
        try:
            text = _find(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""
    elif media_type.partition(";")[0].strip().lower() == "text/plain":
        text = body.decode("utf-8", "replace")
    else:
        return ""
    return plain_words(text)


def _find(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping) or depth > 1:
        return ""
    found = (_find(value.get(name), depth + 1) for name in _SAYING)
    return next(filter(None, found), "")

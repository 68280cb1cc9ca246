"""Checks an AHP manifest against its published schema (AHP 0.1, appendix A).

A rule checks a value and yields its faults and those of its members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aitp_desk.config.rules.web_address import web_address
from aitp_desk.protocols.base.linter import Fault

MODES: Final = ("MODE1", "MODE2", "MODE3")
_SHOWN = 64
"""The most characters of a wrong value in a message."""
_Rule = Callable[[Any, str], Iterator[Fault]]
"""Yields the faults of the value at a path."""


def check_manifest_shape(value: Any) -> Iterator[Fault]:
    """Yield what breaks the schema, each with the path of its member."""
    yield from _MANIFEST(value, "")


def _text(longest: int = 0, pattern: str = "", example: str = "") -> _Rule:
    known = re.compile(pattern, re.ASCII)

    def rule(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield _other(path, value, "text")
        elif longest and len(value) > longest:
            yield Fault(path, f"has {len(value)} characters; it takes at most {longest}.")
        elif pattern and not known.fullmatch(value):
            yield Fault(path, f"is {value[:_SHOWN]!r}; it takes something such as {example}.")

    return rule


def _one_of(*words: str) -> _Rule:
    def rule(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, str) or value not in words:
            shown = repr(value[:_SHOWN]) if isinstance(value, str) else _kind(value)
            yield Fault(path, f"is {shown}; it takes one of {', '.join(words)}.")

    return rule


def _yes_or_no(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield _other(path, value, "true or false")


def _seconds(value: Any, path: str) -> Iterator[Fault]:
    is_whole = isinstance(value, int | float) and value == int(value)
    if isinstance(value, bool) or not is_whole or value < 0:
        yield _other(path, value, "a whole number of seconds, at least 0")


def _anything(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield _other(path, value, "an object")


def _url(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield _other(path, value, "a full URL")
    elif web_address(value) is None:
        yield Fault(path, f"is {value[:_SHOWN]!r}; it takes a full URL.")


def _each(rule: _Rule, least: int = 0, *, is_set: bool = False) -> _Rule:
    def check_all(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield _other(path, value, "a list")
            return
        if len(value) < least:
            yield Fault(path, f"has {len(value)} entries; it takes at least {least}.")
        for place, one in enumerate(value):
            if is_set and one in value[:place]:
                yield Fault(f"{path}[{place}]", "stands there before.")
            yield from rule(one, f"{path}[{place}]")

    return check_all


def _members(rules: Mapping[str, _Rule], *required: str) -> _Rule:
    """Return a rule for an object that has no other members than these."""

    def check_all(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield _other(path, value, "an object")
            return
        for name in required:
            if name not in value:
                yield Fault(_below(path, name), "is missing.")
        for name, one in value.items():
            if name in rules:
                yield from rules[name](one, _below(path, name))
            else:
                known = ", ".join(rules)
                yield Fault(
                    _below(path, name[:_SHOWN]), f"is unknown to the schema, which has {known}."
                )

    return check_all


def _links(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield _other(path, value, "an object")
        return
    for name, one in value.items():
        yield from _url(one, _below(path, name[:_SHOWN]))


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _other(path: str, value: Any, wanted: str) -> Fault:
    return Fault(path, f"is {_kind(value)}; it takes {wanted}.")


def _kind(value: Any) -> str:
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


_LIMIT = _text(0, r"[0-9]+/(?:second|minute|hour|day)", "30/minute")
_TIER = _members({"requests": _LIMIT, "token_budget": _text(0, r"[0-9]+/session", "5000/session")})
_TYPE = _text(
    0, r"(?:text|application|media|file|x-[a-z][a-z0-9-]*)/[a-z][a-z0-9_-]*", "text/answer"
)
_CAPABILITY = _members(
    {
        "name": _text(64, r"[a-z][a-z0-9_]*", "content_search"),
        "description": _text(256),
        "mode": _one_of(*MODES),
        "action_type": _one_of("query", "action", "async"),
        "response_types": _each(_TYPE),
        "accept_fallback": _yes_or_no,
        "input_schema": _anything,
        "output_schema": _anything,
    },
    "name",
    "description",
    "mode",
)
_SIGNALS = dict.fromkeys(("ai_train", "ai_input", "search", "attribution_required"), _yes_or_no)
_MANIFEST = _members(
    {
        "ahp": _text(0, r"[0-9]+\.[0-9]+", "0.1"),
        "name": _text(128),
        "description": _text(512),
        "modes": _each(_one_of(*MODES), 1, is_set=True),
        "endpoints": _members({"converse": _text(), "content": _text()}),
        "capabilities": _each(_CAPABILITY),
        "authentication": _one_of("none", "bearer", "api_key", "signed_request"),
        "rate_limits": _members({"unauthenticated": _TIER, "authenticated": _TIER}),
        "rate_limit": _LIMIT,
        "content_signals": _members(_SIGNALS, "ai_input"),
        "async": _members({"supported": _yes_or_no, "max_eta_seconds": _seconds}, "supported"),
        "links": _links,
    },
    "ahp",
    "modes",
    "content_signals",
)

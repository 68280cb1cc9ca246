"""Finds faults in an AHP manifest (AHP 0.1, sections 4, 5 and 11.5).

The published schema is checked first, then the specification's rules about the whole. Pure: no I/O,
no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, get_args

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.ahp.objects import Mode, PublishedManifest
from aitp_desk.protocols.ahp.wire import ACTS, ANSWERS
from aitp_desk.protocols.base.linter import Fault, SchemaLinter, find_fault_line

MANIFEST_PLACE: Final = "/.well-known/agent.json"
"""The address where agents look for it (section 3.1)."""
_READS: Final = "MODE1"
_MODES: Final = get_args(Mode)


def is_manifest(value: Any) -> bool:
    """Return whether a JSON document names AHP's version or modes."""
    return isinstance(value, dict) and ("ahp" in value or "modes" in value)


def check_manifest(body: bytes) -> tuple[Fault, ...]:
    """Find the faults of a manifest.

    Parameters:
        body: the whole document.

    Returns:
        Violations of the schema, then of the specification, each with the path of its member;
        empty for a valid manifest.
    """
    try:
        value = decode_json(body)
    except InvalidRequest as error:
        return (Fault("", error.message, find_fault_line(body)),)
    broken = tuple(check_manifest_shape(value))
    return broken if not isinstance(value, dict) else (*broken, *_check_whole(value))


def check_manifest_shape(value: Any) -> Iterator[Fault]:
    """Yield what breaks the published schema, which :class:`PublishedManifest` describes."""
    return _make_linter().check(value)


@cache
def _make_linter() -> SchemaLinter:
    return SchemaLinter(PublishedManifest)


def _check_whole(manifest: dict[str, Any]) -> Iterator[Fault]:
    """Check members that depend on each other; skip those that the schema already rejects."""
    modes = [mode for mode in _list(manifest, "modes") if isinstance(mode, str)]
    capabilities = [
        (f"capabilities[{place}]", one)
        for place, one in enumerate(_list(manifest, "capabilities"))
        if isinstance(one, dict)
    ]
    yield from _check_modes(manifest, modes, [one for _, one in capabilities])
    yield from _check_names([one for _, one in capabilities])
    authentication = manifest.get("authentication", "none")
    told = manifest.get("async")
    supports = isinstance(told, dict) and told.get("supported") is True
    for path, one in capabilities:
        yield from _check_capability(path, one, modes)
        kind = one.get("action_type")
        if kind in ("action", "async") and authentication == "none":
            yield Fault(
                "authentication",
                f"is none, but {path} performs an action; such capabilities need a"
                " credential (section 5.3).",
            )
        if kind == "async" and not supports:
            yield Fault(
                "async.supported",
                f"must be true, because {path} continues in the background (section 5.3).",
            )
    if modes != [_READS] and not {"rate_limit", "rate_limits"} & manifest.keys():
        yield Fault(
            "rate_limits",
            "is missing; a site that limits requests declares its limits (section 11.5).",
            is_error=False,
        )


def _check_modes(
    manifest: dict[str, Any], modes: list[str], capabilities: list[dict[str, Any]]
) -> Iterator[Fault]:
    version = manifest.get("ahp")
    if isinstance(version, str) and not version.startswith("0."):
        yield Fault("ahp", f"is {version[:32]!r}; this checker supports AHP 0.1.", is_error=False)
    declared = {one.get("mode") for one in capabilities if isinstance(one.get("mode"), str)}
    for mode, section in ((ANSWERS, "5.2"), (ACTS, "5.3")):
        if mode in modes and mode not in declared:
            yield Fault(
                "capabilities",
                f"has no capability of {mode}, which modes declares; at least one is"
                f" required (section {section}).",
            )
    endpoints = manifest.get("endpoints")
    content = endpoints.get("content") if isinstance(endpoints, dict) else None
    if _READS in modes and content is None:
        yield Fault(
            "endpoints.content",
            f"is missing; with {_READS} it names the readable content (section 5.1).",
            is_error=False,
        )


def _check_names(capabilities: list[dict[str, Any]]) -> Iterator[Fault]:
    names = Counter(str(one["name"]) for one in capabilities if isinstance(one.get("name"), str))
    for name, count in names.items():
        if count > 1:
            yield Fault(
                "capabilities", f"has the name {name[:64]!r} {count} times; names must be unique."
            )


def _check_capability(path: str, one: dict[str, Any], modes: list[str]) -> Iterator[Fault]:
    mode = one.get("mode")
    if isinstance(mode, str) and mode in _MODES and mode not in modes:
        yield Fault(f"{path}.mode", f"is {mode}, which modes does not declare.", is_error=False)
    if mode == ACTS:
        for name in ("action_type", "input_schema", "output_schema"):
            if name not in one:
                yield Fault(
                    f"{path}.{name}", f"is missing; with {ACTS} it is needed (section 5.3)."
                )


def _list(manifest: dict[str, Any], name: str) -> list[Any]:
    value = manifest.get(name)
    return value if isinstance(value, list) else []

"""Recognizes and validates files for agents: agents.txt, AHP, HAC, A2A."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from aitp_desk.model.text import write_count
from aitp_desk.model.web_address import web_address
from aitp_desk.protocols.a2a.linter import CARD_PLACE, check_card, is_card
from aitp_desk.protocols.agents_txt.examination import PLACES, examine, examine_served
from aitp_desk.protocols.ahp.linter import MANIFEST_PLACE, check_manifest, is_manifest
from aitp_desk.protocols.base.linter import Fault
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.hac.linter import check_document
from aitp_desk.protocols.hac.negotiation import MEDIA_TYPE as HAC_TYPE

WELL_KNOWN: Final = (*PLACES, MANIFEST_PLACE, CARD_PLACE)
"""The addresses at which sites describe themselves to agents."""


class ServedFile(msgspec.Struct, frozen=True):
    """The response with which a file was fetched.

    Parameters:
        url: the address that returned it, after redirects.
        headers: of the response, case-insensitive.
    """

    url: str
    headers: Mapping[str, str]


class LintedFile(msgspec.Struct, frozen=True):
    """The result of validating a file.

    Parameters:
        sound: the statement about a valid file; None where nothing could be parsed.
        findings: what is wrong, as text, and whether it breaks the specification.
    """

    sound: str | None
    findings: tuple[tuple[str, bool], ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing in it breaks the specification."""
        return self.sound is not None and not any(is_error for _, is_error in self.findings)


def lint_body(body: bytes, served: ServedFile | None = None) -> LintedFile:
    """Recognize a file, and report everything that is wrong with it and its response.

    Parameters:
        served: None where it was not fetched.
    """
    value = _read(body)
    if isinstance(value, dict) and "_hac" in value:
        return _look_at_hac(body, served)
    if is_manifest(value):
        return _look_at_manifest(body, value, served)
    if is_card(value):
        faults = check_card(body)
        return LintedFile(
            "is a valid A2A card", tuple((str(fault), fault.is_error) for fault in faults)
        )
    examined = examine(body) if served is None else examine_served(served.url, served.headers, body)
    told = tuple((str(fault), fault.is_error) for fault in examined.faults)
    if examined.document is None:
        return LintedFile(None, told)
    count = write_count(len(examined.document.capabilities), "capability", "capabilities")
    return LintedFile(f"conforms to agents.txt 1.0: {count}", told)


def _look_at_manifest(
    body: bytes, manifest: dict[str, Any], served: ServedFile | None
) -> LintedFile:
    faults = (*(() if served is None else _how_served(served)), *check_manifest(body))
    declared = manifest.get("capabilities")
    number = len(declared) if isinstance(declared, list) else 0
    count = write_count(number, "capability", "capabilities")
    told = tuple((str(fault), fault.is_error) for fault in faults)
    return LintedFile(f"conforms to AHP 0.1: {count}", told)


def _how_served(served: ServedFile) -> Iterator[Fault]:
    kind = served.headers.get("Content-Type", "")
    if kind.partition(";")[0].strip().lower() != JSON:
        yield Fault("Content-Type", f"is {kind!r}; it takes {JSON} (section 3.1).")
    address = web_address(served.url)
    if address is not None and address.path != MANIFEST_PLACE:
        yield Fault("", f"is at the wrong address. Publish it at {MANIFEST_PLACE}.", is_error=False)


def _look_at_hac(body: bytes, served: ServedFile | None) -> LintedFile:
    told = [(str(finding), finding.is_error) for finding in check_document(body)]
    kind = "" if served is None else served.headers.get("Content-Type", "")
    if served is not None and kind.partition(";")[0].strip().lower() != HAC_TYPE:
        told.insert(0, (f"Content-Type: is {kind!r}; it takes {HAC_TYPE}.", True))
    return LintedFile("conforms to HAC 1.0", tuple(told))


def _read(body: bytes) -> Any:
    """Parse a body as JSON, leniently; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None

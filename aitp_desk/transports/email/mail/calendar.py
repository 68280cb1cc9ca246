"""Reads the appointment of a calendar part (RFC 5545; RFC 6047 for mails)."""

from __future__ import annotations

import re

from aitp_desk.transports.email.mail.message import Event

_FOLD = re.compile(r"\r?\n[ \t]")
_LINE = re.compile(
    r"([A-Za-z-]{1,30})((?:;[^:;\"]*+(?:\"[^\"]*+\"?[^:;\"]*+)*+)*+):(.*)", re.DOTALL
)
_ESCAPE = re.compile(r"\\([\\;,nN])")
_LONGEST = 500
_MOST_CHARACTERS = 100_000
_MOST_LINES = 2000


def read_event(text: str) -> Event | None:
    """Return the first appointment of a calendar; None if it has none."""
    lines = _FOLD.sub("", text[:_MOST_CHARACTERS]).replace("\r", "").split("\n")[:_MOST_LINES]
    found: dict[str, str] = {}
    is_inside = False
    for line in lines:
        name, parameters, value = _split(line)
        if name == "BEGIN" and value.upper() == "VEVENT":
            is_inside = True
        elif name == "END" and value.upper() == "VEVENT":
            break
        elif name == "METHOD" or (is_inside and name in {"SUMMARY", "LOCATION"}):
            found.setdefault(name, _unescape(value))
        elif is_inside and name in {"DTSTART", "DTEND"}:
            zone = re.search(r"TZID=\"?([^\";:]{1,60})", parameters)
            found.setdefault(name, f"{value[:20]} {zone[1]}" if zone else value[:20])
    if not is_inside:
        return None
    return Event(
        found.get("METHOD", "").upper()[:20],
        found.get("SUMMARY", ""),
        found.get("DTSTART", ""),
        found.get("DTEND", ""),
        found.get("LOCATION", ""),
    )


def _split(line: str) -> tuple[str, str, str]:
    found = _LINE.match(line[: 2 * _LONGEST])
    return (found[1].upper(), found[2], found[3].strip()) if found else ("", "", "")


def _unescape(value: str) -> str:
    text = _ESCAPE.sub(lambda found: " " if found[1] in "nN" else found[1], value)
    return " ".join(text.split())[:_LONGEST]

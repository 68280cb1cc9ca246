"""Converts dates of pages to the timestamps that protocols require."""

from __future__ import annotations

from datetime import UTC, datetime

from aitp_desk.knowledge.documents.base import Document

_NAMES = ("published_at", "published", "date")


def to_rfc3339(said: object) -> str | None:
    """Convert a date or time of ISO 8601 to RFC 3339 in UTC; None if it is neither.

    A time without a zone counts as UTC, a date as its first moment.
    """
    if not isinstance(said, str):
        return None
    try:
        moment = datetime.fromisoformat(said.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def find_first_publication(document: Document) -> str | None:
    """Return a page's publication date; None if it has none."""
    said = (to_rfc3339(document.front.get(name)) for name in _NAMES)
    return next((moment for moment in said if moment), None)


def find_publication_date(document: Document) -> str | None:
    """Return a page's publication date, or else the date of its last change."""
    return find_first_publication(document) or to_rfc3339(document.updated)

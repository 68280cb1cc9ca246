"""Reads what sites respond: into bounded forms, or as an error in a sentence."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.text import drop_invisible, one_line
from aitp_desk.visitor.errors import CredentialNeeded, SiteFailed, SiteRefused
from aitp_desk.visitor.fetcher import read_retry_after

MAX_QUOTED = 300
"""The most characters of a site's words in an error."""

_T = TypeVar("_T")


def read_body(found: Fetched, form: type[_T], protocol: str) -> _T:
    """Decode a JSON response.

    Raises:
        SiteFailed: it is not in the form of its protocol.
    """
    try:
        return msgspec.json.decode(found.body, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        host = URL(found.url).host
        raise SiteFailed(
            f"{host} did not respond in the form of {protocol}: {shorten(str(error))}"
        ) from None


def shorten(text: str) -> str:
    """Return a site's words on one line, without characters that hide or reorder."""
    line = one_line(drop_invisible(text[: MAX_QUOTED * 4]))
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}…"


def make_refusal(found: Fetched, message: str, *, recovery: str = "") -> SiteRefused:
    """Return a refusal as an error; 401 asks for a credential.

    Parameters:
        message, recovery: the site's words: data.
    """
    told = shorten(message) or f"HTTP status {found.status}"
    kind = CredentialNeeded if found.status == 401 else SiteRefused
    return kind(
        f"{URL(found.url).host} refused: {told}",
        status=found.status,
        recovery=shorten(recovery),
        retry_after=read_retry_after(found.headers.get("Retry-After")),
    )

"""Writes ``security.txt``: where faults that endanger others are reported (RFC 9116)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from aitp_desk.config import Site

SECURITY_PATH = "/.well-known/security.txt"
VALID_DAYS = 90
"""The file expires this many days after it was served, at midnight UTC (section 2.5.5)."""
POLICY_PAGES = ("SECURITY", "security-policy")
"""The paths of pages that are the policy of reports, if the content has one (section 2.5.7)."""
MAX_BYTES = 64 * 1024
_SECURE = "https://"


def write_security_txt(site: Site, policy: str, now: float) -> str:
    """Write the file; empty where the site has no contact.

    Addresses on the web must be encrypted (section 2.5): others are left out, as on a desk that is
    tried out on its owner's machine.

    Parameters:
        policy: the path of the policy's page; empty without one.
        now: Unix seconds.
    """
    contacts = tuple(_list_contacts(site))
    if not contacts:
        return ""
    expires = datetime.fromtimestamp(now, UTC) + timedelta(days=VALID_DAYS)
    lines = [f"Contact: {contact}" for contact in contacts]
    lines.append(f"Expires: {expires:%Y-%m-%dT00:00:00Z}")
    languages = dict.fromkeys((site.language, *site.languages))
    lines.append(f"Preferred-Languages: {', '.join(languages)}")
    if site.url.startswith(_SECURE):
        lines.append(f"Canonical: {site.url}{SECURITY_PATH}")
        if policy:
            lines.append(f"Policy: {site.url}{policy}")
    return "\n".join((*lines, ""))


def read_own_file(folder: Path) -> bytes:
    """Return the owner's own file; empty without a regular one of at most 64 KiB.

    Parameters:
        folder: of the content.
    """
    file = folder.joinpath(SECURITY_PATH[1:])
    if file.parent.is_symlink() or file.is_symlink() or not file.is_file():
        return b""
    with file.open("rb") as opened:
        body = opened.read(MAX_BYTES + 1)
    return body if len(body) <= MAX_BYTES else b""


def _list_contacts(site: Site) -> Iterator[str]:
    """Yield the site's contacts as addresses, the preferred first (section 2.5.3)."""
    contact = site.contact
    if contact.email:
        yield f"mailto:{quote(contact.email, safe='@+')}"
    if site.contact_url.startswith(_SECURE):
        yield site.contact_url

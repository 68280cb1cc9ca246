"""Finds claims of a sender that may deceive the reader.

Source: RFC 5322, section 3.6 (which fields are unique); RFC 7489, section 6.6.1 (several authors);
UTS #39 (look-alike letters).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from aitp_desk.model.text import drop_invisible
from aitp_desk.transports.email.mail.addresses import count_addresses
from aitp_desk.transports.email.mail.message import Address, Authentication, Claim
from aitp_desk.transports.email.mail.structure import Part

_UNIQUE = ("sender", "reply-to", "to", "cc", "message-id", "in-reply-to", "references", "subject")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@((?:[\w-]{1,63}\.){1,10}[\w-]{2,63})")
_LATIN_LIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def find_claims(
    mail: Part,
    authors: Sequence[Address],
    reply_to: Sequence[Address],
    senders: Sequence[Address],
    authentication: Authentication,
) -> frozenset[Claim]:
    """Return what may deceive.

    Parameters:
        authors: of ``From``.
        reply_to: of ``Reply-To``.
        senders: of ``Sender``.
    """
    fields = mail.read_fields("from")
    found: set[Claim] = set()
    if not authors:
        found.add(Claim.NO_SENDER)
    if len(fields) > 1:
        found.add(Claim.SEVERAL_FROM)
    if sum(count_addresses(field) for field in fields) > 1:
        found.add(Claim.SEVERAL_AUTHORS)
    if any(len(mail.read_fields(name)) > 1 for name in _UNIQUE):
        found.add(Claim.REPEATED_HEADER)
    if any(method == "dmarc" and result == "fail" for method, result in authentication.results):
        found.add(Claim.FAILED_AUTHENTICATION)
    if authors:
        found |= _judge(authors[0], reply_to, senders)
    return frozenset(found)


def _judge(author: Address, reply_to: Sequence[Address], senders: Sequence[Address]) -> set[Claim]:
    found: set[Claim] = set()
    named = _ADDRESS.search(author.name)
    if named and named[0].lower() != author.address.lower():
        found.add(Claim.ADDRESS_IN_NAME)
    shown = f"{author.name} {author.address}"
    if drop_invisible(shown) != shown:
        found.add(Claim.INVISIBLE_IN_NAME)
    if any(map(_is_mixed, _decode_domain(author.domain).split("."))):
        found.add(Claim.MIXED_SCRIPTS)
    if any(not _is_related(author.domain, other.domain) for other in senders):
        found.add(Claim.OTHER_SENDER)
    if any(not _is_related(author.domain, other.domain) for other in reply_to):
        found.add(Claim.OTHER_REPLY_TO)
    return found


def _is_related(one: str, other: str) -> bool:
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _decode_domain(domain: str) -> str:
    if "xn--" not in domain:
        return domain
    try:
        return domain.encode("ascii").decode("idna")
    except UnicodeError:
        return domain


def _is_mixed(label: str) -> bool:
    """Return whether a label mixes Latin letters with a script that looks like them."""
    if label.isascii():
        return False
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in label}
    return "LATIN" in scripts and not scripts.isdisjoint(_LATIN_LIKE)

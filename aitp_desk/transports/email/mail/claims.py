"""Finds claims of a sender that may deceive the reader."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.model.text import drop_invisible
from aitp_desk.transports.email.mail.addresses import count_addresses
from aitp_desk.transports.email.mail.message import Address, Claim
from aitp_desk.transports.email.mail.structure import Part

_ADDRESS = re.compile(r"[\w.+-]{1,64}@((?:[\w-]{1,63}\.){1,10}[\w-]{2,63})")


def find_claims(mail: Part, authors: Sequence[Address]) -> frozenset[Claim]:
    """Return what may deceive.

    Parameters:
        authors: of ``From``.
    """
    fields = mail.read_fields("from")
    found: set[Claim] = set()
    if not authors:
        found.add(Claim.NO_SENDER)
    if len(fields) > 1:
        found.add(Claim.SEVERAL_FROM)
    if sum(count_addresses(field) for field in fields) > 1:
        found.add(Claim.SEVERAL_AUTHORS)
    if authors:
        author = authors[0]
        named = _ADDRESS.search(author.name)
        if named and named[0].lower() != author.address.lower():
            found.add(Claim.ADDRESS_IN_NAME)
        shown = f"{author.name} {author.address}"
        if drop_invisible(shown) != shown:
            found.add(Claim.INVISIBLE_IN_NAME)
    return frozenset(found)

"""Reads which desks have passed a request on, and refuses loops.

A desk that asks another one for a caller sends ``Desk-Via``: the ids of all desks that have
passed the question on, itself last. The header proves nothing, and gives no rights.
"""

from __future__ import annotations

import re

from aitp_desk.auth.credentials.proof import Head
from aitp_desk.model.errors import InvalidRequest

DESK_VIA = "Desk-Via"
DESK_ID = "desk id"
"""The purpose for which the secret of a desk's id is derived."""
MAX_DESKS = 4
"""How many desks a request may pass before it counts as a loop."""

_ID = re.compile(r"[0-9a-f]{16}")


def make_desk_id(secret: bytes) -> str:
    """Return a desk's random id.

    Parameters:
        secret: derived from the desk's key for this purpose.
    """
    return secret[:8].hex()


def read_desk_chain(head: Head, own: str) -> tuple[str, ...]:
    """Return the ids of the desks that have passed a request on, in order.

    What is only read, such as a manifest, is passed on to nobody.

    Parameters:
        own: the id of this desk.

    Raises:
        InvalidRequest: it has passed this desk before, or too many desks.
    """
    if head.method == "GET":
        return ()
    lines = head.headers.getall(DESK_VIA, [])
    if not lines:
        return ()
    via = tuple(one.strip() for line in lines for one in line.split(","))
    if not all(map(_ID.fullmatch, via)):
        raise InvalidRequest(
            f"{DESK_VIA} must be a list of ids of desks, 16 hexadecimal digits each.",
            param=DESK_VIA,
        )
    if own in via:
        raise InvalidRequest(
            "This request has passed this desk before; it is refused as a loop.", param=DESK_VIA
        )
    if len(via) > MAX_DESKS:
        raise InvalidRequest(
            f"This request has passed {len(via)} desks; more than {MAX_DESKS} count as a loop.",
            param=DESK_VIA,
        )
    return via

"""What accounts are called.

``merchant`` is what the site has; ``acct_…`` what a payer has here; ``channel:…`` what was put into
a payment channel, ``held:…`` what is held for an authorisation, ``drawn:…`` what was drawn from
either and not captured yet; ``affiliate:…`` an affiliate's shares; ``fees:…`` what a method has
cost. ``outside:…`` is the rest of the world, from which money comes: it may be below 0.

Where the site pays others, ``channel-at:…`` is what it has in its channel at a payee, by what its
owner has booked: used before that is booked, it is below 0. ``pending-at:…`` is what it has sent
and that was not confirmed yet, ``spent-at:…`` what was.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal

MERCHANT = "merchant"
PAYER = "acct_"
LONGEST_AFFILIATE = 100

_KNOWN = re.compile(
    r"merchant|acct_[a-z0-9]{1,40}|(channel|held):[A-Za-z0-9._:-]{1,80}"
    r"|drawn:(channel|hold):[A-Za-z0-9._:-]{1,80}"
    r"|affiliate:[!-~]{1,120}|(outside|fees):[a-z0-9_]{1,32}"
    r"|(channel|pending|spent)-at:[a-z][a-z0-9-]{0,31}"
)
_PLAIN = re.compile(rf"[!-~]{{1,{LONGEST_AFFILIATE}}}")


def is_account(name: str) -> bool:
    """Whether a text names an account."""
    return bool(_KNOWN.fullmatch(name))


def is_outside(name: str) -> bool:
    """Whether an account is the world outside, or kept there: it may be below 0."""
    return name.startswith(("outside:", "channel-at:"))


def is_payer(name: str) -> bool:
    """Whether a text names a payer's account."""
    return name.startswith(PAYER) and is_account(name)


def has_cash(name: str) -> bool:
    """Whether somebody pays in there, or is paid out: a payer, the site, an affiliate, a payee."""
    return is_account(name) and name.startswith((PAYER, MERCHANT, "affiliate:", "channel-at:"))


def outside(name: str) -> str:
    """The account of where money comes from: ``cash``, ``stripe``, ``x402``."""
    return f"outside:{name}"


def fees(method: str) -> str:
    """The account of what a method has cost."""
    return f"fees:{method}"


def channel(id: str) -> str:
    """The account of a payment channel."""
    return f"channel:{id}"


def held(id: str) -> str:
    """The account of what is held for an authorisation."""
    return f"held:{id}"


def drawn(kind: str, id: str) -> str:
    """The account of what was drawn from a channel or a hold, and not captured yet."""
    return f"drawn:{kind}:{id}"


def at_payee(kind: Literal["channel", "pending", "spent"], payee: str) -> str:
    """The account of what the site has at a payee.

    Parameters:
        payee: its name among those that may be paid.
    """
    return f"{kind}-at:{payee}"


def affiliate(id: str) -> str:
    """The account of an affiliate's shares.

    Parameters:
        id: whatever an affiliate is called; a long one, or one with other signs than ASCII prints,
            is told by its digest.
    """
    if _PLAIN.fullmatch(id) and not id.startswith("sha256:"):
        return f"affiliate:{id}"
    return f"affiliate:sha256:{hashlib.sha256(id.encode()).hexdigest()}"

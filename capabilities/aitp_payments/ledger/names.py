"""Names of accounts.

``merchant`` is the site's; ``acct_…`` a payer's; ``channel:…`` a payment channel's, ``held:…`` an
authorisation's, ``drawn:…`` what was drawn from either and not yet captured; ``affiliate:…`` an
affiliate's shares; ``fees:…`` the costs of a method. ``outside:…`` is the rest of the world, the
source of money: it may be negative.

For payments by the site, ``channel-at:…`` is the site's balance in its channel at a payee, as its
owner has booked it: used before it is booked, it is negative. ``pending-at:…`` is what was sent and
not yet confirmed, ``spent-at:…`` what was confirmed.
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
    """Return whether a text names an account."""
    return bool(_KNOWN.fullmatch(name))


def is_outside(name: str) -> bool:
    """Return whether an account is outside the ledger, and so may be negative."""
    return name.startswith(("outside:", "channel-at:"))


def is_payer(name: str) -> bool:
    """Return whether a text names a payer's account."""
    return name.startswith(PAYER) and is_account(name)


def has_cash(name: str) -> bool:
    """Return whether cash is paid in or out there: payer, site, affiliate, payee."""
    return is_account(name) and name.startswith((PAYER, MERCHANT, "affiliate:", "channel-at:"))


def outside(name: str) -> str:
    """Return the account of a source of money: ``cash``, ``stripe``, ``x402``."""
    return f"outside:{name}"


def fees(method: str) -> str:
    """Return the account of a method's costs."""
    return f"fees:{method}"


def channel(id: str) -> str:
    """Return the account of a payment channel."""
    return f"channel:{id}"


def held(id: str) -> str:
    """Return the account of an authorisation."""
    return f"held:{id}"


def drawn(kind: str, id: str) -> str:
    """Return the account of amounts drawn from a channel or hold before capture."""
    return f"drawn:{kind}:{id}"


def at_payee(kind: Literal["channel", "pending", "spent"], payee: str) -> str:
    """Return an account of the site at a payee.

    Parameters:
        payee: its name in the settings.
    """
    return f"{kind}-at:{payee}"


def affiliate(id: str) -> str:
    """Return the account of an affiliate's shares.

    Parameters:
        id: any text; a long one, or one with other than printable ASCII, is replaced by its digest.
    """
    if _PLAIN.fullmatch(id) and not id.startswith("sha256:"):
        return f"affiliate:{id}"
    return f"affiliate:sha256:{hashlib.sha256(id.encode()).hexdigest()}"

"""A facilitator's reasons for refusal as text for the payer."""

from __future__ import annotations

_TOLD = (
    ("insufficient", "The wallet holds too few coins."),
    ("nonce", "This authorisation was already used. Please sign a new one."),
    ("valid_before", "The authorisation has expired. Please sign a new one."),
    ("valid_after", "The authorisation is not valid yet."),
    ("undeployed", "The smart wallet that signed does not exist on this network yet."),
    ("signature", "The signature is not by the paying wallet."),
    ("kyt", "The facilitator does not accept coins of this wallet."),
    ("simulation", "The transfer would fail on the network."),
    ("value", "The payment must move exactly the amount that is due."),
    ("recipient", "The payment goes to another address."),
    ("network", "The facilitator does not settle on this network."),
    ("scheme", "The facilitator does not settle this kind of payment."),
)


def told(code: str) -> str:
    """Return a sentence for a facilitator's reason; a general one if it is unknown."""
    words = next(
        (words for part, words in _TOLD if part in code), "The facilitator refused the payment."
    )
    return f"{words} Nothing was paid."

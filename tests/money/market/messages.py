"""What people say to a market: payments, quotes passed on, and what is asked of purses; signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from aitp_payments.messages.signatures import sign, write_signature
from aitp_payments.quotes.wrappers import wrapped_bytes
from tests.money.checks.invariants import CAPTURE_BPS, CAPTURE_WEIGHTS, is_shared

CURRENCY = "EUR"
MERCHANT_ID = "market.example"
CODE = "SC-7K2QX-00000-11111-22222"
PAYER, GIFT = "acct_ada", "acct_gift"
KEY = Ed25519PrivateKey.from_private_bytes(b"a payer's private key, 32 bytes.")
AFFILIATES = ("service.near", "assistant.near", "interface.near")
KEYS = {
    name: Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b".")) for name in AFFILIATES
}
SIGNATURE = "payer_signature"
Purse = tuple[str, str]
"""A channel or a hold: its kind and id."""


class Offer(msgspec.Struct, frozen=True):
    """Something that was quoted, and can be paid.

    Parameters:
        url: the address of the schema in which it was said.
    """

    thread_id: str
    call_id: str
    url: str
    quote: Mapping[str, Any]


class Letter(msgspec.Struct, frozen=True):
    """Something that can be said on a thread: now, later, again, and before what was signed first.

    Parameters:
        said: the message as JSON has it.
        is_of_site: whether people of the site say it.
    """

    thread_id: str
    said: Mapping[str, Any]
    is_of_site: bool = False


def by_channel(offer: Offer, channel: str, *, number: int, cents: int | None = None) -> Letter:
    """A signed payment of a quote from a channel."""
    (option,) = offer.quote["payment_options"]
    method = {
        "type": "near_payment_channel",
        "token": f"ledger:{CURRENCY}",
        "channel_id": channel,
        "amount": option["amount"] if cents is None else f"{cents // 100}.{cents % 100:02}",
        "currency": CURRENCY,
    }
    return _payment(offer, method, number)


def by_account(offer: Offer, *, number: int) -> Letter:
    """A signed payment of a quote from an account."""
    method = {"type": "ledger", "account": PAYER, "currency": CURRENCY}
    return _payment(offer, method, number)


def by_approval(offer: Offer, *, code: str = "") -> Letter:
    """A quote approved by the owner of an account, or by a code."""
    paid = {"quote_id": offer.quote["quote_id"], **({"code": code} if code else {})}
    return Letter(offer.thread_id, {"$schema": offer.url, "approve_quote": paid})


def declined(offer: Offer) -> Letter:
    """A quote that nobody wants."""
    given = {"quote_id": offer.quote["quote_id"]}
    return Letter(offer.thread_id, {"$schema": offer.url, "decline_quote": given})


def topped_up(offer: Offer, channel: str, *, number: int, cents: int) -> Letter:
    """More for a channel, signed by its payer."""
    response = {
        "channel_id": channel,
        "amount": f"{cents // 100}.{cents % 100:02}",
        "currency": CURRENCY,
        "payer_id": "user.near",
        "timestamp": _moment(number),
    }
    signed = sign(KEY, response, SIGNATURE)
    return Letter(offer.thread_id, {"$schema": offer.url, "top_up_response": signed})


def passed_on(offer: Offer, names: Sequence[str], weights: Sequence[int]) -> Sequence[Letter]:
    """A quote that is passed on by each of those names in order: as it is after each of them.

    Parameters:
        weights: of the friends whom they add.
    """
    wrappers: list[dict[str, Any]] = []
    for place, (name, weight) in enumerate(zip(names, weights, strict=True)):
        wrapper = {
            "affiliate_id": name,
            "role": "service",
            "added_affiliates": [{"id": f"friend.{name}", "role": "other", "weight": weight}],
            "next_recipient": (*names, "user.near")[place + 1],
            "timestamp": _moment(0),
        }
        signature = write_signature(KEYS[name], wrapped_bytes(offer.quote, wrappers, wrapper))
        wrappers.append({**wrapper, "signature": signature})
    return [
        Letter(offer.thread_id, {"$schema": offer.url, "wrapped_quote": given})
        for given in (
            {"original_quote": offer.quote, "wrappers": wrappers[: place + 1]}
            for place in range(len(wrappers))
        )
    ]


def respelled(letter: Letter) -> Letter:
    """The same, with its payer's signature in another spelling: base64 that nothing fills up."""
    said = dict(letter.said)
    for key, given in letter.said.items():
        if isinstance(given, Mapping) and (signature := given.get(SIGNATURE)) is not None:
            said[key] = {**given, SIGNATURE: signature.rstrip("=")}
    return replace(letter, said=said)


def adds(letter: Letter) -> tuple[str, int] | None:
    """To which channel a letter adds, and how many millionths; None where it adds nothing."""
    for key in ("top_up_response", "top_up_channel"):
        if (given := letter.said.get(key)) is not None:
            return given["channel_id"], int(Decimal(given["amount"]) * 1_000_000)
    return None


def opening(thread_id: str, url: str, purse: Purse, count: int, ends_at: int) -> Letter:
    """Money that its payer sets apart.

    Parameters:
        url: the address of the site's own schema.
        count: how much, in millionths.
        ends_at: Unix seconds, for a hold.
    """
    kind, id = purse
    asked = {"account": PAYER, "amount": written(count), "currency": CURRENCY}
    if kind == "channel":
        return _asked(thread_id, url, "open_channel", {"channel_id": id, **asked})
    ends = datetime.fromtimestamp(ends_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    named = {"authorization_id": id, "expiration": ends}
    return _asked(thread_id, url, "authorize", {**named, **asked})


def using(thread_id: str, url: str, purse: Purse, what: str, count: int, name: str) -> Letter:
    """What is done with a purse: by its payer, but for captures.

    Parameters:
        url, count: as of :func:`opening`.
        what: ``draw``, ``total``, ``top up``, ``capture``, ``capture last``, or else it is closed.
        name: tells this from others.
    """
    kind, id = purse
    named = {"channel_id" if kind == "channel" else "authorization_id": id}
    amount = written(count)
    match what:
        case "draw":
            given = {**named, "amount": amount, "reference": name}
            return _asked(thread_id, url, "draw", given)
        case "total":
            return _asked(thread_id, url, "draw", {**named, "total": amount})
        case "top up":
            given = {"channel_id": id, "amount": amount, "reference": name}
            return _asked(thread_id, url, "top_up_channel", given)
        case "capture" | "capture last":
            is_last = what == "capture last"
            taken = {"merchant_id": MERCHANT_ID, **named, "amount": amount, "is_last": is_last}
            shared = {"revenue_share": _SHARE} if is_shared(id) else {}
            said = {"$schema": url, "capture": {**taken, **shared}}
            return Letter(thread_id, said, is_of_site=True)
        case _:
            closing = "close_channel" if kind == "channel" else "release"
            return _asked(thread_id, url, closing, named)


_SHARE = {
    "affiliate_share_bps": CAPTURE_BPS,
    "affiliates": [
        {"id": id, "role": "service", "weight": weight} for id, weight in CAPTURE_WEIGHTS.items()
    ],
}


def _asked(thread_id: str, url: str, key: str, given: Mapping[str, Any]) -> Letter:
    signed = sign(KEY, {"merchant_id": MERCHANT_ID, **given}, SIGNATURE)
    return Letter(thread_id, {"$schema": url, key: signed})


def written(count: int) -> str:
    """Millionths as an amount is written."""
    return f"{count // 1_000_000}.{count % 1_000_000:06}"


def _payment(offer: Offer, method: Mapping[str, Any], number: int) -> Letter:
    paid = {
        "quote_id": offer.quote["quote_id"],
        "payment_method": method,
        "payer_id": "user.near",
        "timestamp": _moment(number),
    }
    signed = sign(KEY, paid, SIGNATURE)
    return Letter(offer.thread_id, {"$schema": offer.url, "payment": signed})


def _moment(number: int) -> str:
    """Another moment for each number, so that two payments are two."""
    return f"2027-01-15T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"

"""Parses a presented payment and checks it against the requirements. Pure.

Only the facilitator sees the network, and verifies the payer's signature and coins. Everything else
is checked here first, so that no server is asked about a payment that cannot succeed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.capability import InvalidRequest
from aitp_payments.x402.networks import Network, network_named
from aitp_payments.x402.wire import (
    Authorization,
    ExactPayload,
    PayloadV1,
    PayloadV2,
    Requirements,
    number,
)

SCHEME = "exact"
LEAST_LEFT = 20
"""Minimum remaining validity of an authorisation, in seconds, to settle it in time."""
MOST_LEFT = 60 * 60
"""Maximum validity in seconds. For so long the result of a payment may be unknown."""
LONGEST_PAYLOAD = 16 * 1024


class Presented(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed payment.

    Parameters:
        network: where it moves coins; None for an unknown one.
        quote_id: the quote that it names; None for none.
        given: as received.
    """

    scheme: str
    network: Network | None
    exact: ExactPayload
    accepted: Requirements | None
    quote_id: str | None
    given: Mapping[str, Any]

    @property
    def authorization(self) -> Authorization:
        """The signed authorisation."""
        return self.exact.authorization

    @property
    def valid_before(self) -> int:
        """Unix seconds from which it cannot move anything."""
        return number(self.authorization.valid_before)

    @property
    def reference(self) -> str:
        """Its unique reference: a payer's coins on a network move once by a nonce.

        The signature is not included: several are possible for one authorisation.
        """
        signed = self.authorization
        where = self.network.id if self.network is not None else ""
        text = f"{where} {signed.from_} {signed.nonce}".lower()
        return hashlib.sha256(text.encode()).hexdigest()


def read(given: Mapping[str, Any]) -> Presented:
    """Parse a payment of version 2 or 1.

    Raises:
        InvalidRequest: it does not have the version's form.
    """
    version = given.get("x402Version")
    if len(msgspec.json.encode(given)) > LONGEST_PAYLOAD:
        raise _wrong(f"it must have at most {LONGEST_PAYLOAD} bytes")
    try:
        if version == 2:
            two = msgspec.convert(given, PayloadV2)
            named = two.accepted.extra.get("quote_id")
            return Presented(
                scheme=two.accepted.scheme,
                network=network_named(two.accepted.network),
                exact=two.payload,
                accepted=two.accepted,
                quote_id=named if isinstance(named, str) else None,
                given=given,
            )
        if version == 1:
            one = msgspec.convert(given, PayloadV1)
            network = network_named(one.network)
            return Presented(
                scheme=one.scheme,
                network=network,
                exact=one.payload,
                accepted=None,
                quote_id=None,
                given=given,
            )
    except msgspec.ValidationError as error:
        raise _wrong(str(error)) from None
    raise _wrong("its x402Version must be 2 or 1")


def find_requirements(presented: Presented, offered: Sequence[Requirements]) -> Requirements | None:
    """Return the offered requirements that a payment follows; None for none."""
    if presented.scheme != SCHEME or presented.network is None:
        return None
    network = presented.network
    return next((one for one in offered if one.network == network.id), None)


def why_not(presented: Presented, asked: Requirements, now: int) -> str | None:
    """Return why a payment does not meet the requirements; None if it does.

    Parameters:
        asked: from :func:`find_requirements`.
        now: Unix seconds.

    Returns:
        A sentence for the payer.
    """
    accepted, signed = presented.accepted, presented.authorization
    if accepted is not None and not _is_same(accepted, asked):
        return "The payment accepts other requirements than this quote has."
    if signed.to.lower() != asked.pay_to.lower():
        return f"The payment goes to another address than {asked.pay_to}."
    if number(signed.value) != number(asked.amount):
        return f"The payment must move exactly {asked.amount} units, not {number(signed.value)}."
    if number(signed.valid_after) >= now:
        return "The payment is not valid yet (validAfter)."
    left = presented.valid_before - now
    if left < LEAST_LEFT:
        return f"The payment must be valid for at least {LEAST_LEFT} more seconds (validBefore)."
    if left > MOST_LEFT:
        return f"The payment must be valid for at most {MOST_LEFT} seconds (validBefore)."
    return None


def for_facilitator(presented: Presented, asked: Requirements) -> dict[str, Any]:
    """Return a facilitator's request: always of version 2, since both versions sign the same.

    Parameters:
        asked: as of :func:`why_not`, which has returned None.
    """
    payload: dict[str, Any] = {
        "x402Version": 2,
        "accepted": msgspec.to_builtins(asked),
        "payload": presented.given["payload"],
    }
    if presented.accepted is not None:
        payload |= {
            name: presented.given[name]
            for name in ("resource", "extensions")
            if presented.given.get(name) is not None
        }
    return {
        "x402Version": 2,
        "paymentPayload": payload,
        "paymentRequirements": msgspec.to_builtins(asked),
    }


def _is_same(accepted: Requirements, asked: Requirements) -> bool:
    return (
        accepted.asset.lower() == asked.asset.lower()
        and accepted.pay_to.lower() == asked.pay_to.lower()
        and number(accepted.amount) == number(asked.amount)
    )


def _wrong(why: str) -> InvalidRequest:
    return InvalidRequest(f"This is not an x402 payment: {why}.", param="x402_payment.payload")

"""Builds x402's requirements of a quote, one for each network."""

from __future__ import annotations

from aitp_desk.capability import Money
from aitp_payments.x402.networks import CURRENCY, Network, atomic
from aitp_payments.x402.payload import SCHEME
from aitp_payments.x402.settings import X402Settings
from aitp_payments.x402.wire import Requirements


def requirements(quote_id: str, price: Money, settings: X402Settings) -> tuple[Requirements, ...]:
    """Return the requirements of a quote; none if dollar coins cannot pay its price."""
    if price.currency != CURRENCY:
        return ()
    try:
        units = atomic(price.amount)
    except ValueError:
        return ()
    if not units:
        return ()
    return tuple(_one(quote_id, units, network, settings) for network in settings.known)


def _one(quote_id: str, units: int, network: Network, settings: X402Settings) -> Requirements:
    return Requirements(
        scheme=SCHEME,
        network=network.id,
        amount=str(units),
        asset=network.asset,
        pay_to=settings.pay_to,
        max_timeout_seconds=settings.seconds,
        extra={"name": network.coin, "version": network.version, "quote_id": quote_id},
    )

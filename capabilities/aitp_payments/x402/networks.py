"""The networks of x402 payments, and the dollar coin of each.

A coin's name and version are those of its EIP-712 domain: payers sign them with the authorisation,
so a wrong letter makes every signature invalid.
"""

from __future__ import annotations

from decimal import Decimal

import msgspec

CURRENCY = "USD"
"""The currency of payable prices; one coin is one dollar."""
PLACES = 6
"""Digits after the point of every coin below."""
UNITS = 1_000_000
"""The smallest units of one coin."""


class Network(msgspec.Struct, frozen=True):
    """A network with its USDC.

    Parameters:
        id: by CAIP-2, as in version 2 of x402.
        name: as in version 1, and in ``desk.toml``.
        title: for people.
        asset: address of the coin's contract.
        coin, version: of the coin's EIP-712 domain.
        is_test: whether its coins are worthless.
    """

    id: str
    name: str
    title: str
    asset: str
    coin: str
    version: str = "2"
    is_test: bool = False


NETWORKS = (
    Network(
        "eip155:8453",
        "base",
        "Base",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "USD Coin",
    ),
    Network(
        "eip155:84532",
        "base-sepolia",
        "Base Sepolia, a test network",
        "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "USDC",
        is_test=True,
    ),
    Network(
        "eip155:1",
        "ethereum",
        "Ethereum",
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "USD Coin",
    ),
    Network(
        "eip155:137",
        "polygon",
        "Polygon",
        "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
        "USD Coin",
    ),
    Network(
        "eip155:43114",
        "avalanche",
        "Avalanche",
        "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
        "USD Coin",
    ),
)
_BY_NAME = {name: network for network in NETWORKS for name in (network.id, network.name)}


def network_named(name: str) -> Network | None:
    """Return a network by either of its names; None if it is unknown."""
    return _BY_NAME.get(name)


def names() -> str:
    """Return the names for ``desk.toml``."""
    return ", ".join(network.name for network in NETWORKS)


def atomic(amount: Decimal) -> int:
    """Count dollars in a coin's smallest units, exactly.

    Raises:
        ValueError: it is too fine, negative, or no number.
    """
    if not amount.is_finite() or amount < 0 or not -PLACES <= amount.adjusted() < 18:
        raise ValueError(_uncounted(amount))
    above, below = amount.as_integer_ratio()
    count, rest = divmod(above * UNITS, below)
    if rest:
        raise ValueError(_uncounted(amount))
    return count


def _uncounted(amount: Decimal) -> str:
    return (
        f"{amount!s:.40} dollars cannot be paid: an amount must have at most {PLACES} digits"
        " after the point."
    )

"""The JSON messages of x402 that the desk reads and writes.

Source: the x402 specification, version 2, sections 5 and 7; version 1 for :class:`PayloadV1`.
Stricter rules are noted where they apply. Other members are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

NOTHING: Mapping[str, Any] = MappingProxyType({})
Address = Annotated[str, Meta(pattern="^0x[0-9a-fA-F]{40}$")]
# By the scheme a number is decimal, or hexadecimal after 0x; 78 digits are 256 bits.
Number = Annotated[str, Meta(pattern="^(?:[0-9]{1,78}|0[xX][0-9a-fA-F]{1,64})$")]
# The scheme allows omitted leading zeros; the contract and facilitators need 32 bytes.
Nonce = Annotated[str, Meta(pattern="^0x[0-9a-fA-F]{64}$")]
# 65 bytes for a key's signature; those of smart wallets (ERC-1271, ERC-6492) are longer.
Signature = Annotated[str, Meta(pattern="^0x(?:[0-9a-fA-F]{2}){65,4096}$")]
Name = Annotated[str, Meta(min_length=1, max_length=100)]


class Requirements(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Requirements of a payment (PaymentRequirements of version 2).

    Parameters:
        amount: in the smallest units of the asset.
        max_timeout_seconds: validity of an authorisation, from its signing.
        extra: the coin's EIP-712 domain; and, the desk's own, ``quote_id``.
    """

    scheme: Name
    network: Name
    amount: Number
    asset: Name
    pay_to: Name
    max_timeout_seconds: int
    extra: Mapping[str, Any] = NOTHING


class Authorization(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the payer signs: a transfer with authorisation (EIP-3009).

    Parameters:
        valid_after, valid_before: Unix seconds, both exclusive.
        nonce: 32 random bytes; a payer's coins move by it once.
    """

    from_: Address = msgspec.field(name="from")
    to: Address
    value: Number
    valid_after: Number
    valid_before: Number
    nonce: Nonce


class ExactPayload(msgspec.Struct, frozen=True):
    """A payment of the scheme ``exact`` on EVM networks."""

    signature: Signature
    authorization: Authorization


class PayloadV2(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A payment (PaymentPayload of version 2).

    Parameters:
        accepted: the offered requirements that it follows.
        resource, extensions: passed on to the facilitator unchanged.
    """

    x402_version: Literal[2]
    accepted: Requirements
    payload: ExactPayload
    resource: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] | None = None


class PayloadV1(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A payment of version 1."""

    x402_version: Literal[1]
    scheme: Name
    network: Name
    payload: ExactPayload


class Verified(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A facilitator's response to ``/verify``."""

    is_valid: bool
    invalid_reason: str | None = None
    payer: str | None = None


class SettledWord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A facilitator's response to ``/settle``.

    Parameters:
        transaction: its hash; empty for none.
        amount: the moved amount, in the smallest units.
    """

    success: bool
    error_reason: str | None = None
    payer: str | None = None
    transaction: str = ""
    network: str = ""
    amount: str | None = None


class Kind(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A kind of payment that a facilitator settles."""

    x402_version: int
    scheme: str
    network: str


class Supported(msgspec.Struct, frozen=True):
    """A facilitator's response to ``/supported``."""

    kinds: tuple[Kind, ...]


def number(text: str) -> int:
    """Parse a :data:`Number`."""
    return int(text, 16) if text[:2].lower() == "0x" else int(text)

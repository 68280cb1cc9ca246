"""The settings ``[capabilities.payments.x402]``."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_payments.x402.addresses import wrong_address
from aitp_payments.x402.networks import Network, names, network_named
from aitp_payments.x402.payload import LEAST_LEFT, MOST_LEFT

FACILITATOR = "https://x402.org/facilitator"
"""A public facilitator for test networks, without authentication."""


class X402Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[capabilities.payments.x402]``.

    Parameters:
        pay_to: the address of the site's own wallet, the only recipient of coins.
        networks: the accepted networks, by name.
        facilitator: the verifying and settling server; an ``https`` URL without credentials.
        seconds: validity of a payer's authorisation.
    """

    pay_to: Annotated[str, Meta(pattern="^0x[0-9a-fA-F]{40}$")]
    networks: Annotated[tuple[str, ...], Meta(min_length=1, max_length=20)]
    facilitator: Annotated[str, Meta(max_length=2000)] = FACILITATOR
    seconds: Annotated[int, Meta(ge=3 * LEAST_LEFT, le=MOST_LEFT)] = 300

    def __post_init__(self) -> None:
        if wrong := wrong_address(self.facilitator):
            raise ValueError(f"facilitator {wrong}")
        if {"?", "#"} & set(self.facilitator):
            raise ValueError("facilitator must not have a query or a fragment")
        for name in self.networks:
            if network_named(name) is None:
                raise ValueError(f"{name!r} is not a known network; the networks are: {names()}")
        if not int(self.pay_to, 16):
            raise ValueError("pay_to must not be the zero address")
        tests = {network.is_test for network in self.known}
        if len(tests) > 1:
            raise ValueError(
                "test networks and other networks cannot be combined: test coins are free"
            )

    @property
    def known(self) -> tuple[Network, ...]:
        """The networks, each once."""
        found = [network for name in self.networks if (network := network_named(name)) is not None]
        return tuple(dict.fromkeys(found))

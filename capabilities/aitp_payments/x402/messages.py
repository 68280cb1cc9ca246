"""The message that pays a quote with x402, in the site's own schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class X402Payment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A payment of a quote by x402.

    Parameters:
        payload: x402's PaymentPayload, of version 2 or 1. Its readers can only settle it: the coins
            go to the site.
        quote_id: the quote's id; optional if the payload has it (``accepted.extra.quote_id``).
    """

    payload: dict[str, Any]
    quote_id: Annotated[str, Meta(max_length=200)] = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"x402_payment": X402Payment}

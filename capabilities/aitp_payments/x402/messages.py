"""The message that pays a quote with x402, in the site's own schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class X402Payment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A quote is paid by x402.

    Parameters:
        payload: the payment as x402 has it (PaymentPayload, of version 2 or 1). Whoever reads it
            can have it settled, and nothing else: what it moves goes to the site.
        quote_id: which quote it pays; it may be left out where the payload names it
            (``accepted.extra.quote_id``).
    """

    payload: dict[str, Any]
    quote_id: Annotated[str, Meta(max_length=200)] = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"x402_payment": X402Payment}

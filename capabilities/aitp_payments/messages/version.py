"""Distinguishes quotes of AITP-01 from those of its earlier draft: both use ``quote``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.capability import InvalidRequest
from aitp_payments.messages.aitp01 import Quote
from aitp_payments.messages.draft import DraftQuote


def read_quote(given: Mapping[str, Any]) -> Quote | DraftQuote:
    """Parse the value of ``quote``.

    Raises:
        InvalidRequest: it is neither.
    """
    is_draft = "payment_plans" in given or "type" in given
    try:
        return msgspec.convert(given, DraftQuote) if is_draft else msgspec.convert(given, Quote)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"quote of payments: {error}.", param="quote") from None

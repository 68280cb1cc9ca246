"""Verifies payers' signatures by the keys of the channel or account."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.capability import InvalidRequest
from aitp_payments.ledger.accounts import Account, account_of
from aitp_payments.ledger.purses import Purse, purse_of
from aitp_payments.messages.signatures import PAYER_SIGNATURE, canonical, plain_signature, verifies
from aitp_payments.record_reads import Books


def channel_of(books: Books, id: str, message: Mapping[str, Any]) -> Purse | None:
    """Return the channel of a signed message; None if unknown, or not signed by its keys."""
    purse = purse_of(books, "channel", id)
    if purse is None:
        return None
    account = account_of(books, purse.account)
    keys = purse.keys or (() if account is None else account.keys)
    return purse if is_signed(keys, message) else None


def account_by(books: Books, id: str, message: Mapping[str, Any]) -> Account | None:
    """Return the account of a signed message; None if unknown, or not signed by its keys."""
    account = account_of(books, id)
    return account if account is not None and is_signed(account.keys, message) else None


def is_signed(keys: Sequence[str], message: Mapping[str, Any]) -> bool:
    """Return whether one of these keys has signed a message."""
    return any(verifies(key, message, PAYER_SIGNATURE) for key in keys)


def reference_of(message: Mapping[str, Any]) -> str:
    """Return the unique reference of a signed message.

    The spelling of its signature does not matter: otherwise anyone who has seen the message could
    repeat it.

    Raises:
        InvalidRequest: it has no canonical form, and so no signature.
    """
    signature = message.get(PAYER_SIGNATURE)
    if isinstance(signature, str):
        message = {**message, PAYER_SIGNATURE: plain_signature(signature)}
    try:
        return hashlib.sha256(canonical(message)).hexdigest()
    except ValueError as error:
        raise InvalidRequest(f"This message cannot be signed. {error}") from None

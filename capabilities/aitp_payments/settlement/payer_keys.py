"""Whose signature a payment bears: a key of the channel or account that it is paid from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.capability import InvalidRequest
from aitp_payments.ledger.accounts import Account, account_of
from aitp_payments.ledger.purses import Purse, purse_of
from aitp_payments.messages.signatures import canonical, plain_signature, verifies
from aitp_payments.record_reads import Books

SIGNATURE = "payer_signature"


def channel_of(books: Books, id: str, message: Mapping[str, Any]) -> Purse | None:
    """The channel that a signed message names; None where there is none, or its keys signed not."""
    purse = purse_of(books, "channel", id)
    if purse is None:
        return None
    account = account_of(books, purse.account)
    keys = purse.keys or (() if account is None else account.keys)
    return purse if is_signed(keys, message) else None


def account_by(books: Books, id: str, message: Mapping[str, Any]) -> Account | None:
    """The account that a signed message names; None as above."""
    account = account_of(books, id)
    return account if account is not None and is_signed(account.keys, message) else None


def is_signed(keys: Sequence[str], message: Mapping[str, Any]) -> bool:
    """Whether a message bears the signature of one of these keys."""
    return any(verifies(key, message, SIGNATURE) for key in keys)


def reference_of(message: Mapping[str, Any]) -> str:
    """What tells a signed message from every other: the same for the very same.

    However its signature is spelled: else whoever has seen it could have it done again.

    Raises:
        InvalidRequest: it has no canonical form, and so no signature.
    """
    signature = message.get(SIGNATURE)
    if isinstance(signature, str):
        message = {**message, SIGNATURE: plain_signature(signature)}
    try:
        return hashlib.sha256(canonical(message)).hexdigest()
    except ValueError as error:
        raise InvalidRequest(f"Nobody can sign this. {error}") from None

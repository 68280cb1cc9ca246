"""Requests to sign as stored, for all message families."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeGuard

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.capability import Asked, Book
from aitp_sign.messages import Signature, SignatureDeclined
from aitp_sign.subjects import Accounts, EvmSending, NearSending, Scheme, Signed, Subject


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to sign.

    Parameters:
        schemes: the allowed schemes; none if the answer is no signature.
        account, public_key: the required signer; empty for any.
        actor: who must sign; possibly the desk's own actor.
    """

    id: str
    subject: Subject
    schemes: tuple[Scheme, ...] = ()
    title: str = ""
    description: str = ""
    account: str = ""
    public_key: str = ""
    actor: str = ""
    valid_until: datetime | UnsetType = UNSET
    supersedes: str = ""


class AskedToSign(Asked[Ask, Any], frozen=True, omit_defaults=True):
    """A request to sign with its state.

    Parameters:
        said: the requesting message, as stored on the thread.
        is_for_desk: whether the desk must sign, so that its people answer.
    """

    said: Mapping[str, Any] = msgspec.field(default_factory=dict)
    is_for_desk: bool = False


class Report(msgspec.Struct, frozen=True):
    """An answer other than a signature: accounts, or the hash of a sent transaction.

    Parameters:
        what: its title for people.
        told: the accounts, or the transaction's hash alone.
    """

    request_id: str
    what: str
    told: tuple[str, ...]


class WalletSignature(msgspec.Struct, frozen=True):
    """A signature without a scheme: the request allows exactly one."""

    request_id: str
    account: str
    signature: str


Answer = Signature | WalletSignature | Report | SignatureDeclined
"""All answers to a request."""


def new_book(request: str, answer: str, named: str = "request_id") -> Book[AskedToSign]:
    """Make a book of requests to sign, with the names of a family's messages."""
    return Book(AskedToSign, request=request, answer=answer, named=named)


def has_signature(subject: Subject) -> TypeGuard[Signed]:
    """Return whether the answer is a signature."""
    return not isinstance(subject, NearSending | EvmSending | Accounts)

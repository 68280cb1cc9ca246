"""Requests to sign as they are kept, whichever messages they came by."""

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
    """What somebody is asked to sign.

    Parameters:
        schemes: by which it may be signed; none of what has no signature to show.
        account, public_key: whose signature it is to be; empty for anybody's.
        actor: who is to sign; the desk's own where it is.
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
    """The same with what becomes of it.

    Parameters:
        said: the message that asks, as it stands on the thread.
        is_for_desk: whether the desk is to sign, and its people answer.
    """

    said: Mapping[str, Any] = msgspec.field(default_factory=dict)
    is_for_desk: bool = False


class Report(msgspec.Struct, frozen=True):
    """An answer that is no signature: what somebody says of accounts, or of what was sent.

    Parameters:
        what: what is told, for people.
        told: the accounts, or the hash of a transaction alone.
    """

    request_id: str
    what: str
    told: tuple[str, ...]


class WalletSignature(msgspec.Struct, frozen=True):
    """A signature that leaves out by which scheme: there is one for what was asked."""

    request_id: str
    account: str
    signature: str


Answer = Signature | WalletSignature | Report | SignatureDeclined
"""All that answers a request."""


def new_book(request: str, answer: str, named: str = "request_id") -> Book[AskedToSign]:
    """A book of requests to sign, by the names that its messages have."""
    return Book(AskedToSign, request=request, answer=answer, named=named)


def has_signature(subject: Subject) -> TypeGuard[Signed]:
    """Whether what answers is a signature."""
    return not isinstance(subject, NearSending | EvmSending | Accounts)

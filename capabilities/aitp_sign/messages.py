"""The desk's messages of AITP-05: requests to sign, signatures, and their results.

Source: AITP 0.1, Capabilities, names AITP-05 without a schema; this one is the desk's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.capability import Schema, document_of
from aitp_sign.errors import Reason
from aitp_sign.evm.eip712 import TypedData
from aitp_sign.evm.transactions import EvmTransaction
from aitp_sign.keys.jws import Jwk
from aitp_sign.near.transactions import NearTransaction
from aitp_sign.subjects import Scheme

MOST_TEXT = 4000
Id = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(max_length=200)]
Paragraph = Annotated[str, Meta(max_length=MOST_TEXT)]
Moment = Annotated[datetime, Meta(tz=True)]
Key = Annotated[str, Meta(max_length=100)]


class EvmToSign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A complete transaction of an Ethereum-compatible chain."""

    evm: EvmTransaction
    chain_id: Annotated[int, Meta(ge=1, lt=2**53)]


class RequestSignature(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to sign one thing: a ``text``, ``typed_data``, or a transaction.

    Parameters:
        id: the id that the answer names; unique on its thread.
        schemes: the allowed schemes; empty for all that fit.
        recipient: the recipient that a text's signature is bound to; by default the requester.
        nonce: 32 bytes in base64url that a text's signature is bound to; by default the desk
            generates one.
        account: the required signer: a NEAR account or an Ethereum address.
        public_key: the required key, as ``ed25519:`` and base58; for a JWS its thumbprint (RFC
            7638).
        actor: who must sign; empty for any participant except the requester.
        valid_until: when the request expires; the desk fills it in. It is signed with a text.
        supersedes: id of an open request of the same actor that this one replaces.
    """

    id: Id
    text: Annotated[str, Meta(max_length=MOST_TEXT)] = ""
    typed_data: TypedData | UnsetType = UNSET
    near_transaction: NearTransaction | UnsetType = UNSET
    evm_transaction: EvmToSign | UnsetType = UNSET
    schemes: Annotated[tuple[Scheme, ...], Meta(max_length=7)] = ()
    title: Name = ""
    description: Paragraph = ""
    recipient: Name = ""
    nonce: Key = ""
    account: Key = ""
    public_key: Key = ""
    actor: Name = ""
    valid_until: Moment | UnsetType = UNSET
    supersedes: Name = ""


class Signature(msgspec.Struct, frozen=True, omit_defaults=True):
    """A signature, in reply to a request.

    Parameters:
        request_id: the request's id; optional if only one is open.
        signature: for ``ed25519`` in base64url; for ``nep413`` and ``near`` in base64; for
            Ethereum's schemes ``r``, ``s`` and ``v`` in hex after ``0x``; for ``jws`` detached and
            compact.
        public_key: the signing key, as in :class:`RequestSignature`.
        jwk: the key of a JWS.
        account: the signer: a NEAR account or an Ethereum address; optional for Ethereum's schemes
            only if the request names it.
        callback_url: the callback URL that a NEAR wallet signed too (NEP-413).
    """

    scheme: Scheme
    signature: Annotated[str, Meta(min_length=1, max_length=6000)]
    request_id: Name = ""
    public_key: Key = ""
    jwk: Jwk | UnsetType = UNSET
    account: Key = ""
    callback_url: Annotated[str, Meta(max_length=2000)] = ""


class SignatureDeclined(msgspec.Struct, frozen=True, omit_defaults=True):
    """A refusal to sign.

    Parameters:
        request_id: as of :class:`Signature`.
        note: the reason.
    """

    request_id: Name = ""
    note: Paragraph = ""


class ApproveSignature(msgspec.Struct, frozen=True):
    """An operator's decision whether the desk signs."""

    request_id: Id
    agree: bool


class SignatureResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a signature.

    Parameters:
        result: ``success`` if the signature is valid and was not used before.
        reason: the reason of a failure as a code.
        message: the reason as a sentence.
        public_key, account: the signer.
        account_proved: whether the account is proved, not only its key: an Ethereum address, or a
            NEAR account named after its key.
        digest: SHA-256 of the signed bytes, in hex.
    """

    request_id: Name
    result: Literal["success", "failure"]
    reason: Reason | UnsetType = UNSET
    message: str = ""
    scheme: Scheme | UnsetType = UNSET
    public_key: Key = ""
    account: Key = ""
    account_proved: bool = False
    digest: str = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "request_signature": RequestSignature,
    "signature": Signature,
    "signature_declined": SignatureDeclined,
    "approve_signature": ApproveSignature,
    "signature_result": SignatureResult,
}
"""The keys of a message, without ``$schema``; a message has exactly one."""
_RESULTS: dict[str, type[msgspec.Struct]] = {
    name: MESSAGES[name] for name in ("signature_declined", "approve_signature", "signature_result")
}


def wallet_schemas(
    published: dict[str, type[msgspec.Struct]], title: str, url: str
) -> Sequence[Schema]:
    """Return a published version of messages to wallets, and one with results of signatures."""
    more = published | _RESULTS
    whole = document_of(more, f"{title}, with results of signatures")
    return (
        Schema(version=1, messages=published, document=document_of(published, title), url=url),
        Schema(version=2, messages=more, document=whole),
    )

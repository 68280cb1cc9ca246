"""The desk's messages of AITP-05: requests to sign, signatures, and their results.

Source: AITP 0.1, Capabilities, names AITP-05 and publishes no schema; this one is the desk's own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

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
    """A transaction of a chain of Ethereum's kind, whole."""

    evm: EvmTransaction
    chain_id: Annotated[int, Meta(ge=1, lt=2**53)]


class RequestSignature(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to sign one thing: a ``text``, ``typed_data``, or a transaction.

    Parameters:
        id: what an answer names; on its thread no other request has it, ever.
        schemes: by which it may be signed; empty for all that fit.
        recipient: whom a text's signature is for; whoever asks where none is named.
        nonce: 32 bytes in base64url, to which a text's signature is bound; the desk fills in its
            own where there is none.
        account: whose signature it is to be: an account of NEAR, or an address.
        public_key: by which key, as ``ed25519:`` and base58; of a JWS the thumbprint (RFC 7638).
        actor: who is to sign; empty for whoever takes part and has not asked.
        valid_until: when it is too late. It is signed with a text; the desk fills it in.
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
    """A signature of what was asked.

    Parameters:
        request_id: which request it answers; it may be left out where one alone waits.
        signature: of ``ed25519`` in base64url; of ``nep413`` and ``near`` in base64; of the
            Ethereum kinds ``r``, ``s`` and ``v`` in hex after ``0x``; of ``jws`` detached and
            compact.
        public_key: by which key, as of :class:`RequestSignature`.
        jwk: the key of a JWS.
        account: whose it is: an account of NEAR, or an address; of the Ethereum kinds it is missing
            only where the request names it.
        callback_url: what a wallet of NEAR has signed besides (NEP-413).
    """

    scheme: Scheme
    signature: Annotated[str, Meta(min_length=1, max_length=6000)]
    request_id: Name = ""
    public_key: Key = ""
    jwk: Jwk | UnsetType = UNSET
    account: Key = ""
    callback_url: Annotated[str, Meta(max_length=2000)] = ""


class SignatureDeclined(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody will not sign.

    Parameters:
        request_id: as of :class:`Signature`.
        note: why.
    """

    request_id: Name = ""
    note: Paragraph = ""


class ApproveSignature(msgspec.Struct, frozen=True):
    """One of the desk's people says whether the desk signs what it was asked to."""

    request_id: Id
    agree: bool


class SignatureResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a signature.

    Parameters:
        result: ``success`` where it is proved, and counts once.
        reason: why not, for programs.
        message: the same for people.
        public_key, account: whose signature it is.
        account_proved: whether the account itself is proved, and not only its key: an address is,
            and an account of NEAR that is called by its key.
        digest: SHA-256 of what was signed, in hex.
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
"""The keys of a message besides ``$schema``; exactly one is present."""

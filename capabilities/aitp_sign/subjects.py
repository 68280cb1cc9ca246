"""The subjects that can be signed, and the signed bytes of each scheme. Pure.

A statement is bound to its nonce, its recipient and its expiry: all three are signed with the text.
Subjects in a wallet's own form are signed as that form defines.

Source: AITP 0.1, Capabilities, AITP-05, which has no published schema; the standards of the forms.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Literal

import msgspec

from aitp_sign.evm import eip191, eip712
from aitp_sign.evm import transactions as evm_transactions
from aitp_sign.evm.transactions import EvmTransaction
from aitp_sign.keys.encodings import from_base64url, to_hex
from aitp_sign.near import nep413
from aitp_sign.near import transactions as near_transactions
from aitp_sign.near.transactions import NearAction, NearTransaction

Scheme = Literal["ed25519", "jws", "nep413", "eip191", "eip712", "near", "evm"]
"""The signature schemes. The last two are transactions of NEAR and of Ethereum."""
EVM_SCHEMES: frozenset[Scheme] = frozenset({"eip191", "eip712", "evm"})
"""Schemes whose signatures show an address and no key."""
KIND = "aitp-sign/v1"
_STATEMENT_TYPES = {
    "Statement": (
        eip712.TypedField("text", "string"),
        eip712.TypedField("recipient", "string"),
        eip712.TypedField("nonce", "bytes32"),
        eip712.TypedField("expires", "uint256"),
    )
}


class Statement(msgspec.Struct, frozen=True, tag="statement"):
    """A text with the recipient and the nonce that its signature is bound to.

    Parameters:
        nonce: 32 bytes in base64url.
    """

    text: str
    nonce: str
    recipient: str


class Typed(msgspec.Struct, frozen=True, tag="typed_data"):
    """Typed data of EIP-712."""

    data: eip712.TypedData


class NearMessage(msgspec.Struct, frozen=True, tag="near_message"):
    """A message of NEP-413 for a wallet; its nonce is in base64."""

    message: str
    nonce: str
    recipient: str


class PersonalMessage(msgspec.Struct, frozen=True, tag="personal_message"):
    """A message of ``personal_sign``."""

    message: str


class NearCall(msgspec.Struct, frozen=True, tag="near"):
    """A complete transaction of NEAR."""

    transaction: NearTransaction


class EvmCall(msgspec.Struct, frozen=True, tag="evm"):
    """A complete transaction of an Ethereum-compatible chain."""

    transaction: EvmTransaction
    chain_id: int


class NearSending(msgspec.Struct, frozen=True, tag="near_sending"):
    """A transaction of NEAR for a wallet to sign and send."""

    receiver_id: str
    actions: tuple[NearAction, ...]


class EvmSending(msgspec.Struct, frozen=True, tag="evm_sending"):
    """The same for Ethereum; the wallet chooses what is left open."""

    transaction: EvmTransaction
    chain_id: int | None


class Accounts(msgspec.Struct, frozen=True, tag="accounts"):
    """A request for accounts; nothing is signed."""

    chain_id: int | None = None


Signed = Statement | Typed | NearMessage | PersonalMessage | NearCall | EvmCall
"""Subjects that are answered by a signature."""
Subject = Signed | NearSending | EvmSending | Accounts


def schemes_of(subject: Subject) -> tuple[Scheme, ...]:
    """Return the schemes that can sign a subject; none if its answer is no signature."""
    match subject:
        case Statement():
            return ("ed25519", "jws", "nep413", "eip191", "eip712")
        case Typed():
            return ("eip712",)
        case NearMessage():
            return ("nep413",)
        case PersonalMessage():
            return ("eip191",)
        case NearCall():
            return ("near",)
        case EvmCall():
            return ("evm",)
        case NearSending() | EvmSending() | Accounts():
            return ()


def check(subject: Subject) -> None:
    """Reject a subject that cannot be signed.

    Raises:
        ValueError: names the member and the rule.
    """
    match subject:
        case Statement(nonce=nonce, recipient=recipient):
            if any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in recipient):
                raise ValueError("recipient must be a single line.")
            if len(from_base64url(nonce)) != nep413.NONCE_BYTES:
                raise ValueError("nonce must be 32 bytes in base64url, without padding.")
        case NearMessage(nonce=nonce):
            try:
                nep413.read_nonce(nonce)
            except ValueError as error:
                raise ValueError(f"nonce must be 32 bytes in base64; this is {error}.") from None
        case Typed(data):
            eip712.check_typed_data(data)
        case NearCall() | EvmCall():
            signed_of(subject, schemes_of(subject)[0], 0)
        case NearSending(receiver, actions):
            near_transactions.check_actions(receiver, actions)
        case EvmSending(transaction):
            evm_transactions.check_transaction(transaction)
        case PersonalMessage() | Accounts():
            pass


def signed_of(
    subject: Signed, scheme: Scheme, until: int, callback_url: str | None = None
) -> bytes:
    """Return the signed bytes: a payload for ``ed25519`` and ``jws``, else a 32-byte digest.

    Parameters:
        until: expiry in Unix seconds.
        callback_url: added by a wallet of NEAR, if any.

    Raises:
        ValueError: it cannot be signed.
    """
    match subject:
        case Statement() as statement:
            return _statement(statement, scheme, until, callback_url)
        case Typed(data):
            return eip712.digest_of(data)
        case NearMessage(message, nonce, recipient):
            return nep413.digest_of(message, nep413.read_nonce(nonce), recipient, callback_url)
        case PersonalMessage(message):
            return eip191.digest_of(eip191.bytes_of(message))
        case NearCall(transaction):
            return near_transactions.digest_of(transaction)
        case EvmCall(transaction=called, chain_id=chain_id):
            return evm_transactions.digest_of(called, chain_id)


def told_until(until: int) -> str:
    """Format a time as it is signed."""
    return datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def payload_of(statement: Statement, until: int) -> bytes:
    """Return the payload of ``ed25519`` and ``jws``: canonical JSON (RFC 8785).

    Its members are in canonical order and are strings only.
    """
    return msgspec.json.encode(
        {
            "expires": told_until(until),
            "nonce": statement.nonce,
            "recipient": statement.recipient,
            "text": statement.text,
            "type": KIND,
        }
    )


def _statement(statement: Statement, scheme: Scheme, until: int, callback_url: str | None) -> bytes:
    nonce = from_base64url(statement.nonce)
    expires = f"Expires: {told_until(until)}"
    match scheme:
        case "ed25519" | "jws":
            return payload_of(statement, until)
        case "nep413":
            text = f"{statement.text}\n\n{expires}"
            return nep413.digest_of(text, nonce, statement.recipient, callback_url)
        case "eip191":
            bound = f"Recipient: {statement.recipient}\nNonce: {statement.nonce}\n{expires}"
            return eip191.digest_of(f"{statement.text}\n\n{bound}".encode())
        case "eip712":
            return eip712.digest_of(statement_as_typed(statement, until))
        case "near" | "evm":
            raise ValueError("a statement is not a transaction")


def statement_as_typed(statement: Statement, until: int) -> eip712.TypedData:
    """Return a statement as typed data."""
    return eip712.TypedData(
        types=_STATEMENT_TYPES,
        primary_type="Statement",
        domain={"name": KIND.partition("/")[0], "version": "1"},
        message={
            "text": statement.text,
            "recipient": statement.recipient,
            "nonce": to_hex(from_base64url(statement.nonce)),
            "expires": str(until),
        },
    )

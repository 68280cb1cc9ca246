"""Messages to NEAR wallets: requests for accounts, signatures and transactions.

Version 1 is closed and has no message for the result of a signature. Version 2 is the desk's own
and adds that message.

Source: the published schema ``aitp-04-near-wallet``, version 1.0.0; NEP-413.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aitp_desk.capability import Context, Part, Schema
from aitp_sign.keys.encodings import from_base58, to_base64
from aitp_sign.messages import (
    MOST_TEXT,
    Id,
    Key,
    Paragraph,
    Signature,
    SignatureDeclined,
    wallet_schemas,
)
from aitp_sign.near.chain import NearFamily, NearSettings
from aitp_sign.near.transactions import Actions
from aitp_sign.presentation.display import one_visible_line
from aitp_sign.records import Answer, Ask, Report, new_book
from aitp_sign.subjects import Accounts, NearMessage, NearSending, Subject, schemes_of

PUBLISHED = "https://aitp.dev/capabilities/aitp-04-near-wallet/v1.0.0/schema.json"
Account = Annotated[str, Meta(min_length=2, max_length=64)]


class RequestAccount(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request for accounts."""

    request_id: Id
    description: Paragraph = ""


class AccountResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sender's accounts, as claimed."""

    request_id: Id
    accounts: Annotated[tuple[Account, ...], Meta(max_length=100)]


class Transaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transaction for a wallet to sign and send."""

    receiver_id: Account
    actions: Actions


class RequestTransaction(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A request to sign a transaction and send it."""

    request_id: Id
    transaction: Transaction
    description: Paragraph = ""


class TransactionResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The hash of a sent transaction."""

    request_id: Id
    transaction_hash: Annotated[str, Meta(pattern="^[1-9A-HJ-NP-Za-km-z]{32,44}$")]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of NEP-413.

    Parameters:
        nonce: 32 bytes in base64.
    """

    nonce: Key
    recipient: Annotated[str, Meta(max_length=200)]
    message: Annotated[str, Meta(max_length=MOST_TEXT)]


class RequestMessageSigning(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A request to sign a message.

    Parameters:
        state: the requester's own value for it; it is not signed.
    """

    request_id: Id
    message: Message
    description: Paragraph = ""
    state: Paragraph = ""


class MessageSigningResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signature in base64."""

    request_id: Id
    account_id: Account
    public_key: Key
    signature: Key


class TokenNotification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token that a wallet may show."""

    notification_id: Id
    token_type: Literal["nep141"]
    token_contract: Account


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "request_account": RequestAccount,
    "account_response": AccountResponse,
    "request_transaction": RequestTransaction,
    "transaction_response": TransactionResponse,
    "request_message_signing": RequestMessageSigning,
    "message_signing_response": MessageSigningResponse,
    "token_notification": TokenNotification,
}
"""The messages of version 1."""


class NearWallet(NearFamily):
    """Requests to NEAR wallets."""

    slug = "near-wallet"
    names = ("aitp.dev/near-wallet", "aitp.dev/aitp-04-near-wallet")
    settings = NearSettings
    is_published = True
    book = new_book("request_message_signing", "message_signing_response")

    def schemas(self) -> Sequence[Schema]:
        """Return the published version, and the one with results of signatures."""
        return wallet_schemas(MESSAGES, "NEAR wallets", PUBLISHED)

    def ask_of(self, content: Any, context: Context) -> Ask | None:
        """Read one of the three requests."""
        del context
        subject: Subject
        match content:
            case RequestAccount():
                subject = Accounts()
            case RequestTransaction(transaction=asked):
                subject = NearSending(asked.receiver_id, asked.actions)
            case RequestMessageSigning(message=message):
                subject = NearMessage(message.message, message.nonce, message.recipient)
            case _:
                return None
        schemes = schemes_of(subject)
        return Ask(content.request_id, subject, schemes, description=content.description)

    def answer_of(self, content: Any) -> Answer | None:
        """Read one of the three responses, or a refusal."""
        match content:
            case AccountResponse(request_id, accounts):
                return Report(request_id, "Accounts", accounts)
            case TransactionResponse(request_id, sent):
                return Report(request_id, "Sent transaction", (sent,))
            case MessageSigningResponse(request_id, account, key, signature):
                written = _in_base64(signature)
                return Signature("nep413", written, request_id, key, account=account)
            case SignatureDeclined() as declined:
                return declined
            case _:
                return None

    def message_of(self, signature: Signature) -> Mapping[str, Any]:
        """Return a ``message_signing_response``."""
        response = MessageSigningResponse(
            signature.request_id, signature.account, signature.public_key, signature.signature
        )
        return {"message_signing_response": response}

    def accounts_of(self, ask: Ask) -> Mapping[str, Any] | None:
        """Return an ``account_response`` with the implicit account of the site's key."""
        return {"account_response": AccountResponse(ask.id, (self.keys.account,))}

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_sign.presentation.text`."""
        match part.content:
            case TokenNotification(_, kind, contract):
                return f"Token: {one_visible_line(contract)} ({kind})."
            case _:
                return super().as_text(part)


def _in_base64(signature: str) -> str:
    """Return a signature in NEP-413's form; AITP-04's example has ``ed25519:`` and base58."""
    kind, _, written = signature.partition(":")
    try:
        return to_base64(from_base58(written)) if kind == "ed25519" else signature
    except ValueError:
        return signature

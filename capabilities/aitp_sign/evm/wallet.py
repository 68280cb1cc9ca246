"""Messages to Ethereum wallets: requests for addresses, signatures and transactions.

Version 1 is closed and has no message for the result of a signature. Version 2 is the desk's own
and adds that message.

Source: the published schema ``aitp-05-evm-wallet``, version 1.0.0; EIP-191, EIP-712.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.capability import Context, InvalidRequest, Part, Schema
from aitp_sign.evm import secp256k1
from aitp_sign.evm.eip712 import TypedData
from aitp_sign.evm.transactions import Address, EvmTransaction, Slot
from aitp_sign.messages import (
    MOST_TEXT,
    Id,
    Paragraph,
    Signature,
    SignatureDeclined,
    wallet_schemas,
)
from aitp_sign.presentation.display import one_visible_line
from aitp_sign.records import Answer, Ask, Report, WalletSignature, new_book
from aitp_sign.service import SignatureFamily, SigningSettings
from aitp_sign.subjects import (
    Accounts,
    EvmSending,
    PersonalMessage,
    Subject,
    Typed,
    schemes_of,
)

PUBLISHED = "https://aitp.dev/capabilities/aitp-05-evm-wallet/v1.0.0/schema.json"
Chain = Annotated[int, Meta(ge=1, lt=2**53)]
Name = Annotated[str, Meta(max_length=200)]
Url = Annotated[
    str, Meta(max_length=2000, pattern="^https?://", extra_json_schema={"format": "uri"})
]
Places = Annotated[int, Meta(ge=0, le=77)]


class RequestAddress(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request for addresses."""

    request_id: Id
    description: Paragraph = ""
    chain_id: Chain | UnsetType = UNSET


class AddressResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sender's addresses, as claimed."""

    request_id: Id
    addresses: Annotated[tuple[Address, ...], Meta(max_length=100)]


class RequestTransaction(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A request to sign a transaction and send it."""

    request_id: Id
    transaction: EvmTransaction
    description: Paragraph = ""
    chain_id: Chain | UnsetType = UNSET


class TransactionResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The hash of a sent transaction."""

    request_id: Id
    transaction_hash: Slot


class RequestMessageSigning(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A request to sign a message.

    Parameters:
        signing_type: whether ``message`` is signed, or ``typed_data``.
    """

    request_id: Id
    signing_type: Literal["personal_sign", "typed_data"]
    description: Paragraph = ""
    address: Address | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=MOST_TEXT)] | UnsetType = UNSET
    typed_data: TypedData | UnsetType = UNSET


class MessageSigningResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signature in hex."""

    request_id: Id
    address: Address
    signature: Annotated[str, Meta(pattern="^0x[a-fA-F0-9]+$", max_length=6000)]


class Currency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The currency of a chain."""

    name: Name
    symbol: Name
    decimals: Places


class ChainNotification(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A chain that a wallet may add."""

    notification_id: Id
    chain_id: Chain
    name: Name = ""
    rpc_url: Url | UnsetType = UNSET
    native_currency: Currency | UnsetType = UNSET


class TokenNotification(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A token that a wallet may show."""

    notification_id: Id
    chain_id: Chain
    token_type: Literal["erc20"]
    token_contract: Address
    name: Name
    symbol: Name
    decimals: Places
    icon_url: Url | UnsetType = UNSET


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "request_address": RequestAddress,
    "address_response": AddressResponse,
    "request_transaction": RequestTransaction,
    "transaction_response": TransactionResponse,
    "request_message_signing": RequestMessageSigning,
    "message_signing_response": MessageSigningResponse,
    "chain_notification": ChainNotification,
    "token_notification": TokenNotification,
}
"""The messages of version 1."""


class EvmWallet(SignatureFamily):
    """Requests to wallets of Ethereum-compatible chains."""

    slug = "evm-wallet"
    names = ("aitp.dev/evm-wallet", "aitp.dev/aitp-05-evm-wallet")
    is_published = True
    book = new_book("request_message_signing", "message_signing_response")

    def __init__(self, chosen: SigningSettings) -> None:
        """Create the capability; see :class:`SignatureFamily`.

        Raises:
            ValueError: also if the package that verifies such signatures is not installed.
        """
        super().__init__(chosen)
        if not secp256k1.is_here():
            raise ValueError("needs a package that is not installed: aitp-desk[evm] brings it.")

    def schemas(self) -> Sequence[Schema]:
        """Return the published version, and the one with results of signatures."""
        return wallet_schemas(MESSAGES, "Ethereum wallets", PUBLISHED)

    def ask_of(self, content: Any, context: Context) -> Ask | None:
        """Read one of the three requests.

        Raises:
            InvalidRequest: the content to sign is missing.
        """
        del context
        subject: Subject
        account = ""
        match content:
            case RequestAddress(chain_id=chain):
                subject = Accounts(_given(chain))
            case RequestTransaction(transaction=transaction, chain_id=chain):
                subject = EvmSending(transaction, _given(chain))
            case RequestMessageSigning() as request:
                subject = _message_of(request)
                account = "" if isinstance(request.address, UnsetType) else request.address
            case _:
                return None
        return Ask(
            content.request_id,
            subject,
            schemes_of(subject),
            description=content.description,
            account=account,
        )

    def answer_of(self, content: Any) -> Answer | None:
        """Read one of the three responses, or a refusal."""
        match content:
            case AddressResponse(request_id, addresses):
                return Report(request_id, "Addresses", addresses)
            case TransactionResponse(request_id, sent):
                return Report(request_id, "Sent transaction", (sent.lower(),))
            case MessageSigningResponse(request_id, address, signature):
                return WalletSignature(request_id, address, signature)
            case SignatureDeclined() as declined:
                return declined
            case _:
                return None

    def message_of(self, signature: Signature) -> Mapping[str, Any]:
        """Return a ``message_signing_response``."""
        response = MessageSigningResponse(
            signature.request_id, signature.account, signature.signature
        )
        return {"message_signing_response": response}

    def accounts_of(self, ask: Ask) -> Mapping[str, Any] | None:
        """Return an ``address_response`` with the site's address, the same on every chain."""
        return {"address_response": AddressResponse(ask.id, (self.keys.address,))}

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_sign.presentation.text`."""
        match part.content:
            case TokenNotification(_, chain, kind, contract, name, symbol):
                called = f"{one_visible_line(name)} ({one_visible_line(symbol)}, {kind})"
                return f"Token on chain {chain}: {called}, {contract}."
            case ChainNotification(_, chain, name):
                return f"Chain: {chain} {one_visible_line(name)}".rstrip() + "."
            case _:
                return super().as_text(part)


def _given(chain: int | UnsetType) -> int | None:
    return None if isinstance(chain, UnsetType) else chain


def _message_of(request: RequestMessageSigning) -> PersonalMessage | Typed:
    if request.signing_type == "personal_sign":
        if not isinstance(request.message, UnsetType):
            return PersonalMessage(request.message)
    elif not isinstance(request.typed_data, UnsetType):
        return Typed(request.typed_data)
    missing = "message" if request.signing_type == "personal_sign" else "typed_data"
    raise InvalidRequest(
        f"signing_type {request.signing_type} requires {missing}, which is missing.",
        param=f"request_message_signing.{missing}",
    )

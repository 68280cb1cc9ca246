"""Messages on channels, authorisations, and draws from them.

AITP-01 1.0.0 pays from a channel and does not define how one is opened. These messages do, in the
site's own schema. The owner of an account signs a request (``payer_signature``, Ed25519 over the
canonical JSON of the message without it), or sends it as the caller that owns the account.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_payments.ledger.journal import Why
from aitp_payments.messages.aitp01 import Amount, Id, Moment, Paragraph, RevenueShare, Signature

PurseId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,80}$")]
"""A payer's unique id for a channel or an authorisation."""
Reference = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,50}$")]
IsoCurrency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
PublicKey = Annotated[str, Meta(min_length=43, max_length=43)]
MOST_KEYS = 10


class _Signed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request of a payer.

    Parameters:
        merchant_id: the site that receives it: a signed request is valid for one site only.
        payer_signature: optional if the caller owns the account.
    """

    merchant_id: Id
    payer_signature: Signature = ""


class OpenChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Open a channel with money of an account; quotes are paid from it.

    Parameters:
        amount: the amount; it can be topped up later.
        keys: Ed25519 public keys that may pay from it, such as an agent's; by default those of the
            account.
    """

    channel_id: PurseId
    account: Id
    amount: Amount
    currency: IsoCurrency
    keys: Annotated[tuple[PublicKey, ...], Meta(max_length=MOST_KEYS)] = ()


class TopUpChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Top up a channel from its account.

    Parameters:
        reference: the top-up's id; a repeated one has no effect.
    """

    channel_id: PurseId
    amount: Amount
    reference: Reference


class CloseChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Close a channel; the rest goes back to its account."""

    channel_id: PurseId


class Authorize(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Authorise the site to capture up to an amount.

    Parameters:
        amount: the maximum to capture.
        expiration: when the rest goes back to the payer.
    """

    authorization_id: PurseId
    account: Id
    amount: Amount
    currency: IsoCurrency
    expiration: Moment
    keys: Annotated[tuple[PublicKey, ...], Meta(max_length=MOST_KEYS)] = ()


class Draw(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Draw from a channel or an authorisation; amounts may be far below a cent.

    Parameters:
        channel_id, authorization_id: exactly one.
        total: the sum of all draws by totals, including this one; a lower total has no effect.
        amount: the amount of this draw, instead of a total; a repeated ``reference`` has no effect.
    """

    channel_id: PurseId | UnsetType = UNSET
    authorization_id: PurseId | UnsetType = UNSET
    total: Amount | UnsetType = UNSET
    amount: Amount | UnsetType = UNSET
    reference: Reference | UnsetType = UNSET


class Capture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Capture money that is owed to the site; for its people only.

    Parameters:
        amount: in whole minor units; by default all draws, rounded down.
        revenue_share: the affiliates' part.
        is_last: whether the rest goes back now.
    """

    authorization_id: PurseId | UnsetType = UNSET
    channel_id: PurseId | UnsetType = UNSET
    amount: Amount | UnsetType = UNSET
    revenue_share: RevenueShare | UnsetType = UNSET
    is_last: bool = False


class Release(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Release the rest of an authorisation.

    The site's people can send this at any time, the payer only after it has expired.
    """

    authorization_id: PurseId


class RequestStatement(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Request the state of a channel, an authorisation or an account.

    Parameters:
        timestamp: the present time, if this is signed: it prevents later replays.
    """

    channel_id: PurseId | UnsetType = UNSET
    authorization_id: PurseId | UnsetType = UNSET
    account: Id | UnsetType = UNSET
    currency: IsoCurrency | UnsetType = UNSET
    timestamp: Moment | UnsetType = UNSET


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a channel or an authorisation; signed by the merchant.

    Parameters:
        left: the amount that can still be drawn.
        drawn: the amount that was drawn and not captured.
        captured: the captured amount, without payments of quotes.
        total: the highest total of a draw.
    """

    account: Id
    state: Literal["open", "closed"]
    currency: IsoCurrency
    left: Amount
    drawn: Amount
    captured: Amount
    total: Amount
    timestamp: Moment
    merchant_id: Id
    merchant_signature: Signature


class Channel(Standing, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a channel."""

    channel_id: PurseId


class Authorization(Standing, frozen=True, kw_only=True, omit_defaults=True):
    """The state of an authorisation."""

    authorization_id: PurseId
    expiration: Moment


class Statement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The balance of an account in a currency; signed by the merchant."""

    account: Id
    currency: IsoCurrency
    balance: Amount
    timestamp: Moment
    merchant_id: Id
    merchant_signature: Signature


class NotBookedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A refused booking.

    Parameters:
        code: the reason as a code.
        message: the reason as a sentence.
        lacking: the missing amount, if that is the reason.
    """

    code: Why
    message: Paragraph
    channel_id: PurseId | UnsetType = UNSET
    authorization_id: PurseId | UnsetType = UNSET
    account: Id | UnsetType = UNSET
    lacking: Amount | UnsetType = UNSET
    currency: IsoCurrency | UnsetType = UNSET


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "open_channel": OpenChannel,
    "top_up_channel": TopUpChannel,
    "close_channel": CloseChannel,
    "authorize": Authorize,
    "draw": Draw,
    "capture": Capture,
    "release": Release,
    "request_statement": RequestStatement,
    "channel": Channel,
    "authorization": Authorization,
    "statement": Statement,
    "not_booked": NotBookedMessage,
}
"""The keys of these messages, without ``$schema``; a message has exactly one."""

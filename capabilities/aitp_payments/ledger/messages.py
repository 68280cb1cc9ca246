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
"""A payer's unique id of a channel or an authorisation."""
Reference = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,50}$")]
IsoCurrency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
PublicKey = Annotated[str, Meta(min_length=43, max_length=43)]
MOST_KEYS = 10


class _Signed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a payer asks.

    Parameters:
        merchant_id: the site that is asked: what is signed for one is nothing to another.
        payer_signature: left out where the caller is who owns the account.
    """

    merchant_id: Id
    payer_signature: Signature = ""


class OpenChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Set money of an account apart in a new channel, from which quotes are paid.

    Parameters:
        amount: how much; more may be added later.
        keys: further Ed25519 public keys that may pay from it, such as those of an agent; those of
            the account where there are none.
    """

    channel_id: PurseId
    account: Id
    amount: Amount
    currency: IsoCurrency
    keys: Annotated[tuple[PublicKey, ...], Meta(max_length=MOST_KEYS)] = ()


class TopUpChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Add to a channel from its account.

    Parameters:
        reference: names this top-up: the same one adds once.
    """

    channel_id: PurseId
    amount: Amount
    reference: Reference


class CloseChannel(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Close a channel: the rest goes back to its account."""

    channel_id: PurseId


class Authorize(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Hold an amount for the site, which captures what it is owed of it.

    Parameters:
        amount: the most that can be captured.
        expiration: from then on the rest is the payer's again.
    """

    authorization_id: PurseId
    account: Id
    amount: Amount
    currency: IsoCurrency
    expiration: Moment
    keys: Annotated[tuple[PublicKey, ...], Meta(max_length=MOST_KEYS)] = ()


class Draw(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Draw from a channel or an authorisation, in amounts that may be far below a cent.

    Parameters:
        channel_id, authorization_id: one of the two.
        total: all that is drawn by totals so far, this time included; a lower one says nothing.
        amount: this draw alone, in place of a total; ``reference`` names it, and the same one draws
            once.
    """

    channel_id: PurseId | UnsetType = UNSET
    authorization_id: PurseId | UnsetType = UNSET
    total: Amount | UnsetType = UNSET
    amount: Amount | UnsetType = UNSET
    reference: Reference | UnsetType = UNSET


class Capture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The site takes what it is owed; said by its own people.

    Parameters:
        amount: in whole minor units; without one all that was drawn, rounded down.
        revenue_share: what affiliates get of it.
        is_last: whether the rest goes back at once.
    """

    authorization_id: PurseId | UnsetType = UNSET
    channel_id: PurseId | UnsetType = UNSET
    amount: Amount | UnsetType = UNSET
    revenue_share: RevenueShare | UnsetType = UNSET
    is_last: bool = False


class Release(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """The rest of an authorisation goes back.

    People of the site say so when they need it no more, and the payer once its time is over.
    """

    authorization_id: PurseId


class RequestStatement(_Signed, frozen=True, kw_only=True, omit_defaults=True):
    """Ask how a channel, an authorisation or an account stands.

    Parameters:
        timestamp: of now, where this is signed: later it could be somebody else's to send.
    """

    channel_id: PurseId | UnsetType = UNSET
    authorization_id: PurseId | UnsetType = UNSET
    account: Id | UnsetType = UNSET
    currency: IsoCurrency | UnsetType = UNSET
    timestamp: Moment | UnsetType = UNSET


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a channel or an authorisation stands; signed by the merchant.

    Parameters:
        left: what can be drawn yet.
        drawn: what was drawn and not captured.
        captured: what the site has got by captures; payments of quotes are none.
        total: the highest total that was drawn by.
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
    """How a channel stands."""

    channel_id: PurseId


class Authorization(Standing, frozen=True, kw_only=True, omit_defaults=True):
    """How an authorisation stands."""

    authorization_id: PurseId
    expiration: Moment


class Statement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an account holds of a currency; signed by the merchant."""

    account: Id
    currency: IsoCurrency
    balance: Amount
    timestamp: Moment
    merchant_id: Id
    merchant_signature: Signature


class NotBookedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Nothing was booked.

    Parameters:
        code: why, in a word.
        message: why, in a sentence.
        lacking: how much more there would have to be, where that is why.
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
"""The keys of these messages besides ``$schema``; exactly one is present."""

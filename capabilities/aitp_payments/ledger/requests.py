"""Handles requests on channels, authorisations, and draws from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UnsetType

from aitp_desk.capability import (
    Audit,
    Context,
    Effect,
    InvalidRequest,
    Job,
    Own,
    Part,
    Say,
    Start,
    Take,
    Verdict,
    Wanted,
    Work,
)
from aitp_payments.ledger import messages as asked
from aitp_payments.ledger.accounts import Account, account_of
from aitp_payments.ledger.journal import Leg, NotBooked, balance
from aitp_payments.ledger.purses import (
    Purse,
    PurseKind,
    capture,
    close,
    draw,
    draw_up_to,
    left,
    open_purse,
    purse_of,
    top_up,
)
from aitp_payments.ledger.shares import NOBODY, RevenueSplit
from aitp_payments.ledger.text import tell
from aitp_payments.methods import Charge, Method
from aitp_payments.money import amount, counted
from aitp_payments.quotes.merchant import Merchant, moment
from aitp_payments.records import After, PaymentRecord
from aitp_payments.settlement.lifecycle import SettlementService
from aitp_payments.settlement.payer_keys import is_signed

RELEASE = "purses_release"
"""The job that ends an expired authorisation."""
LONGEST_HOLD = 31 * 24 * 60 * 60
FRESH_SECONDS = 300
"""How long a signed request for a statement is valid; others could replay it later."""

Named = asked.Draw | asked.Capture | asked.RequestStatement


class Purses(Method):
    """Purses of payers. These messages themselves pay no quote."""

    name = "purses"

    def use(self, own: Own, merchant: Merchant, settlement: SettlementService) -> None:
        """Receive the merchant, who signs statements."""
        del own, settlement
        self._merchant = merchant

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return None: the ledger's other methods pay quotes from a channel."""
        del charge
        return None

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Raise an error: this method pays no quotes."""
        del job
        raise LookupError(f"{payment.payment_id} was not paid by {self.name}.")

    def as_text(self, part: Part) -> str | None:
        """Render a message; see :mod:`aitp_payments.ledger.text`."""
        return tell(part)

    def jobs(self) -> Mapping[str, Work]:
        """Return the job that ends authorisations in time."""
        return {RELEASE: Work(self._release, delays=(5, 60, 600, 3600))}

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Carry out a request and report the new state or the refusal."""
        try:
            return self._judged(part, context)
        except NotBooked as why:
            return Take((Say({"not_booked": _not_booked(part, why)}),))

    def _judged(self, part: Part, context: Context) -> Verdict | None:
        match part.content:
            case asked.OpenChannel() | asked.Authorize() as opening:
                return self._open(opening, part, context)
            case asked.TopUpChannel() as wish:
                purse = self._theirs("channel", wish.channel_id, part, context)
                count = _count(wish.amount, "amount", part)
                return self._done(purse, top_up(context, purse, count, wish.reference), context)
            case asked.CloseChannel() as wish:
                purse = self._theirs("channel", wish.channel_id, part, context)
                return self._done(purse, close(context, purse), context, "channel_closed")
            case asked.Draw() as wish:
                return self._draw(wish, part, context)
            case asked.Capture() as wish:
                return self._capture(wish, part, context)
            case asked.Release() as wish:
                purse = self._released(wish, part, context)
                return self._done(purse, close(context, purse), context, "authorization_released")
            case asked.RequestStatement() as wish:
                return self._state(wish, part, context)
            case _:
                return None

    def _open(
        self, wish: asked.OpenChannel | asked.Authorize, part: Part, context: Context
    ) -> Verdict:
        purse = self._wanted(wish, context)
        account = account_of(context, wish.account)
        if account is None:
            raise _not_theirs()
        self._check_payer(part, context, account, account.keys)
        known = purse_of(context, purse.kind, purse.id)
        count = _count(wish.amount, "amount", part)
        if known is not None:
            if known.account != purse.account:
                raise NotBooked(
                    "not_allowed", "An object with this id already exists. Use a new id."
                )
            # others can replay a signed message; they must not learn the balance
            if not account.is_of(context.principal) and not _is_as_opened(known, count, context):
                raise NotBooked(
                    "not_allowed",
                    "It was already opened. Send a signed request_statement to read its state.",
                )
            return self._done(known, (), context)
        effects = open_purse(context, purse, count)
        if purse.kind == "channel":
            return self._done(purse, effects, context, "channel_opened")
        after = purse.ends_at - context.now
        ends = Start(RELEASE, ref=purse.id, after=after, outlives=True)
        return self._done(purse, (*effects, ends), context, "authorized")

    def _wanted(self, wish: asked.OpenChannel | asked.Authorize, context: Context) -> Purse:
        if isinstance(wish, asked.OpenChannel):
            return Purse(
                id=wish.channel_id,
                kind="channel",
                account=wish.account,
                currency=wish.currency,
                opened_at=context.now,
                keys=wish.keys,
            )
        ends_at = int(wish.expiration.timestamp())
        if not context.now < ends_at <= context.now + LONGEST_HOLD:
            days = LONGEST_HOLD // (24 * 60 * 60)
            raise NotBooked("too_late", f"An authorisation must end within {days} days from now.")
        return Purse(
            id=wish.authorization_id,
            kind="hold",
            account=wish.account,
            currency=wish.currency,
            opened_at=context.now,
            ends_at=ends_at,
            keys=wish.keys,
        )

    def _draw(self, wish: asked.Draw, part: Part, context: Context) -> Verdict:
        kind, id = _named(wish, part)
        purse = self._theirs(kind, id, part, context)
        if not isinstance(wish.total, UnsetType):
            effects = draw_up_to(context, purse, _count(wish.total, "total", part))
        elif isinstance(wish.amount, UnsetType) or isinstance(wish.reference, UnsetType):
            raise InvalidRequest(
                "A draw must have a total, or an amount and a reference.", param=f"{part.key}.total"
            )
        else:
            effects = draw(context, purse, _count(wish.amount, "amount", part), wish.reference)
        return self._done(purse, effects, context)

    def _capture(self, wish: asked.Capture, part: Part, context: Context) -> Verdict:
        kind, id = _named(wish, part)
        if not context.is_operator:
            raise NotBooked("not_allowed", "Only people of the site can capture.")
        purse = _purse(context, kind, id)
        given = wish.amount
        count = None if isinstance(given, UnsetType) else _count(given, "amount", part)
        effects: Sequence[Effect] = capture(context, purse, count, _sharing(wish))
        if wish.is_last:
            after = After(context, effects)
            effects = (*effects, *close(after, purse_of(after, kind, id) or purse))
        return self._done(purse, effects, context, "captured")

    def _released(self, wish: asked.Release, part: Part, context: Context) -> Purse:
        """Return the authorisation that the sender may end now."""
        if context.is_operator:
            return _purse(context, "hold", wish.authorization_id)
        purse = self._theirs("hold", wish.authorization_id, part, context)
        if purse.ends_at > context.now:
            raise NotBooked("not_allowed", "Only the site can release it before it expires.")
        return purse

    def _state(self, wish: asked.RequestStatement, part: Part, context: Context) -> Verdict:
        asked_at = wish.timestamp
        if wish.payer_signature and (
            isinstance(asked_at, UnsetType)
            or abs(context.now - asked_at.timestamp()) > FRESH_SECONDS
        ):
            raise NotBooked(
                "too_late",
                "A signed request_statement must have the present time as its timestamp.",
            )
        if isinstance(wish.account, UnsetType):
            purse = self._theirs(*_named(wish, part), part, context)
            return self._done(purse, (), context)
        account = account_of(context, wish.account)
        if account is None:
            raise _not_theirs()
        self._check_payer(part, context, account, account.keys)
        if isinstance(wish.currency, UnsetType):
            raise InvalidRequest("currency is missing.", param=f"{part.key}.currency")
        held = balance(context, account.id, wish.currency)
        told = {
            "account": account.id,
            "currency": wish.currency,
            "balance": amount(held, wish.currency),
            "timestamp": moment(context.now),
            "merchant_id": self._merchant.id,
        }
        return Take((Say({"statement": self._merchant.sign(told)}),))

    def _theirs(self, kind: PurseKind, id: str, part: Part, context: Context) -> Purse:
        """Return the purse of an id, if the sender may pay from it."""
        purse = purse_of(context, kind, id)
        account = None if purse is None else account_of(context, purse.account)
        if purse is None or account is None:
            raise _not_theirs()
        # a key that pays from it cannot take the rest back, nor see the account
        is_spent = isinstance(part.content, asked.Draw | asked.RequestStatement)
        self._check_payer(part, context, account, (purse.keys if is_spent else ()) or account.keys)
        return purse

    def _check_payer(
        self, part: Part, context: Context, account: Account, keys: Sequence[str]
    ) -> None:
        given = part.given[part.key]
        if part.content.merchant_id != self._merchant.id:
            raise NotBooked("not_allowed", f"merchant_id must be {self._merchant.id!r} here.")
        if part.content.payer_signature:
            if not is_signed(keys, given):
                raise NotBooked("wrong_signature", "The signature is by none of the known keys.")
        elif not account.is_of(context.principal):
            raise _not_theirs()

    def _done(
        self, purse: Purse, effects: Sequence[Effect], context: Context, event: str = ""
    ) -> Verdict:
        """Apply effects, and report the resulting state of the purse."""
        after = After(context, effects)
        stands = purse_of(after, purse.kind, purse.id) or purse
        told = {
            "account": stands.account,
            "state": "open" if stands.is_open else "closed",
            "currency": stands.currency,
            "left": amount(left(after, stands), stands.currency),
            "drawn": amount(balance(after, stands.drawn, stands.currency), stands.currency),
            "captured": amount(stands.captured, stands.currency),
            "total": amount(stands.signed, stands.currency),
            "timestamp": moment(context.now),
            "merchant_id": self._merchant.id,
        }
        if stands.kind == "channel":
            said = {"channel": self._merchant.sign({"channel_id": stands.id, **told})}
        else:
            ends = {"authorization_id": stands.id, "expiration": moment(stands.ends_at)}
            said = {"authorization": self._merchant.sign({**ends, **told})}
        noted = (Audit(event),) if event and effects else ()
        return Take((*effects, *noted, Say(said)))

    async def _release(self, job: Job) -> Wanted:
        """Close an expired authorisation: draws are the site's."""
        return _ending(job.ref)


def _is_as_opened(purse: Purse, count: int, context: Context) -> bool:
    """Return whether a purse still holds exactly the amount with which it was opened."""
    has_moved = purse.captured or balance(context, purse.drawn, purse.currency)
    return purse.is_open and not has_moved and left(context, purse) == count


def _ending(id: str) -> Callable[[Context], Sequence[Effect]]:
    def decide(context: Context) -> Sequence[Effect]:
        purse = purse_of(context, "hold", id)
        return () if purse is None else close(context, purse)

    return decide


def _named(wish: Named, part: Part) -> tuple[PurseKind, str]:
    """Return the purse that a request names.

    Raises:
        InvalidRequest: it names none, or two.
    """
    match wish.channel_id, wish.authorization_id:
        case str(channel), UnsetType():
            return "channel", channel
        case UnsetType(), str(authorization):
            return "hold", authorization
        case _:
            raise InvalidRequest(
                "The message must have either a channel_id or an authorization_id.", param=part.key
            )


def _purse(context: Context, kind: PurseKind, id: str) -> Purse:
    purse = purse_of(context, kind, id)
    if purse is None:
        raise NotBooked("unknown", "No channel or authorisation with this id exists.")
    return purse


def _sharing(wish: asked.Capture) -> RevenueSplit:
    """Return the affiliates' part of a capture."""
    share = wish.revenue_share
    if isinstance(share, UnsetType):
        return NOBODY
    weights = Counter[str]()
    for one in share.affiliates:
        weights[one.id] += one.weight
    return RevenueSplit(share.affiliate_share_bps, weights)


def _not_theirs() -> NotBooked:
    return NotBooked(
        "not_allowed",
        "You have nothing with this id. Sign the request with a key of the account, or send it"
        " as the caller that owns the account.",
    )


def _count(text: str, name: str, part: Part) -> int:
    """Parse an amount above 0, in millionths.

    Raises:
        InvalidRequest: it is malformed, or 0.
    """
    try:
        count = counted(text)
    except ValueError as error:
        raise InvalidRequest(str(error), param=f"{part.key}.{name}") from None
    if not count:
        raise InvalidRequest("It must be above 0.", param=f"{part.key}.{name}")
    return count


def _not_booked(part: Part, why: NotBooked) -> Mapping[str, Any]:
    given = part.given[part.key]
    named = {
        name: given[name]
        for name in ("channel_id", "authorization_id", "account")
        if isinstance(given.get(name), str)
    }
    short: Leg | None = why.lacking
    lacking = (
        {}
        if short is None
        else {"lacking": amount(short.millionths, short.currency), "currency": short.currency}
    )
    return {"code": why.code, "message": why.message, **named, **lacking}

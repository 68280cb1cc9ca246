"""Agrees to what a partner offers in a conversation, at the named price.

The price is this desk's price as well: the caller agrees to it, or pays it here, before this desk
agrees to it there. So a partner sells also by a protocol that lists no actions, such as AITP.

What a partner says in words afterwards may be that it failed. So its reply is quoted, never taken
for a success, and the buyer reads what this desk has paid, to whom and with which reference.
"""

from __future__ import annotations

from typing import Any

import msgspec

from aitp_desk.actions.base import (
    ActionResult,
    CallContinues,
    Context,
    OfferedAction,
    OutcomeUnknown,
)
from aitp_desk.actions.schemas.sanitised_text import plain_words
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.errors import PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from aitp_desk.model.text import clean_quote
from aitp_desk.transports.peers.continuation import is_unknown, read_there
from aitp_desk.transports.peers.memory import PeerConversation, PeerMemory
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.questions import MAX_TEXT, LateAnswer
from aitp_desk.transports.peers.rules import buy_name
from aitp_desk.visitor.base import Answer
from aitp_desk.visitor.errors import SiteRefused
from aitp_desk.visitor.site import Site

_MARGIN_SECONDS = 5
_MAX_REFERENCE = 80
_OUTPUT = {
    "type": "object",
    "properties": {
        "by": {"type": "string", "description": "Who sells."},
        "text": {"type": "string", "description": "What the partner replied."},
        "paid": {"type": "string", "description": "What this site has paid the partner for it."},
    },
    "required": ["by", "text"],
}
_INPUT = {
    "type": "object",
    "properties": {
        "offer": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "The id of the offer, as the answer names it.",
        }
    },
    "required": ["offer"],
    "additionalProperties": False,
}


def make_purchase_action(partner: Partner, memory: PeerMemory) -> OfferedAction:
    """Build the action ``buy_NAME``.

    Parameters:
        partner: its settings have ``buyers`` and a budget.
    """
    settings, title = partner.settings, partner.title
    action = Action(
        buy_name(settings),
        f"Buys from {title} what it has offered; you pay this site, which pays {title}",
        kind="action",
        description=f"Call it only with the offer of an answer of {title} in this conversation.",
        open_to=settings.buyers or "actions",
        accept_fallback=True,
        input_schema=_INPUT,
        output_schema=_OUTPUT,
        safety=Safety("irreversible"),
        has_price=True,
        is_prepaid=settings.prepaid,
        deadline_seconds=settings.seconds + _MARGIN_SECONDS,
        may_go_on=True,
    )
    takes = SchemaValidator(_INPUT, checks_formats=True)

    async def find(arguments: dict[str, Any], context: Context) -> tuple[PeerConversation, Answer]:
        known = await memory.read(context.conversation)
        offered = known.offered
        if offered is None or known.call_id != arguments["offer"]:
            raise PreconditionFailed(f"{title} has no such offer open here; ask it once more.")
        if known.is_trusted != partner.trusts(context):
            raise PreconditionFailed(f"The offer of {title} was made to another caller.")
        return known, offered

    async def check(arguments: dict[str, Any], context: Context) -> None:
        await find(arguments, context)

    async def price(arguments: dict[str, Any], context: Context) -> Money | None:
        _, offered = await find(arguments, context)
        return None if offered.quote is None else offered.quote.money

    async def perform(arguments: dict[str, Any], context: Context) -> ActionResult:
        if context.continued:
            return _tell(partner, *await _read_late(partner, context))
        known, offered = await find(arguments, context)
        if await memory.take_offer(context.conversation, known.call_id) != known:
            raise PreconditionFailed(f"The offer of {title} was taken meanwhile.")
        paid = _describe_payment(partner, offered, context)
        text = await _agree(partner, known, offered, context, paid)
        return _tell(partner, text, paid)

    return OfferedAction(
        action, read=takes.read, perform=perform, check=check, price=price, may_match=False
    )


def _describe_payment(partner: Partner, offered: Answer, context: Context) -> str:
    """Return what the buyer has to know if the partner does not deliver; empty for a free offer."""
    quote = offered.quote
    if quote is None or not quote.money.amount:
        return ""
    title, known = partner.title, f"call {context.call_id}"
    reference = plain_words(quote.reference)[:_MAX_REFERENCE] if quote.prepaid else ""
    if reference:
        known = f"quote {reference}, {known}"
    done = "sent" if quote.prepaid else "agreed to pay"
    return (
        f"This site {done} {title} {quote.money} ({known}). If {title} does not deliver, ask it "
        "or this site for the money with this reference: nothing comes back by itself."
    )


async def _agree(
    partner: Partner, known: PeerConversation, offered: Answer, context: Context, paid: str
) -> str:
    """Agree to an offer, and return what the partner replies.

    Raises:
        CallContinues: the reply has not come.
        OutcomeUnknown: the offer may have been taken; it says what was paid.
        DeskError: nothing was bought.
    """
    title, is_sent = partner.title, False
    quote = offered.quote
    try:
        async with partner.visit(
            context,
            budget=None if quote is None else quote.money,
            buys=True,
            protocol=known.resumes["endpoint"],
        ) as site:
            site.resume(known.resumes, asked=offered)
            is_sent = True
            try:
                outcome = await site.agree(offered)
                resumes = site.save()
            except SiteRefused as refused:
                if not is_unknown(refused):
                    raise
                raise OutcomeUnknown(f"{title} did not finish the purchase. {paid}") from None
            finally:
                if site.spent is not None and site.spent.amount:
                    context.spent = site.spent
    except Unavailable:
        if is_sent:
            raise OutcomeUnknown(f"{title} did not finish its response. {paid}") from None
        raise
    if outcome.kind == "waiting":
        if not outcome.result:
            raise OutcomeUnknown(f"{title} has not told whether it was done. {paid}")
        late = LateAnswer(resumes, outcome.result, paid)
        raise CallContinues(msgspec.json.encode(late).decode())
    if outcome.kind in {"question", "payable"}:
        asks = f"{title} asks: {plain_words(outcome.text) or 'for more'}"
        if quote is not None and quote.prepaid:  # the payment is there, and was not refused
            raise OutcomeUnknown(f"{asks} {paid}")
        raise PreconditionFailed(asks)
    return outcome.text


async def _read_late(partner: Partner, context: Context) -> tuple[str, str]:
    """Return a late reply to an agreement, and what was paid.

    Raises:
        CallContinues: it has still not come.
    """
    late = msgspec.json.decode(context.continued, type=LateAnswer)

    async def read(site: Site) -> Answer:
        site.resume(late.resumes)
        return await site.read_late(Answer("", "waiting", data=late.waiting))

    try:
        answer = await read_there(partner, context, late.resumes["endpoint"], read)
    except OutcomeUnknown as unknown:
        raise OutcomeUnknown(f"{unknown} {late.paid}".rstrip()) from None
    if answer.kind == "waiting":
        raise CallContinues(context.continued)
    return answer.text, late.paid


def _tell(partner: Partner, words: str, paid: str) -> ActionResult:
    text = clean_quote(words.strip()[:MAX_TEXT]) or "It has not said what it did."
    result = {"by": partner.title, "text": text}
    told = f"{partner.title}: {text}"
    if not paid:
        return ActionResult(result, told)
    return ActionResult({**result, "paid": paid}, f"{told}\n\n{paid}")

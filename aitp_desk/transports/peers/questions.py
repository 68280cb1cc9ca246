"""The action that puts a question to a partner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.actions.base import ActionResult, CallContinues, Context, OfferedAction
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.actions.terms import MAX_SUMMARY
from aitp_desk.model.calls.action import Action
from aitp_desk.model.text import clean_name, clean_quote
from aitp_desk.transports.peers.continuation import read_there
from aitp_desk.transports.peers.memory import (
    PeerAnswer,
    PeerConversation,
    PeerMemory,
    PeerSource,
)
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.rules import ask_name, may_buy
from aitp_desk.visitor.base import Answer, Choice
from aitp_desk.visitor.site import Site

MAX_QUESTION = 4_000
MAX_TEXT = 8_000
"""How many characters of a partner's answer are shown."""
MAX_SOURCES = 4
MAX_CHOICES = 8
MAX_LINE = 200
CONVERSED = frozenset({"ahp", "aitp", "a2a", "mcp"})
"""The protocols whose conversations take an agreement in a later visit."""
NOT_YET = "It has not answered yet. Ask once more in a while."
INTERRUPTED = (
    "This site was interrupted before the answer came, and does not send the question again by "
    "itself. Ask once more if you still want to know."
)

_MARGIN_SECONDS = 5
_SOURCE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "url": {"type": "string"},
        "quote": {"type": "string"},
    },
    "required": ["title", "url", "quote"],
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "by": {"type": "string", "description": "Whose answer it is."},
        "url": {"type": "string"},
        "kind": {"type": "string", "enum": ["answer", "question", "waiting"]},
        "text": {"type": "string"},
        "options": {"type": "array", "items": {"type": "string"}},
        "sources": {"type": "array", "items": _SOURCE},
        "offer": {"type": "string", "description": "What buy_NAME takes; empty for nothing."},
    },
    "required": ["by", "url", "kind", "text", "options", "sources"],
}
# no usual name of a question: another desk takes no partner for what answers here
_INPUT = {
    "type": "object",
    "properties": {
        "words": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_QUESTION,
            "description": "The question in full: the partner knows nothing of this site.",
        }
    },
    "required": ["words"],
    "additionalProperties": False,
}


class LateAnswer(msgspec.Struct, frozen=True):
    """An answer that a partner has not given yet.

    Parameters:
        resumes: the conversation that it belongs to.
        waiting: by which the partner's protocol asks for it.
        paid: what this desk has paid for it, in a sentence for the buyer; empty for nothing.
    """

    resumes: Mapping[str, Any]
    waiting: Mapping[str, Any]
    paid: str = ""


def make_question_action(partner: Partner, memory: PeerMemory) -> OfferedAction:
    """Build the action ``ask_NAME``.

    A price is never agreed to by words, and the words of a caller without the scope ``actions`` are
    sent without the desk's own token: they can do no more than the caller could there alone.
    """
    settings, title = partner.settings, partner.title
    about = f"about {', '.join(settings.topics)}" if settings.topics else "what is not known here"
    action = Action(
        ask_name(settings),
        f"Ask {title}, a partner site, {about}."[:MAX_SUMMARY],
        description=" ".join(
            filter(
                None,
                (
                    settings.description,
                    "Call it only if the site's own content does not answer.",
                    f"The answer is {title}'s own: say so, and link its sources.",
                ),
            )
        ),
        open_to=settings.open_to,
        accept_fallback=True,
        input_schema=_INPUT,
        output_schema=_OUTPUT,
        deadline_seconds=settings.seconds + _MARGIN_SECONDS,
        may_go_on=True,
    )
    takes = SchemaValidator(_INPUT, checks_formats=True)

    async def perform(arguments: dict[str, Any], context: Context) -> ActionResult:
        if context.continued:
            told = await _read_late(partner, memory, context)
        else:
            told = await _ask(partner, memory, arguments["words"].strip(), context)
        return ActionResult(msgspec.to_builtins(told), f"{told.by}: {told.text}")

    return OfferedAction(action, read=takes.read, perform=perform)


def attribute(partner: Partner, answer: Answer) -> PeerAnswer:
    """Return a partner's answer within bounds, with its owner's name; it loads nothing."""
    text = clean_quote(answer.text).strip() or (NOT_YET if answer.kind == "waiting" else "")
    if len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT - 1]}…"
    if answer.quote is not None:
        text = f"{text}\n\n({answer.quote.money}; nothing was paid or agreed to.)"
    sources = [
        PeerSource(
            clean_name(source.title)[:MAX_LINE] or source.url,
            source.url,
            clean_quote(source.quote[:MAX_LINE]),
        )
        for source in answer.sources
        if source.url.startswith(("https://", "http://")) and len(source.url) <= MAX_QUESTION
    ]
    return PeerAnswer(
        partner.title,
        partner.settings.url,
        answer.kind,
        text,
        tuple(choice.label for choice in list_choices(answer)),
        tuple(sources[:MAX_SOURCES]),
    )


def list_choices(answer: Answer) -> tuple[Choice, ...]:
    """Return the readings of a partner's question, as visitors see them."""
    return tuple(
        Choice(choice.value, clean_name(choice.label)[:MAX_LINE])
        for choice in answer.choices[:MAX_CHOICES]
    )


async def _ask(partner: Partner, memory: PeerMemory, question: str, context: Context) -> PeerAnswer:
    """Put a question on the thread's conversation, at most once for each call."""
    key = context.conversation
    known = await memory.read(key)
    if known.call_id == context.call_id:
        return known.answer or PeerAnswer(
            partner.title, partner.settings.url, "waiting", INTERRUPTED
        )
    is_trusted = partner.trusts(context)
    if known.is_priced or known.is_trusted != is_trusted:
        # a new conversation: no words agree to the price, and none act with the desk's token
        known = PeerConversation(is_trusted=is_trusted)
    sent = msgspec.structs.replace(known, call_id=context.call_id, answer=None)
    await memory.keep(key, sent)
    async with partner.visit(context) as site:
        site.resume(known.resumes)
        answer = await _put(site, question, known.choices)
        resumes = site.save()
    return await _keep(partner, memory, context, answer, resumes)


async def _read_late(partner: Partner, memory: PeerMemory, context: Context) -> PeerAnswer:
    """Return the answer to a question that the partner has not answered at once.

    Raises:
        CallContinues: it has still not come.
        OutcomeUnknown, PreconditionFailed, Unavailable: as :func:`read_there`.
    """
    late = msgspec.json.decode(context.continued, type=LateAnswer)

    async def read(site: Site) -> tuple[Answer, Mapping[str, Any]]:
        site.resume(late.resumes)
        return await site.read_late(Answer("", "waiting", data=late.waiting)), site.save()

    answer, resumes = await read_there(partner, context, late.resumes["endpoint"], read)
    return await _keep(partner, memory, context, answer, resumes)


async def _keep(
    partner: Partner,
    memory: PeerMemory,
    context: Context,
    answer: Answer,
    resumes: Mapping[str, Any],
) -> PeerAnswer:
    """Store where the conversation goes on, and return the answer.

    Raises:
        CallContinues: it has not come; another visit asks for it.
    """
    told, late = attribute(partner, answer), find_late(answer, resumes)
    is_offer = resumes.get("endpoint") in CONVERSED and may_buy(partner.settings, answer.quote)
    known = await memory.read(context.conversation)
    if known.call_id == context.call_id:  # else a later question was put
        if is_offer and late is None:
            told = msgspec.structs.replace(told, offer=context.call_id)
        # what a person wrote was read from the thread of a conversation of another protocol
        is_other = context.continued and known.resumes.get("endpoint") != resumes.get("endpoint")
        state = PeerConversation(
            context.call_id,
            told if late is None else None,
            known.resumes if is_other else resumes,
            list_choices(answer),
            answer.quote is not None,
            partner.trusts(context),
            answer if told.offer else None,
        )
        await memory.replace(context.conversation, state)
    if late is not None:
        raise CallContinues(msgspec.json.encode(late).decode())
    return told


def find_late(answer: Answer, resumes: Mapping[str, Any]) -> LateAnswer | None:
    """Return by what a partner's answer is read later; None if it is all that comes."""
    if answer.later:
        thread = {"endpoint": "aitp", "thread": answer.later["thread"]}
        return LateAnswer(thread, {"ticket": answer.later["ticket"]})
    if answer.kind == "waiting" and answer.data and resumes:
        return LateAnswer(resumes, answer.data)
    return None


async def _put(site: Site, question: str, choices: tuple[Choice, ...]) -> Answer:
    chosen = question.strip().casefold()
    for choice in choices:
        if chosen in {choice.label.strip().casefold(), choice.value.strip().casefold()}:
            return await site.choose(choice)
    return await site.ask(question)

"""Partners listed by topic, and the hand-over of a visitor to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.model.calls.action import Action, OpenTo, Safety
from aitp_desk.transports.peers.memory import PeerConversation, PeerMemory
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.questions import MAX_QUESTION, attribute, list_choices
from aitp_desk.transports.peers.rules import ask_name
from aitp_desk.transports.peers.topics import is_about

PARTNERS = "partners"
HAND_OVER = "hand_over"

_LISTED = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "url": {"type": "string"},
        "description": {"type": "string"},
        "topics": {"type": "array", "items": {"type": "string"}},
        "asked_with": {"type": "string", "description": "The action that asks this partner."},
        "hands_over": {"type": "boolean"},
    },
    "required": ["name", "title", "url", "description", "topics", "asked_with", "hands_over"],
}
_PARTNERS_OUTPUT = {
    "type": "object",
    "properties": {"partners": {"type": "array", "items": _LISTED}},
    "required": ["partners"],
}
_HANDED_OUTPUT = {
    "type": "object",
    "properties": {
        "by": {"type": "string", "description": "The partner."},
        "url": {"type": "string", "description": "Where the visitor goes on."},
        "text": {"type": "string", "description": "What the partner answered."},
    },
    "required": ["by", "url", "text"],
}


def make_partners_action(partners: Sequence[Partner]) -> OfferedAction:
    """Build the action that lists partners, all or by topic."""
    takes = SchemaValidator(
        {
            "type": "object",
            "properties": {
                "topic": {
                    "type": "string",
                    "maxLength": 200,
                    "description": "What the partner must know about; all partners without it.",
                }
            },
            "additionalProperties": False,
        },
        checks_formats=True,
    )
    action = Action(
        PARTNERS,
        "Lists the partner sites, with what each of them knows.",
        accept_fallback=True,
        input_schema=takes.schema,
        output_schema=_PARTNERS_OUTPUT,
    )

    async def perform(arguments: dict[str, Any], _context: Context) -> ActionResult:
        topic = str(arguments.get("topic", "")).strip()
        found = [one for one in partners if not topic or is_about(topic, one.settings.topics)]
        listed = [_list(one) for one in found]
        text = "\n".join(_write(one) for one in found)
        return ActionResult({"partners": listed}, text or "There is no partner for this.")

    return OfferedAction(action, read=takes.read, perform=perform)


def make_hand_over_action(
    partners: Sequence[tuple[Partner, PeerMemory]], open_to: OpenTo
) -> OfferedAction:
    """Build the action that hands a visitor over to a partner.

    It sends a summary of the conversation, which cannot be undone: so the visitor sees the summary
    and is asked first, on the thread. The conversation that it opens goes on when the partner is
    asked on the same thread.

    Parameters:
        partners: those to whom visitors are handed over.
    """
    by_name = {one.settings.name: (one, memory) for one, memory in partners}
    takes = SchemaValidator(
        {
            "type": "object",
            "properties": {
                "partner": {
                    "type": "string",
                    "enum": list(by_name),
                    "description": "The partner that the visitor goes on with.",
                },
                "summary": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_QUESTION,
                    "description": "What the partner receives: the conversation in short, "
                    "without personal data that it does not need.",
                },
            },
            "required": ["partner", "summary"],
            "additionalProperties": False,
        },
        checks_formats=True,
    )
    titles = ", ".join(one.title for one, _ in by_name.values())
    action = Action(
        HAND_OVER,
        f"Hands the visitor over to a partner site: {titles}."[:256],
        kind="action",
        description="The partner receives the summary, and nothing else of the conversation.",
        open_to=open_to,
        accept_fallback=True,
        input_schema=takes.schema,
        output_schema=_HANDED_OUTPUT,
        safety=Safety("irreversible", confirmation_recommended=True),
        deadline_seconds=max(one.settings.seconds for one, _ in by_name.values()) + 5,
    )

    async def perform(arguments: dict[str, Any], context: Context) -> ActionResult:
        partner, memory = by_name[arguments["partner"]]
        known = await memory.read(context.conversation)
        sent = msgspec.structs.replace(known, call_id=context.call_id, answer=None)
        await memory.keep(context.conversation, sent)
        async with partner.visit(context) as site:
            answer = await site.ask(arguments["summary"].strip())
            resumes = site.save()
        told = attribute(partner, answer)
        state = PeerConversation(
            context.call_id,
            told,
            resumes,
            list_choices(answer),
            answer.quote is not None,
            partner.trusts(context),
        )
        await memory.replace(context.conversation, state)
        context.note("data_shared", f"{partner.title} received a summary of the conversation.")
        result = {"by": partner.title, "url": partner.settings.url, "text": told.text}
        return ActionResult(
            result, f"{partner.title} ({partner.settings.url}) goes on from here: {told.text}"
        )

    return OfferedAction(action, read=takes.read, perform=perform)


def _list(partner: Partner) -> dict[str, Any]:
    settings = partner.settings
    return {
        "name": settings.name,
        "title": partner.title,
        "url": settings.url,
        "description": settings.description,
        "topics": msgspec.to_builtins(settings.topics),
        "asked_with": ask_name(settings),
        "hands_over": settings.hand_over,
    }


def _write(partner: Partner) -> str:
    settings = partner.settings
    about = f": {', '.join(settings.topics)}" if settings.topics else ""
    knows = f". {settings.description}" if settings.description else ""
    return f"- [{partner.title}]({settings.url}){about}{knows}"

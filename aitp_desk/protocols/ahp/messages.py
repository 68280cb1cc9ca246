"""Adds capability messages to AHP's answers, for callers that declare these capabilities.

AHP 0.1 has no place for them; its response schema leaves ``response`` and ``clarification`` open.
"""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import join_messages
from aitp_desk.protocols.ahp.objects import AHPAnswer, AHPClarification


def add_messages(
    to: AHPAnswer | AHPClarification,
    said: Said,
    declared: frozenset[str],
    understood: tuple[Spoken, ...] = (),
) -> None:
    """Add the capability messages that accompany a text, and the text that none expresses.

    Without a message for the caller nothing is added, as the text is then complete.

    Parameters:
        declared: slugs of the capabilities whose messages the caller reads in their own form.
        understood: messages that the caller's own text was understood as.
    """
    if not declared:
        return
    shaped = [
        msgspec.Raw(one.message.encode())
        for one in (*understood, *(one for by in said.heard for one in by.spoken), *said.spoken)
        if one.capability in declared
    ]
    if not shaped:
        return
    heard = [
        msgspec.structs.replace(one, text=_besides(one.text, one.spoken, declared))
        for one in said.heard
    ]
    text = said.text if isinstance(said, Answer) else said.question
    rest = _besides(text, said.spoken, declared)
    to.messages = shaped
    to.besides = join_messages([one for one in heard if one.text], rest)


def _besides(text: str, spoken: tuple[Spoken, ...], declared: frozenset[str]) -> str:
    """Return the text that no declared message expresses."""
    if not spoken:
        return text
    return "\n\n".join(one.text for one in spoken if one.capability not in declared)

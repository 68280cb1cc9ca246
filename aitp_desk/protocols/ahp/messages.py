"""Messages of capabilities in AHP's answers, for whoever has declared these.

AHP 0.1 has no place for them; its response schema leaves ``response`` and ``clarification`` open.
"""

from __future__ import annotations

from typing import Any

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import join_messages


def write_message_members(
    said: Said, declared: frozenset[str], understood: tuple[Spoken, ...] = ()
) -> dict[str, Any]:
    """The members that stand beside the words where some of these are messages.

    Parameters:
        declared: slugs of the capabilities whose messages the asker reads as they are.
        understood: what the asker's own words were taken for.

    Returns:
        ``messages``, and ``besides``: what is said beside them, in words. Nothing where there is no
        message for the asker: the words say it all.
    """
    if not declared:
        return {}
    shaped = [
        msgspec.Raw(one.message.encode())
        for one in (*understood, *(one for by in said.heard for one in by.spoken), *said.spoken)
        if one.capability in declared
    ]
    if not shaped:
        return {}
    heard = [
        msgspec.structs.replace(one, text=_besides(one.text, one.spoken, declared))
        for one in said.heard
    ]
    text = said.text if isinstance(said, Answer) else said.question
    rest = _besides(text, said.spoken, declared)
    return {"messages": shaped, "besides": join_messages([one for one in heard if one.text], rest)}


def _besides(text: str, spoken: tuple[Spoken, ...], declared: frozenset[str]) -> str:
    """What a text says that no message does."""
    if not spoken:
        return text
    return "\n\n".join(one.text for one in spoken if one.capability not in declared)

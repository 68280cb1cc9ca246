"""Agents that ask partners: one that delegates, and one that passes everything through.

Both call the partner's action as a tool of their turn: with the rights of the caller, recorded,
limited and repeated as every call. What comes back is data, and says whose it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    Event,
    Said,
    Source,
    Turn,
    read_answer,
)
from aitp_desk.agent.extractive.agent import EXTRACTIVE, ExtractiveAgent
from aitp_desk.agent.tools import ToolResult
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.transports.peers.memory import PeerAnswer
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.rules import ask_name, buy_name
from aitp_desk.transports.peers.topics import is_about

LATER = "The answer has not come yet. It will appear in this conversation."
_BETWEEN = "\n\n"


class _Told(msgspec.Struct, frozen=True):
    result: PeerAnswer


class DelegatingAgent:
    """Answers from the site's content, and asks partners what that leaves open.

    Parameters:
        agent: answers from the content.
        partners: asked in this order, one for each question.
    """

    def __init__(self, agent: ExtractiveAgent, partners: Sequence[Partner]) -> None:
        self._agent = agent
        self._partners = tuple(partners)

    @property
    def name(self) -> str:
        """Its name, for people."""
        return EXTRACTIVE

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn in one event."""
        partner = _find_asking(turn, self._partners)
        own = None
        if partner is None:
            own = await read_answer(self._agent, turn)
            partner = self._choose(turn, own)
        if partner is None or ask_name(partner.settings) not in {tool.name for tool in turn.tools}:
            yield own or await read_answer(self._agent, turn)
            return
        yield await _ask(partner, turn, own if isinstance(own, Answer) else None)

    def _choose(self, turn: Turn, own: Said) -> Partner | None:
        """Return whom to ask; None if the site itself has answered, or asks back."""
        if not isinstance(own, Answer) or own.found or own.person is not None:
            return None
        return next(
            (one for one in self._partners if is_about(turn.question, one.settings.topics)), None
        )


class PassthroughAgent:
    """Passes each message to a partner, and its replies back."""

    def __init__(self, partner: Partner) -> None:
        self._partner = partner

    @property
    def name(self) -> str:
        """Its name, for people."""
        return f"passes on to {self._partner.title}"

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn in one event."""
        yield await _ask(self._partner, turn, None)


def _find_asking(turn: Turn, partners: Sequence[Partner]) -> Partner | None:
    """Return the partner whose question the visitor answers; None for none."""
    if turn.pending is None:
        return None
    asked = turn.pending.question
    return next((one for one in partners if asked.startswith(_name(one.title))), None)


async def _ask(partner: Partner, turn: Turn, own: Answer | None) -> Said:
    """Return a partner's answer, or the site's own and why there is none."""
    name = ask_name(partner.settings)
    words = (turn.clarification or turn.question).strip()
    arguments = msgspec.json.encode({"words": words}).decode()
    given = await turn.invoke(ToolCall(name, name, arguments))
    told = _read(given)
    if told is None and not given.failed:
        return Answer(f"{_name(partner.title)}{LATER}", found=False, tools_used=(name,))
    if told is None:
        text = _BETWEEN.join(filter(None, (own.text if own else "", given.output)))
        if own is not None:
            return msgspec.structs.replace(own, text=text, tools_used=(*own.tools_used, name))
        return Answer(text, found=False, tools_used=(name,))
    text = f"{_name(told.by)}{told.text}"
    if told.offer and buy_name(partner.settings) in {tool.name for tool in turn.tools}:
        return await _offer(partner, turn, told, text, name)
    if told.kind == "question":
        return Clarification(text, told.options, tools_used=(name,))
    sources = [Source(one.title, one.url, "direct", one.quote) for one in told.sources]
    return Answer(text, tuple(sources), tools_used=(name,))


async def _offer(partner: Partner, turn: Turn, told: PeerAnswer, text: str, asked: str) -> Said:
    """Ask the visitor to agree to the price that a partner has named."""
    name = buy_name(partner.settings)
    arguments = msgspec.json.encode({"offer": told.offer}).decode()
    given = await turn.invoke(ToolCall(name, name, arguments))
    used = (asked, name)
    if given.asks is None:
        return Answer(_BETWEEN.join((text, given.output)), tools_used=used)
    question = _BETWEEN.join((text, given.asks.question))
    return Clarification(
        question,
        given.asks.options,
        free_form=False,
        tools_used=used,
        waits=given.asks.call_id,
    )


def _read(given: ToolResult) -> PeerAnswer | None:
    """Return the answer; None if there is none, or it has not come yet."""
    if given.failed:
        return None
    try:
        return msgspec.json.decode(given.output, type=_Told).result
    except msgspec.DecodeError:  # the call was accepted
        return None


def _name(title: str) -> str:
    """Return how a partner's words begin, in any language."""
    return f"**{title}**: "

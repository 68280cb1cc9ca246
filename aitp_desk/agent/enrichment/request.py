"""What is sent to a model, and what it replies.

The instructions stand in the system text alone. Each passage is one JSON object in a text block of
its own, which nothing in the passage can end; the reply is the input of the one tool there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.claude.passages import estimate_tokens
from aitp_desk.agent.claude.prompt import encode
from aitp_desk.config import Claude
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.prompt import INSTRUCTIONS, passage_data
from aitp_desk.knowledge.enrichment.replies import Reply

Group = Mapping[str, Passage]
"""Passages that go in one request, by their digests."""

TOOL = "write_questions"
_MOST_TOGETHER = 6
_CHARACTERS_TOGETHER = 3000
"""Short passages go together up to so many of them and so much text."""
_TOKENS_EACH = 1500
"""How long a reply about one passage may be."""
_TOKENS_EXPECTED = 450
"""How long a reply about one passage is, as a rule."""
_BATCH_PRICE = 0.5
"""What a batch costs of the price."""

_TOOL: dict[str, Any] = {
    "name": TOOL,
    "description": "Record the questions, quotes and summary of each passage.",
    "input_schema": {
        "type": "object",
        "properties": {
            "passages": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "summary": {"type": "string"},
                        "questions": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "ask": {"type": "string"},
                                    "quote": {"type": "string"},
                                },
                                "required": ["ask", "quote"],
                            },
                        },
                    },
                    "required": ["id", "summary", "questions"],
                },
            }
        },
        "required": ["passages"],
    },
}


class Estimate(msgspec.Struct, frozen=True):
    """About what a run takes.

    Parameters:
        read, written: tokens.
        dollars: price of both.
    """

    passages: int
    requests: int
    read: int
    written: int
    dollars: float


def make_groups(passages: Group) -> list[dict[str, Passage]]:
    """Passages in the groups in which they are sent."""
    groups: list[dict[str, Passage]] = []
    room = 0
    for digest, passage in passages.items():
        size = len(passage.text)
        if not groups or size > room or len(groups[-1]) == _MOST_TOGETHER:
            groups.append({})
            room = _CHARACTERS_TOGETHER
        groups[-1][digest] = passage
        room -= size
    return groups


def make_request(group: Group, settings: Claude) -> dict[str, Any]:
    """The request for a group, as the Messages API takes it."""
    texts = []
    for digest, passage in group.items():
        about = passage_data(digest, passage) | {"headings": " > ".join(passage.trail)}
        texts.append(encode("text", about.pop("text"), about))
    return {
        "model": settings.model,
        "max_tokens": _TOKENS_EACH * len(group),
        "system": [{"type": "text", "text": INSTRUCTIONS, "cache_control": {"type": "ephemeral"}}],
        "tools": [_TOOL],
        "tool_choice": {"type": "tool", "name": TOOL},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
        ],
        "thinking": {"type": "disabled"},
    }


def parse_replies(arguments: Iterable[Any], group: Iterable[str]) -> Iterator[Reply]:
    """What a model wrote about the passages of a group, the first reply to each.

    Parameters:
        arguments: of its calls of the tool.
        group: the digests that it was sent.
    """
    left = set(group)
    for given in arguments:
        passages = given.get("passages") if isinstance(given, dict) else None
        for one in passages if isinstance(passages, list) else ():
            try:
                reply = msgspec.convert(one, Reply)
            except msgspec.ValidationError:
                continue
            if reply.id in left:
                left.discard(reply.id)
                yield reply


def estimate(groups: Sequence[Group], settings: Claude, *, batch: bool) -> Estimate:
    """About what it takes to send groups.

    Parameters:
        batch: whether they go as a batch, which costs half.
    """
    passages = [passage for group in groups for passage in group.values()]
    read = estimate_tokens(INSTRUCTIONS) * len(groups)
    read += sum(estimate_tokens(passage.text) + 60 for passage in passages)
    written = _TOKENS_EXPECTED * len(passages)
    price = (read * settings.price_in + written * settings.price_out) / 1_000_000
    return Estimate(
        len(passages), len(groups), read, written, price * (_BATCH_PRICE if batch else 1.0)
    )


def limit_by_cost(
    groups: Sequence[Group], settings: Claude, dollars: float, *, batch: bool
) -> list[Group]:
    """The first of these groups, as many as cost no more than a sum by the estimate.

    Parameters:
        batch: as :func:`estimate`.
    """
    some: list[Group] = []
    for group in groups:
        dollars -= estimate([group], settings, batch=batch).dollars
        if dollars < 0:
            break
        some.append(group)
    return some

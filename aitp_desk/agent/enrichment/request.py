"""Builds the requests to a model, and parses its replies.

The instructions are in the system text alone. Each passage is one JSON object in a separate text
block, which nothing in the passage can end; the reply is the input of the only tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.generative.prompt import encode
from aitp_desk.config import Model
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.prompt import INSTRUCTIONS, passage_data
from aitp_desk.knowledge.enrichment.replies import Reply

Group = Mapping[str, Passage]
"""Passages that go in one request, by their digests."""

TOOL = "write_questions"
_MOST_TOGETHER = 6
_CHARACTERS_TOGETHER = 3000
"""Short passages are grouped up to this many of them and this much text."""
_TOKENS_EACH = 1500
"""The most tokens of a reply about one passage."""
_TOKENS_EXPECTED = 450
"""The usual number of tokens of a reply about one passage."""
_BATCH_PRICE = 0.5
"""The price of a batch, as a share of the full price."""

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
    """The estimated cost of a run.

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
    """Return passages in the groups in which they are sent."""
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


def make_request(group: Group, settings: Model) -> dict[str, Any]:
    """Return the Messages API request for a group."""
    texts = []
    for digest, passage in group.items():
        about = passage_data(digest, passage) | {"headings": " > ".join(passage.trail)}
        texts.append(encode("text", about.pop("text"), about))
    return {
        "model": settings.name,
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
    """Yield a model's replies about the passages of a group, the first to each.

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


def estimate(groups: Sequence[Group], settings: Model, *, batch: bool) -> Estimate:
    """Estimate the cost of sending groups.

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
    groups: Sequence[Group], settings: Model, dollars: float, *, batch: bool
) -> list[Group]:
    """Return the first groups whose estimated cost is within a limit.

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

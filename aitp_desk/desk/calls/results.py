"""Renders the result of a call: as text, and as data the caller accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Source
from aitp_desk.agent.extractive.agent import cut_text
from aitp_desk.agent.history.offer import Offer, negotiate
from aitp_desk.model.calls.action import ACTION_RESULT, DATA, TEXT_ANSWER, Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.resource import fill_links
from aitp_desk.model.text import clean_message

DONE = "It was done. This site no longer offers this action."
PLAIN: tuple[str, str | None] = (TEXT_ANSWER, None)
"""What :func:`choose_type` returns for plain text, which every caller accepts."""
REVERSIBLE_NOTE = "The payment is refunded."
MAX_TEXT = 4000
"""Maximum length of a result as text, in characters."""
_MOST_ITEMS = 20
_MOST_DEEP = 4


def choose_type(action: Action, accepts: tuple[str, ...] | None) -> tuple[str, str | None]:
    """Return the content type of an action's result, and the type it replaces.

    It is chosen before the action is called: an action cannot be undone because the caller cannot
    read its result.

    Raises:
        UnsupportedType: the caller accepts none of the action's types.
    """
    return negotiate(accepts, action, lambda _type: True)


def offer_result(
    action: Action,
    call: ActionCall,
    chosen: tuple[str, str | None],
    *,
    said: Answer | None = None,
    max_tokens: int | None = None,
) -> Offer:
    """Return a call that is over as an answer (AHP 0.1, appendix C.2).

    A failed call is answered with the reason.

    Parameters:
        chosen: as :func:`choose_type` returns it.
        said: an agent's answer about it; None renders the result as text here.
    """
    if call.error is not None:
        return Offer(describe_end(action, call))
    content_type, fallback_from = chosen
    payload = None if content_type == TEXT_ANSWER else _payload(action, call, content_type)
    sources = _links(action, call) if action.related else ()
    if said is not None:
        known = msgspec.structs.asdict(said)
        known["sources"] = (*said.sources, *sources)
        return Offer(**known, content_type=content_type, payload=payload)
    text = describe_end(action, call)
    if max_tokens is not None:
        text = cut_text(text, max_tokens * CHARACTERS_PER_TOKEN)
    return Offer(
        text,
        sources=sources,
        tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN),
        tools_used=(action.name,),
        content_type=content_type,
        payload=payload,
        fallback_from=fallback_from,
    )


def describe_end(action: Action | None, call: ActionCall) -> str:
    """Return the text about a call that is over: reason or result.

    The action's own text is used; without one the result is rendered.

    Parameters:
        action: the action called; None if the site no longer offers it.
    """
    if call.error is not None:
        told = call.error.in_words
        return f"{told} {REVERSIBLE_NOTE}" if call.goes_back else told
    if action is None:
        return call.text or DONE
    said = call.text or "\n".join(_spell(call.result, 0)) or f"Done: {action.summary}"
    effects = map(attrgetter("description"), call.effects)
    return cut_text(clean_message("\n".join([said, *effects])), MAX_TEXT)


def _links(action: Action, call: ActionCall) -> tuple[Source, ...]:
    """Return the action's links whose variables the call fills."""
    return tuple(
        Source(link.description or link.rel, link.href, "indirect")
        for link in fill_links(action.related, call.arguments, call.result)
    )


def _payload(action: Action, call: ActionCall, content_type: str) -> msgspec.Raw:
    result = call.result if isinstance(call.result, dict) else {"value": call.result}
    given: dict[str, Any] = result
    if content_type == ACTION_RESULT:
        given = {
            "action": action.name,
            "success": True,
            "result": result,
            "side_effects": call.effects,
        }
    elif content_type == DATA:
        given = {"schema": action.name, "data": result}
    return msgspec.Raw(msgspec.json.encode(given))


def _spell(value: Any, depth: int) -> list[str]:
    """Return the lines that render a JSON value, one for each of its members."""
    indent = "  " * depth
    match value:
        case Mapping() if depth < _MOST_DEEP:
            lines: list[str] = []
            for name, one in value.items():
                lines += _named(name.replace("_", " "), one, depth)
            return lines
        case [*items] if depth < _MOST_DEEP:
            told = [line for item in items[:_MOST_ITEMS] for line in _item(item, depth)]
            more = len(items) - _MOST_ITEMS
            return [*told, f"{indent}and {more} more"] if more > 0 else told
        case _:
            return [f"{indent}{_plain(value)}"]


def _named(name: str, value: Any, depth: int) -> list[str]:
    indent = "  " * depth
    if isinstance(value, Mapping | list | tuple):
        inner = _spell(value, depth + 1)
        return [f"{indent}{name}:", *inner] if inner else []
    return [] if value is None else [f"{indent}{name}: {_plain(value)}"]


def _item(item: Any, depth: int) -> list[str]:
    indent = "  " * depth
    if isinstance(item, Mapping) and not any(
        isinstance(one, Mapping | Sequence) and not isinstance(one, str) for one in item.values()
    ):
        told = ", ".join(
            f"{name.replace('_', ' ')} {_plain(one)}"
            for name, one in item.items()
            if one is not None
        )
        return [f"{indent}- {told}"]
    inner = _spell(item, depth + 1)
    return [f"{indent}-{inner[0][len(indent) + 1 :]}", *inner[1:]] if inner else []


def _plain(value: Any) -> str:
    match value:
        case True:
            return "yes"
        case False:
            return "no"
        case str():
            return value
        case _:
            return msgspec.json.encode(value).decode()

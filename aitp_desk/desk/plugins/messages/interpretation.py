"""Interprets text as the answer to a plugin's open request on a thread."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from aitp_desk.capability import Record
from aitp_desk.desk.plugins.messages.parts import SCHEMA, PlacedPart, read_part, write_part
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry, SchemaMatch
from aitp_desk.model.conversation.thread import MAX_PARTS, Draft

MAX_WORDS = 4096
"""Maximum length of an answer as text, in characters."""

_log = structlog.get_logger()


class UnderstoodAnswer(msgspec.Struct, frozen=True):
    """Text that a plugin understood.

    Parameters:
        draft: the text, followed by the message that it means.
        parts: that message.
        is_whole: whether the whole text is one of the message's values.
    """

    draft: Draft
    parts: tuple[PlacedPart, ...]
    is_whole: bool = False


def understand_words(
    draft: Draft,
    waiting: Sequence[tuple[str, Record]],
    capabilities: PluginRegistry,
    names: Collection[str],
) -> UnderstoodAnswer | None:
    """Let the plugins with open requests interpret text.

    Parameters:
        waiting: the open records with their plugins, the newest first.
        names: all actor names of the speaker on the thread; a request may be for any of them.

    Returns:
        None if no plugin, or more than one, claims the text as its answer.
    """
    text = "\n".join(draft.content).strip()
    if draft.role != "user" or len(text) > MAX_WORDS or len(draft.content) >= MAX_PARTS:
        return None
    claims = []
    for enabled in capabilities.interpreters:
        records = [record for slug, record in waiting if slug == enabled.slug]
        own = [record for record in records if _awaits(enabled, record, names)]
        meant = _ask(enabled, text, own) if own else None
        if meant is not None:
            claims.append((enabled, meant))
    if len(claims) != 1:
        return None
    ((enabled, given),) = claims
    version = enabled.newest
    url = enabled.url_of(version)
    place = len(draft.content)
    try:
        given = msgspec.to_builtins(given)
        part = read_part({SCHEMA: url, **given}, SchemaMatch(enabled, version), f"content[{place}]")
        content = (*draft.content, write_part(given, url))
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the text is kept
        _log.exception("from_text_failed", capability=enabled.slug)
        return None
    return UnderstoodAnswer(
        msgspec.structs.replace(draft, content=content),
        (PlacedPart(place, enabled, part),),
        is_whole=_has_value(given, text),
    )


def _has_value(given: object, text: str) -> bool:
    if isinstance(given, Mapping):
        return any(_has_value(one, text) for one in given.values())
    if isinstance(given, list | tuple):
        return any(_has_value(one, text) for one in given)
    return given == text


def without_secrets(text: str, capabilities: PluginRegistry) -> str:
    """Return text without secrets, as of :meth:`.Capability.without_secrets`."""
    for capability in capabilities.redactors:
        text = capability.without_secrets(text)
    return text


def _awaits(enabled: EnabledPlugin, record: Record, names: Collection[str]) -> bool:
    try:
        return any(enabled.capability.awaits(record, name) for name in names)
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the text is kept
        _log.exception("awaits_failed", capability=enabled.slug)
        return False


def _ask(enabled: EnabledPlugin, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
    try:
        return enabled.capability.from_text(text, waiting)
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the text is kept
        _log.exception("from_text_failed", capability=enabled.slug)
        return None

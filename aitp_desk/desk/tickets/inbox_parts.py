"""Shows structured messages to operators: the request, and its state.

Operators see the message itself in addition to its text, whatever capabilities were declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from aitp_desk.capability import Context, Standing
from aitp_desk.desk.plugins.judge import MAX_READS, read_missing
from aitp_desk.desk.plugins.messages.parts import PlacedPart, find_parts, may_have_structure
from aitp_desk.desk.plugins.messages.plain_text import render_parts
from aitp_desk.desk.plugins.read_set import OwnCounters, OwnRecords, ReadSet, RecordUnread
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store

_log = structlog.get_logger()


class Structure(msgspec.Struct, frozen=True):
    """The structured content of a message part.

    Parameters:
        slug: of its plugin.
        key: the kind of message, such as ``request_decision``.
        content: the value of that key, as sent.
        standing: the state of its request; None if it makes none, or if that was not looked up.
    """

    slug: str
    version: int
    key: str
    content: Any
    standing: Standing | None = None


class ShownPart(msgspec.Struct, frozen=True):
    """A part of a message.

    Parameters:
        words: its text.
        structure: None for plain text.
    """

    words: str
    structure: Structure | None = None


def read_parts(content: tuple[str, ...], capabilities: PluginRegistry) -> tuple[ShownPart, ...]:
    """Return a message's parts without their states; empty if all are plain text."""
    found = _placed(content, capabilities)
    if not found:
        return ()
    told = render_parts(content, capabilities)
    return tuple(
        ShownPart(words, _structure(found[place]) if place in found else None)
        for place, words in enumerate(told)
    )


class PartViews:
    """Looks up the states of a thread's requests.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self, capabilities: PluginRegistry, store: Store, clock: Callable[[], float]
    ) -> None:
        self.capabilities = capabilities
        self._store = store
        self._clock = clock

    async def show_parts(
        self, thread_id: str, message_id: str, actor: str, content: tuple[str, ...]
    ) -> tuple[ShownPart, ...]:
        """Return a message's parts with their states; empty if all are plain text.

        Parameters:
            actor: id of the speaker.
        """
        shown = list(read_parts(content, self.capabilities))
        for place, placed in _placed(content, self.capabilities).items():
            standing = await self._standing(placed, thread_id, message_id, actor)
            shown[place] = ShownPart(shown[place].words, _structure(placed, standing))
        return tuple(shown)

    async def _standing(
        self, placed: PlacedPart, thread_id: str, message_id: str, actor: str
    ) -> Standing | None:
        ledger, slug = ReadSet(self.capabilities.families), placed.enabled.slug
        context = Context(
            now=int(self._clock()),
            thread_id=thread_id,
            message_id=message_id,
            actor=actor,
            records=OwnRecords(ledger, slug),
            counters=OwnCounters(ledger, slug),
        )
        for _ in range(MAX_READS):
            try:
                return placed.enabled.capability.standing(placed.part, context)
            except RecordUnread as unread:
                await read_missing(self._store, ledger, unread)
            except Exception:  # noqa: BLE001 -- a plugin's failure must not hide the thread
                _log.exception("standing_failed", capability=slug)
                return None
        return None


def _placed(content: Sequence[str], capabilities: PluginRegistry) -> Mapping[int, PlacedPart]:
    """Return the structured parts by position.

    A part that breaks its schema counts as text.
    """
    if not capabilities or not may_have_structure(content):
        return {}
    found: dict[int, PlacedPart] = {}
    for place, text in enumerate(content):
        try:
            for placed in find_parts((text,), capabilities):
                found[place] = placed
        except InvalidRequest:
            continue
    return found


def _structure(placed: PlacedPart, standing: Standing | None = None) -> Structure:
    part = placed.part
    return Structure(placed.enabled.slug, part.version, part.key, part.given[part.key], standing)

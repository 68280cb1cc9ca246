"""Renders messages as text for readers who have not declared a capability.

The stored message is always the original. A reader who joins the thread with the capability
declared gets it unchanged (AITP 0.1, Capabilities); every other reader gets the text of
:meth:`Capability.as_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from msgspec.structs import replace

from aitp_desk.capability import Capability
from aitp_desk.desk.plugins.messages.parts import PlacedPart, find_parts, may_have_structure
from aitp_desk.desk.plugins.messages.validation import write_valid_part
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.thread import Actor, Message
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads

_log = structlog.get_logger()


class PlainTextRenderer:
    """Renders the messages of threads for their readers."""

    def __init__(self, capabilities: PluginRegistry, store: Store) -> None:
        self._capabilities = capabilities
        self._store = store

    async def render_messages(
        self, principal: Principal, thread_id: str, messages: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Return messages of a thread as a caller can read them.

        Messages without structured parts cost no read of the store.
        """
        if not self._capabilities.all or not any(
            may_have_structure(one.content) for one in messages
        ):
            return tuple(messages)
        own = await self.find_reader_actors(principal, thread_id)
        return tuple(self.render_for_reader(own, one) for one in messages)

    def render_message(self, message: Message) -> Message:
        """Return a message for a reader who has declared no capability."""
        return render_plain_text(message, self._capabilities)

    @property
    def is_needed(self) -> bool:
        """Whether any message may need rendering."""
        return bool(self._capabilities)

    async def find_reader_actors(self, principal: Principal, thread_id: str) -> tuple[Actor, ...]:
        """Return the actors of a thread that belong to a caller."""
        present = await reads.read_present(self._store, thread_id)
        return tuple(actor for actor in present if actor.principal == principal.owner)

    def render_for_reader(self, readers: Sequence[Actor], message: Message) -> Message:
        """Return a message as a reader with these actors can read it."""
        known = self._capabilities.find_known_version

        return render_plain_text(message, self._capabilities, lambda one: known(one, readers))


def _nobody_knows(_enabled: EnabledPlugin) -> int | None:
    return None


def render_plain_text(
    message: Message,
    capabilities: PluginRegistry,
    known: Callable[[EnabledPlugin], int | None] = _nobody_knows,
) -> Message:
    """Return a message with unknown structured parts rendered as text.

    A part of a newer version is converted to the reader's version if possible. A part that no
    longer fits its schema stays unchanged.

    Parameters:
        known: returns the highest version of a capability that the reader has declared.
    """
    content = render_parts(message.content, capabilities, known)
    return message if content is message.content else replace(message, content=content)


def render_parts(
    content: tuple[str, ...],
    capabilities: PluginRegistry,
    known: Callable[[EnabledPlugin], int | None] = _nobody_knows,
) -> tuple[str, ...]:
    """Render the parts of a message as :func:`render_plain_text` does; the same if unchanged."""
    if not capabilities.all or not may_have_structure(content):
        return content
    told = list(content)
    for place, text in enumerate(content):
        try:
            found = find_parts((text,), capabilities)
        except InvalidRequest:
            continue
        for placed in found:
            version = known(placed.enabled)
            if version is None:
                told[place] = describe_part(placed)
            elif version < placed.part.version:
                told[place] = _in_version(placed, version) or describe_part(placed)
    return tuple(told)


def _in_version(placed: PlacedPart, version: int) -> str | None:
    """Return a part in an older version; None if it cannot be converted."""
    enabled = placed.enabled
    try:
        given = enabled.capability.as_version(placed.part, version)
        return None if given is None else write_valid_part(enabled, given, (version,))
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the rest is rendered
        _log.exception("as_version_failed", capability=enabled.slug)
        return None


def split_parts(content: Sequence[str], capabilities: PluginRegistry) -> tuple[Spoken, ...]:
    """Return the parts of a message as text, with the original of structured ones."""
    told = [Spoken(text) for text in content]
    for place, text in enumerate(content):
        try:
            found = find_parts((text,), capabilities)
        except InvalidRequest:
            continue
        for placed in found:
            told[place] = Spoken(describe_part(placed), placed.enabled.slug, text)
    return tuple(told)


def describe_part(placed: PlacedPart) -> str:
    """Return a part as text: the plugin's own, else the default."""
    capability = placed.enabled.capability
    words = ""
    try:
        words = capability.as_text(placed.part)
        is_told = bool(words.encode().strip())
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the rest is rendered
        _log.exception("as_text_failed", capability=placed.enabled.slug)
        is_told = False
    return words if is_told else Capability.as_text(capability, placed.part)

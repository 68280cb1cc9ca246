"""Validates messages that a plugin sends or stores against its schema versions.

A message that fits none would reach readers without the capability as raw JSON, since text is made
only from parsed parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.capability import Replace
from aitp_desk.desk.plugins.messages.parts import SCHEMA, read_part, write_part
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry, SchemaMatch
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.errors import InvalidRequest


def list_versions(
    enabled: EnabledPlugin, capabilities: PluginRegistry, actors: Sequence[Actor]
) -> tuple[int, ...]:
    """Return the versions for a thread's message, the best first.

    The best is the highest that every participant with the capability knows. A message that it
    cannot express is sent in a newer one, and as text to readers who do not know that.
    """
    best = capabilities.find_version(enabled, actors)
    return (best, *(one for one in sorted(enabled.schemas, reverse=True) if one != best))


def write_valid_part(
    enabled: EnabledPlugin, given: Mapping[str, Any], versions: Sequence[int]
) -> str:
    """Encode a message as a part, in the first version that it fits.

    Raises:
        ValueError: it fits none of them: a fault of the plugin.
        TypeError: it cannot be encoded: a fault of the plugin.
    """
    plain = msgspec.json.decode(msgspec.json.encode(given))
    told = ""
    for version in versions:
        if version not in enabled.schemas:
            told = f"There is no version {version} of {enabled.slug}."
            continue
        try:
            read_part(plain, SchemaMatch(enabled, version), "content")
        except InvalidRequest as error:
            told = told or error.message
        else:
            return write_part(plain, enabled.url_of(version))
    raise ValueError(f"{enabled.slug} sends a message that fits none of its schemas: {told}")


def write_stored_part(
    enabled: EnabledPlugin, capabilities: PluginRegistry, kept: Replace, url: str
) -> str:
    """Encode the part to store in place of the original.

    Parameters:
        kept: names its own schema or a version, else has the part's.
        url: the part's ``$schema``.

    Raises:
        as :func:`write_valid_part`.
    """
    given = kept.given
    if kept.version is not None:
        return write_valid_part(enabled, given, (kept.version,))
    named = given.get(SCHEMA, url)
    meant = capabilities.resolve_schema(named)
    if meant is None or meant.enabled is not enabled:
        raise ValueError(
            f"{enabled.slug} stores a message of {named}, which is not its own schema."
        )
    return write_valid_part(enabled, {SCHEMA: named, **given}, (meant.version,))

"""Messages that a capability has the desk send or keep: each of a version whose schema it fits.

One that fits none would be told as it is to readers who have declared nothing, since words are made
of what was read alone.
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
    """The versions in which a message may be sent on a thread, the best first.

    It is the highest that all know who know it at all. What that cannot say is said in a newer
    one, and told in words to whoever does not know that.
    """
    best = capabilities.find_version(enabled, actors)
    return (best, *(one for one in sorted(enabled.schemas, reverse=True) if one != best))


def write_valid_part(
    enabled: EnabledPlugin, given: Mapping[str, Any], versions: Sequence[int]
) -> str:
    """A message as it stands among a message's parts, of the first version that it fits.

    Raises:
        ValueError: it fits none of them: a fault of the capability.
        TypeError: it cannot be encoded: the same.
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
    raise ValueError(f"{enabled.slug} gives a message that fits no schema of its own: {told}")


def write_kept_part(
    enabled: EnabledPlugin, capabilities: PluginRegistry, kept: Replace, url: str
) -> str:
    """What is kept in place of a part.

    Parameters:
        kept: names its own schema or a version, or has the part's.
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
        raise ValueError(f"{enabled.slug} keeps a message of {named}, which is not its own.")
    return write_valid_part(enabled, {SCHEMA: named, **given}, (meant.version,))

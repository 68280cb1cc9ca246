"""The capabilities that a site has enabled, and which of them a schema means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from aitp_desk.capability import Capability, Query, Redirect, Round, Schema, Webhook, Work
from aitp_desk.desk.plugins.names import parse_schema_name
from aitp_desk.model.conversation.thread import Actor

FromVisitors = Literal["accept", "reject", "pass"]
"""What becomes of a visitor's message: it is judged, refused, or given to another there."""
SCHEMAS_PATH = "/capabilities/{slug}/v{version}/schema.json"
DOCUMENTS_PATH = "/capabilities/{slug}/{name}"
REDIRECTS_PATH = "/capabilities/{slug}/{name}/{{ref}}"


class EnabledPlugin(msgspec.Struct, frozen=True, eq=False):
    """One capability of the site.

    Parameters:
        capability: the plug-in.
        schemas: its versions, by their numbers.
        addresses: where the desk serves each of them.
        jobs: what it has done after a commit, by name.
        hooks: what other servers may send to, by name.
        redirects: links that lead people elsewhere, by name.
        rounds: what it does again and again, by name.
        queries: what it tells whoever calls, as actions.
        from_visitors: what becomes of messages of it that visitors send.
    """

    capability: Capability
    schemas: Mapping[int, Schema]
    addresses: Mapping[int, str]
    jobs: Mapping[str, Work]
    hooks: Mapping[str, Webhook]
    redirects: Mapping[str, Redirect]
    rounds: Mapping[str, Round]
    queries: tuple[Query, ...]
    from_visitors: FromVisitors = "accept"

    @property
    def slug(self) -> str:
        """What it is called."""
        return self.capability.slug

    @property
    def newest(self) -> int:
        """Its highest version."""
        return max(self.schemas)

    @property
    def hears(self) -> bool:
        """Whether it understands words; of what is passed along others understand them."""
        return (
            self.from_visitors != "pass"
            and type(self.capability).from_text is not Capability.from_text
        )

    @property
    def hides(self) -> bool:
        """Whether it knows secrets that are not kept of words."""
        return type(self.capability).without_secrets is not Capability.without_secrets

    @property
    def asks(self) -> bool:
        """Whether the desk may ask by it: what visitors answer would else be nobody's to judge."""
        return self.from_visitors == "accept"

    def url_of(self, version: int) -> str:
        """What stands in ``$schema`` of the messages of a version that the desk sends."""
        return self.schemas[version].url or self.addresses[version]


class SchemaMatch(msgspec.Struct, frozen=True, eq=False):
    """What a schema's address means here.

    Parameters:
        version: as it is named; the highest that is known here where none is.
    """

    enabled: EnabledPlugin
    version: int

    @property
    def is_known(self) -> bool:
        """Whether there is this version here."""
        return self.version in self.enabled.schemas


class PluginRegistry:
    """All that a site has enabled.

    Parameters:
        enabled: each of them; no two share a slug or a name.

    Attributes:
        families: of those that have one, by their slugs.
        documents: what they have to be read by everybody, by paths.
    """

    def __init__(self, enabled: Sequence[EnabledPlugin] = ()) -> None:
        self.all = tuple(enabled)
        self.documents: dict[str, bytes] = {}
        self.families = {
            one.slug: one.capability.family for one in self.all if one.capability.family
        }
        self.hearing = tuple(one for one in self.all if one.hears)
        self.hiding = tuple(one.capability for one in self.all if one.hides)
        self.asking = tuple(one for one in self.all if one.asks)
        self._by_slug = {one.slug: one for one in self.all}
        self._by_name = {name: one for one in self.all for name in list_schema_names(one)}
        self._by_number = {
            parse_schema_name(name).name: schema.version
            for one in self.all
            for schema in one.schemas.values()
            for name in schema.names
        }

    def __bool__(self) -> bool:
        return bool(self.all)

    def __getitem__(self, slug: str) -> EnabledPlugin:
        return self._by_slug[slug]

    def get(self, slug: str) -> EnabledPlugin | None:
        """A capability by its slug; None for one that is not enabled."""
        return self._by_slug.get(slug)

    @property
    def slugs(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(self._by_slug)

    @property
    def urls(self) -> tuple[str, ...]:
        """What the desk's own actor declares: every version of all that it takes of visitors."""
        taken = (one for one in self.all if one.from_visitors == "accept")
        return tuple(one.url_of(version) for one in taken for version in sorted(one.schemas))

    def document(self, slug: str, version: int) -> Schema | None:
        """A schema as it is served; None where there is none."""
        found = self._by_slug.get(slug)
        return None if found is None else found.schemas.get(version)

    def resolve_schema(self, url: str) -> SchemaMatch | None:
        """Tell which capability an address or a slug means; None for none that is enabled."""
        named = parse_schema_name(url)
        found = self._by_name.get(named.name)
        if found is None:
            return None
        version = self._by_number.get(named.name, named.version)
        return SchemaMatch(found, found.newest if version is None else version)

    def find_known_version(self, enabled: EnabledPlugin, actors: Iterable[Actor]) -> int | None:
        """The highest version of a capability that is known here and that one of these declares."""
        declared = (self.resolve_schema(url) for actor in actors for url in actor.capabilities)
        versions = [
            meant.version
            for meant in declared
            if meant is not None and meant.enabled is enabled and meant.is_known
        ]
        return max(versions, default=None)

    def find_version(self, enabled: EnabledPlugin, actors: Sequence[Actor]) -> int:
        """The version that is sent on a thread: the highest that all know who know it at all.

        Where nobody does it is the highest that is known here; everybody is told it in words then.
        """
        known = [self.find_known_version(enabled, [actor]) for actor in actors]
        return min((version for version in known if version is not None), default=enabled.newest)


def list_schema_names(enabled: EnabledPlugin) -> frozenset[str]:
    """What a capability is called in ``$schema`` and by those who declare it, without versions."""
    addresses = (*enabled.addresses.values(), *(one.url for one in enabled.schemas.values()))
    other = (name for one in enabled.schemas.values() for name in one.names)
    given = (*enabled.capability.names, *addresses, *other)
    return frozenset(parse_schema_name(name).name for name in given if name)


NO_PLUGINS = PluginRegistry()
"""A site that has enabled none."""

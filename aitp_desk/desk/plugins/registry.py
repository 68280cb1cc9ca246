"""Holds the enabled plugins of a site, and resolves schemas to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from aitp_desk.capability import Capability, Query, Redirect, Round, Schema, Webhook, Work
from aitp_desk.model.conversation.thread import Actor

_VERSION = re.compile(r"/v(0|[1-9][0-9]{0,4})(?:\.[0-9]{1,5}){0,2}(?=/|\Z)")
_ENDING = re.compile(r"(?:[./]schema)?\.json\Z|/schema\Z|/\Z")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)


class SchemaName(msgspec.Struct, frozen=True):
    """A parsed schema name.

    Parameters:
        name: its host and path, without the version.
        version: the major version; None if none is given.
    """

    name: str
    version: int | None = None


def parse_schema_name(text: str) -> SchemaName:
    """Parse the address or slug of a schema."""
    place = _SCHEME.sub("", text.strip(), count=1)
    host, slash, path = place.partition("/")
    path = _ENDING.sub("", slash + path)
    found = _VERSION.search(path)
    version = None
    if found is not None:
        version = int(found[1])
        path = path[: found.start()] + path[found.end() :]
    return SchemaName((host.lower() + path).rstrip("/"), version)


FromVisitors = Literal["accept", "reject", "pass"]
"""Whether a visitor's messages are judged, refused, or passed to another actor."""
SCHEMAS_PATH = "/capabilities/{slug}/v{version}/schema.json"
DOCUMENTS_PATH = "/capabilities/{slug}/{name}"
REDIRECTS_PATH = "/capabilities/{slug}/{name}/{{ref}}"


class EnabledPlugin(msgspec.Struct, frozen=True, eq=False):
    """An enabled capability plugin.

    Parameters:
        capability: the plugin.
        schemas: its versions, by number.
        addresses: the desk's address of each version.
        jobs: its jobs after a commit, by name.
        hooks: its webhooks, by name.
        redirects: its redirecting links, by name.
        rounds: its periodic work, by name.
        queries: its queries, offered as actions.
        from_visitors: how visitors' messages are handled.
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
        """The capability's slug."""
        return self.capability.slug

    @property
    def newest(self) -> int:
        """Its highest version."""
        return max(self.schemas)

    @property
    def hears(self) -> bool:
        """Whether it interprets text; passed messages are interpreted by their addressee."""
        return (
            self.from_visitors != "pass"
            and type(self.capability).from_text is not Capability.from_text
        )

    @property
    def hides(self) -> bool:
        """Whether it removes secrets from text."""
        return type(self.capability).without_secrets is not Capability.without_secrets

    @property
    def asks(self) -> bool:
        """Whether the desk may ask through it: only if it judges the answers."""
        return self.from_visitors == "accept"

    def url_of(self, version: int) -> str:
        """Return the ``$schema`` of the desk's messages of a version."""
        return self.schemas[version].url or self.addresses[version]


class SchemaMatch(msgspec.Struct, frozen=True, eq=False):
    """The plugin and version that a schema's address resolves to.

    Parameters:
        version: as named; the highest known one if none is.
    """

    enabled: EnabledPlugin
    version: int

    @property
    def is_known(self) -> bool:
        """Whether the plugin has this version."""
        return self.version in self.enabled.schemas


class PluginRegistry:
    """All enabled plugins of a site.

    Parameters:
        enabled: each of them; no two share a slug or a name.

    Attributes:
        families: families by plugin slug, of plugins that have one.
        documents: the public documents of plugins, by path.
    """

    def __init__(self, enabled: Sequence[EnabledPlugin] = ()) -> None:
        self.all = tuple(enabled)
        self.documents: dict[str, bytes] = {}
        self.families = {
            one.slug: one.capability.family for one in self.all if one.capability.family
        }
        self.interpreters = tuple(one for one in self.all if one.hears)
        self.redactors = tuple(one.capability for one in self.all if one.hides)
        self.askers = tuple(one for one in self.all if one.asks)
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
        """Return a plugin by its slug; None for one that is not enabled."""
        return self._by_slug.get(slug)

    @property
    def slugs(self) -> tuple[str, ...]:
        """The slugs of all plugins."""
        return tuple(self._by_slug)

    @property
    def urls(self) -> tuple[str, ...]:
        """The schemas that the desk's own actor declares.

        These are all versions of every plugin that accepts visitors' messages.
        """
        taken = (one for one in self.all if one.from_visitors == "accept")
        return tuple(one.url_of(version) for one in taken for version in sorted(one.schemas))

    @property
    def payment_methods(self) -> frozenset[str]:
        """The accepted payment methods, by their protocol names, such as ``x402``."""
        found = (one.capability.ways_to_pay() for one in self.all)
        return frozenset(method for methods in found for method in methods)

    def document(self, slug: str, version: int) -> Schema | None:
        """Return a schema; None if there is none."""
        found = self._by_slug.get(slug)
        return None if found is None else found.schemas.get(version)

    def resolve_schema(self, url: str) -> SchemaMatch | None:
        """Return the plugin that an address or a slug means; None for none."""
        named = parse_schema_name(url)
        found = self._by_name.get(named.name)
        if found is None:
            return None
        version = self._by_number.get(named.name, named.version)
        return SchemaMatch(found, found.newest if version is None else version)

    def find_known_version(self, enabled: EnabledPlugin, actors: Iterable[Actor]) -> int | None:
        """Return the highest known version that one of these actors declares."""
        declared = (self.resolve_schema(url) for actor in actors for url in actor.capabilities)
        versions = [
            meant.version
            for meant in declared
            if meant is not None and meant.enabled is enabled and meant.is_known
        ]
        return max(versions, default=None)

    def find_version(self, enabled: EnabledPlugin, actors: Sequence[Actor]) -> int:
        """Return the highest version that every declaring actor of a thread knows.

        Where no actor declares the plugin it is the highest known version; all readers get text
        then.
        """
        known = [self.find_known_version(enabled, [actor]) for actor in actors]
        return min((version for version in known if version is not None), default=enabled.newest)


def list_schema_names(enabled: EnabledPlugin) -> frozenset[str]:
    """Return all names of a plugin's schemas, without versions."""
    addresses = (*enabled.addresses.values(), *(one.url for one in enabled.schemas.values()))
    other = (name for one in enabled.schemas.values() for name in one.names)
    given = (*enabled.capability.names, *addresses, *other)
    return frozenset(parse_schema_name(name).name for name in given if name)


NO_PLUGINS = PluginRegistry()
"""A site without plugins."""

"""Loads the capability plugins that ``desk.toml`` enables, by entry point."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

import msgspec

from aitp_desk.capability import GROUP, Capability, Hook, Query, Round, Schema, Webhook, Work
from aitp_desk.capability.base import check_word, refuse_interface
from aitp_desk.config import Config, ConfigError, Problem
from aitp_desk.desk.plugins.entry_points import list_entry_points
from aitp_desk.desk.plugins.registry import (
    NO_PLUGINS,
    SCHEMAS_PATH,
    EnabledPlugin,
    FromVisitors,
    PluginRegistry,
    list_schema_names,
)

_TAKEN = re.compile(r"v[0-9]+|calls")
"""Path names already used below a capability: for schemas, and for calls."""
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]*")
FROM_VISITORS = "from_visitors"
"""The one setting of a capability's section that belongs to the desk."""
NO_EXTRA_PLUGINS: Mapping[str, type[Capability]] = MappingProxyType({})


def load_plugins(
    config: Config, extra: Mapping[str, type[Capability]] = NO_EXTRA_PLUGINS
) -> PluginRegistry:
    """Create the plugins of all sections ``[capabilities.NAME]``.

    Without such sections nothing is searched or imported.

    Parameters:
        config: the site's; ``site.url`` is set.
        extra: further plugins by name, in no package.

    Raises:
        ConfigError: lists every plugin that is not installed, cannot be created, has invalid
            settings or shares a name with another.
    """
    if not config.capabilities:
        return NO_PLUGINS
    problems: list[Problem] = []
    made: list[EnabledPlugin] = []
    for name, settings in config.capabilities.items():
        key = f"capabilities.{name}"
        try:
            one = load_plugin(extra.get(name) or _find(name), settings, config.site.url)
        except ValueError as error:
            problems.append(Problem(key, str(error)))
        except Exception as error:  # noqa: BLE001 -- whatever a package raises is reported
            problems.append(Problem(key, f"cannot be used: {type(error).__name__}: {error}"))
        else:
            problems += (Problem(key, why) for why in _clashes(one, made))
            made.append(one)
    if problems:
        raise ConfigError(problems, config)
    return PluginRegistry(made)


def _find(name: str) -> type[Capability]:
    found = list_entry_points(GROUP)
    named = [point for point in found if point.name == name]
    if not named:
        known = ", ".join(sorted({point.name for point in found})) or "none"
        raise ValueError(
            "no installed package has a capability of this name (entry point group"
            f" {GROUP}); installed are: {known}."
        )
    if len({point.value for point in named}) > 1:
        where = " and ".join(sorted({point.value for point in named}))
        raise ValueError(f"several packages have a capability of this name: {where}.")
    kind = named[0].load()
    if not (isinstance(kind, type) and issubclass(kind, Capability)):
        raise ValueError(f"{named[0].value} is not a subclass of aitp_desk.capability.Capability.")
    return kind


def load_plugin(kind: type[Capability], settings: Mapping[str, Any], url: str) -> EnabledPlugin:
    """Create a plugin with the site's settings.

    Parameters:
        settings: of its section.
        url: the site's address, below which its schemas are served.

    Raises:
        ValueError: it was written for another interface, or the settings, the schemas or the jobs
            are invalid; says what would be valid.
    """
    if wrong := refuse_interface(kind.interface):
        raise ValueError(wrong)
    own = {name: value for name, value in settings.items() if name != FROM_VISITORS}
    from_visitors = settings.get(FROM_VISITORS, "accept")
    if from_visitors not in get_args(FromVisitors):
        takes = ", ".join(map(repr, get_args(FromVisitors)))
        raise ValueError(f"{FROM_VISITORS} is {from_visitors!r}; it must be one of {takes}.")
    known = {field.encode_name for field in msgspec.structs.fields(kind.settings)}
    if unknown := sorted(set(own) - known):
        takes = ", ".join(sorted({*known, FROM_VISITORS}))
        raise ValueError(f"there is no setting {unknown[0]!r}; the settings are: {takes}.")
    try:
        chosen = msgspec.convert(own, kind.settings)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}.") from None
    capability = kind(chosen)
    schemas = _schemas(kind, capability.schemas())
    addresses = {
        version: url + SCHEMAS_PATH.format(slug=kind.slug, version=version) for version in schemas
    }
    jobs, rounds, queries = capability.jobs(), capability.rounds(), tuple(capability.actions())
    hooks = {name: _webhook(name, hook) for name, hook in capability.hooks().items()}
    _check_kinds("jobs", jobs.values(), Work)
    _check_kinds("rounds", rounds.values(), Round)
    _check_kinds("actions", queries, Query)
    redirects = dict(capability.redirects())
    for name in (*jobs, *hooks, *redirects, *rounds, *(one.name for one in queries)):
        if not check_word(name):
            raise ValueError(
                f"a job, round, hook, redirect or action is named {name!r}; use only"
                " lowercase letters, digits and _."
            )
    for name, redirect in redirects.items():
        _check_redirect(name, redirect)
    return EnabledPlugin(
        capability,
        schemas,
        addresses,
        dict(jobs),
        hooks,
        redirects,
        dict(rounds),
        queries,
        from_visitors,
    )


def _check_kinds(what: str, given: Iterable[object], kind: type) -> None:
    for one in given:
        if not isinstance(one, kind):
            raise ValueError(f"{what} returns {one!r}; it must return {kind.__name__}.")


def _webhook(name: str, given: Hook | Webhook) -> Webhook:
    hook = given if isinstance(given, Webhook) else Webhook(given)
    if not callable(hook.judge):
        raise ValueError(
            f"the hook {name!r} is {hook.judge!r}; it must be a function that judges a delivery."
        )
    if not _MEDIA_TYPE.fullmatch(hook.media_type):
        raise ValueError(
            f"the hook {name!r} has the media type {hook.media_type!r}; write it in"
            " lowercase, without parameters."
        )
    return hook


def _check_redirect(name: str, redirect: object) -> None:
    if not callable(redirect):
        raise ValueError(
            f"the redirect {name!r} is {redirect!r}; it must be a function that resolves a link."
        )
    if _TAKEN.fullmatch(name):
        raise ValueError(
            f"a redirect is named {name!r}, which is reserved for schemas or calls; choose"
            " another name."
        )


def _schemas(kind: type[Capability], given: Sequence[Schema]) -> dict[int, Schema]:
    """Return the versions of a plugin by number."""
    schemas: dict[int, Schema] = {}
    for one in given:
        if one.version in schemas:
            raise ValueError(f"{kind.__name__}.schemas has version {one.version} twice.")
        _check_schema(kind, one)
        schemas[one.version] = one
    if not schemas:
        raise ValueError(f"{kind.__name__}.schemas has no version.")
    return schemas


def _check_schema(kind: type[Capability], schema: Schema) -> None:
    version = schema.version
    if version < 0:
        raise ValueError(f"{kind.__name__}.schemas has the version {version}; versions start at 0.")
    if not schema.messages or "$schema" in schema.messages:
        raise ValueError(
            f"version {version} of {kind.__name__} has no message, or one named $schema."
        )
    for key, shape in schema.messages.items():
        if not isinstance(shape, msgspec.StructMeta):
            raise ValueError(
                f"{key} of version {version} of {kind.__name__} is {shape!r}; it must be a"
                " msgspec.Struct."
            )
    try:
        msgspec.json.encode(schema.document)
    except TypeError as error:
        raise ValueError(f"the document of version {version} is not JSON: {error}.") from None


def _clashes(one: EnabledPlugin, others: list[EnabledPlugin]) -> Iterator[str]:
    for other in others:
        if other.slug == one.slug:
            yield f"two capabilities have the slug {one.slug}."
        elif shared := list_schema_names(one) & list_schema_names(other):
            yield f"it and {other.slug} both have the name {min(shared)}."
        elif actions := _actions(one) & _actions(other):
            yield f"it and {other.slug} both have an action {min(actions)}."


def _actions(enabled: EnabledPlugin) -> set[str]:
    return {query.name for query in enabled.queries}

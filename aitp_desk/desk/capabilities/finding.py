"""Capabilities as packages name them and a site enables them: by entry point, in ``desk.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.capability import GROUP, Capability, Schema
from aitp_desk.capability.base import check_word
from aitp_desk.config import Config, ConfigError, Problem
from aitp_desk.desk.capabilities.enabled import (
    NO_CAPABILITIES,
    SCHEMAS_PATH,
    Capabilities,
    Enabled,
    names_of,
)

NONE_BESIDE: Mapping[str, type[Capability]] = MappingProxyType({})


def find_capabilities(
    config: Config, beside: Mapping[str, type[Capability]] = NONE_BESIDE
) -> Capabilities:
    """Make the capabilities that a site has enabled, each by a section ``[capabilities.NAME]``.

    Where it has enabled none nothing is looked for and nothing imported.

    Parameters:
        config: the site's; ``site.url`` is set.
        beside: further ones by their names, that are in no package.

    Raises:
        ConfigError: no package has one of that name, it cannot be made, its settings are not
            right, or two have the same name; tells all.
    """
    if not config.capabilities:
        return NO_CAPABILITIES
    problems: list[Problem] = []
    made: list[Enabled] = []
    for name, settings in config.capabilities.items():
        key = f"capabilities.{name}"
        try:
            one = enable(beside.get(name) or _find(name), settings, config.site.url)
        except ValueError as error:
            problems.append(Problem(key, str(error)))
        except Exception as error:  # noqa: BLE001 -- whatever a package does is told
            problems.append(Problem(key, f"cannot be used: {type(error).__name__}: {error}"))
        else:
            problems += (Problem(key, why) for why in _clashes(one, made))
            made.append(one)
    if problems:
        raise ConfigError(problems, config)
    return Capabilities(made)


def _find(name: str) -> type[Capability]:
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    named = [point for point in found if point.name == name]
    if not named:
        known = ", ".join(sorted({point.name for point in found})) or "none"
        raise ValueError(
            f"no installed package has a capability of this name (entry point group {GROUP});"
            f" there are: {known}."
        )
    if len({point.value for point in named}) > 1:
        where = " and ".join(sorted({point.value for point in named}))
        raise ValueError(f"several packages have a capability of this name: {where}.")
    kind = named[0].load()
    if not (isinstance(kind, type) and issubclass(kind, Capability)):
        raise ValueError(f"{named[0].value} is no class below aitp_desk.capability.Capability.")
    return kind


def enable(kind: type[Capability], settings: Mapping[str, Any], url: str) -> Enabled:
    """Make a capability as a site has set it.

    Parameters:
        settings: as they stand in its section.
        url: the site's address, below which its schemas are served.

    Raises:
        ValueError: the settings, the schemas or the jobs are not right; says what would be.
    """
    known = {field.encode_name for field in msgspec.structs.fields(kind.settings)}
    if unknown := sorted(set(settings) - known):
        takes = ", ".join(sorted(known)) or "none"
        raise ValueError(f"there is no setting {unknown[0]!r}; the settings are: {takes}.")
    try:
        chosen = msgspec.convert(settings, kind.settings)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}.") from None
    capability = kind(chosen)
    schemas = {one.version: one for one in capability.schemas()}
    _check_schemas(kind, schemas)
    addresses = {
        version: url + SCHEMAS_PATH.format(slug=kind.slug, version=version) for version in schemas
    }
    jobs, hooks = dict(capability.jobs()), dict(capability.hooks())
    for name in (*jobs, *hooks):
        if not check_word(name):
            raise ValueError(
                f"a job or hook is named {name!r}; it takes small letters, digits and _."
            )
    return Enabled(capability, schemas, addresses, jobs, hooks)


def _check_schemas(kind: type[Capability], schemas: Mapping[int, Schema]) -> None:
    if not schemas:
        raise ValueError(f"{kind.__name__}.schemas gives no version.")
    for version, schema in schemas.items():
        if version < 1:
            raise ValueError(f"{kind.__name__}.schemas has the version {version}; they begin at 1.")
        if not schema.messages or "$schema" in schema.messages:
            raise ValueError(
                f"version {version} of {kind.__name__} names no message, or one named $schema."
            )
        try:
            msgspec.json.encode(schema.document)
        except TypeError as error:
            raise ValueError(f"the document of version {version} is no JSON: {error}.") from None


def _clashes(one: Enabled, others: list[Enabled]) -> Iterator[str]:
    for other in others:
        if other.slug == one.slug:
            yield f"two capabilities have the slug {one.slug}."
        elif shared := names_of(one) & names_of(other):
            yield f"it and {other.slug} are both called {min(shared)}."

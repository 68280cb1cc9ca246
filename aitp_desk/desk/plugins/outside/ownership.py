"""Gives plugins their own keys, and collects the documents that they publish."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from aitp_desk.capability import Own
from aitp_desk.capability.base import check_document
from aitp_desk.config import Config, ConfigError, Problem
from aitp_desk.desk.plugins.registry import DOCUMENTS_PATH, EnabledPlugin, PluginRegistry


def assign_secrets(
    config: Config, capabilities: PluginRegistry, derive: Callable[[str], bytes]
) -> None:
    """Give each plugin its own keys, and collect its documents.

    Parameters:
        derive: derives 32 bytes of the site's key for one purpose.

    Raises:
        ConfigError: a plugin cannot use them, or has a document that cannot be served.
    """
    problems: list[Problem] = []
    for one in capabilities.all:
        try:
            one.capability.use(Own(config.site.url, partial(derive_secret, derive, one.slug)))
            capabilities.documents |= _documents(one)
        except Exception as error:  # noqa: BLE001 -- whatever a package raises is reported
            problems.append(Problem(f"capabilities.{one.slug}", f"cannot be used: {error}"))
    if problems:
        raise ConfigError(problems, config)


def derive_secret(derive: Callable[[str], bytes], slug: str, purpose: str) -> bytes:
    """Derive the 32 bytes of a plugin for one purpose.

    Parameters:
        derive: as of :func:`assign_secrets`.
        slug: of the capability.
    """
    return derive(f"capability {slug} {purpose}")


def _documents(enabled: EnabledPlugin) -> dict[str, bytes]:
    """Return a plugin's documents by path.

    Raises:
        ValueError, TypeError: a name is invalid, or the document is no JSON.
    """
    documents = dict(enabled.capability.documents())
    for name in documents:
        if not check_document(name):
            raise ValueError(f"a document is named {name!r}; use a name such as jwks.json.")
    return {
        DOCUMENTS_PATH.format(slug=enabled.slug, name=name): msgspec.json.encode(document)
        for name, document in documents.items()
    }

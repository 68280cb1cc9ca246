"""What capabilities have for themselves at a site: keys of their own, and documents to be read."""

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
    """Give each capability what is its own, and take the documents that it makes of that.

    Parameters:
        derive: gives the 32 bytes of the site's own for one purpose.

    Raises:
        ConfigError: one of them cannot use that, or has a document that cannot be served.
    """
    problems: list[Problem] = []
    for one in capabilities.all:
        try:
            one.capability.use(Own(config.site.url, partial(derive_secret, derive, one.slug)))
            capabilities.documents |= _documents(one)
        except Exception as error:  # noqa: BLE001 -- whatever a package does is told
            problems.append(Problem(f"capabilities.{one.slug}", f"cannot be used: {error}"))
    if problems:
        raise ConfigError(problems, config)


def derive_secret(derive: Callable[[str], bytes], slug: str, purpose: str) -> bytes:
    """The 32 bytes that a capability has for a purpose of its own.

    Parameters:
        derive: as of :func:`assign_secrets`.
        slug: of the capability.
    """
    return derive(f"capability {slug} {purpose}")


def _documents(enabled: EnabledPlugin) -> dict[str, bytes]:
    """What is served, by paths.

    Raises:
        ValueError, TypeError: a name is none, or the document is no JSON.
    """
    documents = dict(enabled.capability.documents())
    for name in documents:
        if not check_document(name):
            raise ValueError(f"a document is named {name!r}; it takes a name such as jwks.json.")
    return {
        DOCUMENTS_PATH.format(slug=enabled.slug, name=name): msgspec.json.encode(document)
        for name, document in documents.items()
    }

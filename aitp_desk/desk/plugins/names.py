"""Parses schema addresses and slugs into a name and a version.

Source: AITP 0.1, Capabilities: slugs such as ``aitp.dev/requests``, addresses such as
``https://aitp.dev/v1/payment.schema.json``; those of the published schemas end in
``/capabilities/…/v1.0.0/schema.json``. A number inside a name is no version.
"""

from __future__ import annotations

import re

import msgspec

_VERSION = re.compile(r"/v(0|[1-9][0-9]{0,4})(?:\.[0-9]{1,5}){0,2}(?=/|\Z)")
_ENDING = re.compile(r"(?:[./]schema)?\.json\Z|/schema\Z|/\Z")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)


class SchemaName(msgspec.Struct, frozen=True):
    """A parsed schema name.

    Parameters:
        name: its host and path, without the version.
        version: the major version; None where none is given.
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

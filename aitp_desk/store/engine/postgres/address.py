"""Reads the URL of a PostgreSQL database as libpq does, with safer defaults.

``sslmode`` and the other parameters mean what they mean to libpq. Where the URL names no
``sslmode``, a server on another host must prove its name by a certificate of an authority that this
machine trusts, or of ``sslrootcert``; one on this machine need not.

A URL has no password: it is in the environment or in a file.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import msgspec

from aitp_desk.store.base import StoreError

PASSWORD = "AITP_DESK_STORE_PASSWORD"  # noqa: S105 -- the name of a variable
"""The environment variable with the password. ``<name>_FILE`` names a file with it, as container
systems mount secrets. PGPASSWORD and a password file of libpq (``passfile``) work too."""
SYSTEM = "system"
"""The value of ``sslrootcert`` for the authorities that this machine trusts."""


class Address(msgspec.Struct, frozen=True):
    """Where a database is, and how to connect to it.

    Parameters:
        name: the server and database, for people; no credential.
        arguments: for ``asyncpg.connect``.
    """

    name: str
    arguments: dict[str, Any]


def read_address(url: str, environment: Mapping[str, str]) -> Address:
    """Return the address of a URL ``postgresql://…``.

    Raises:
        StoreError: the password's file cannot be read.
    """
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    hosts = _list_hosts(parts.netloc, query.get("host", environment.get("PGHOST", "")))
    arguments: dict[str, Any] = {}
    has_mode = "sslmode" in query or "PGSSLMODE" in environment
    trusts_system = query.get("sslrootcert") == SYSTEM
    if trusts_system:
        del query["sslrootcert"]
    if trusts_system or (not has_mode and not all(map(_is_local, hosts))):
        query.pop("sslmode", None)
        root = query.pop("sslrootcert", None) or environment.get("PGSSLROOTCERT")
        arguments["ssl"] = ssl.create_default_context(cafile=root)
    if (password := _find_password(environment)) is not None:
        arguments["password"] = password
    arguments["dsn"] = f"postgresql://{parts.netloc}{parts.path}?{urlencode(query)}"
    database = unquote(parts.path.lstrip("/")) or query.get("database") or query.get("dbname", "")
    place = " ".join(part for part in (", ".join(hosts), database) if part)
    return Address(f"PostgreSQL, {place}" if place else "PostgreSQL", arguments)


def _list_hosts(netloc: str, otherwise: str) -> list[str]:
    hosts = [host for host in netloc.rpartition("@")[2].split(",") if host]
    return [unquote(host) for host in hosts] or [host for host in otherwise.split(",") if host]


def _is_local(host: str) -> bool:
    """Return whether a host is this machine: a folder with a socket, or a loopback address."""
    if host.startswith("/"):
        return True
    name = host[1:].partition("]")[0] if host[0] == "[" else host.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _find_password(environment: Mapping[str, str]) -> str | None:
    password, file = environment.get(PASSWORD), environment.get(f"{PASSWORD}_FILE")
    if file is None:
        return password
    if password is not None:
        raise StoreError(f"{PASSWORD} and {PASSWORD}_FILE are both set; set one of them.")
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"The file {file} of {PASSWORD}_FILE cannot be read: {error}.") from error

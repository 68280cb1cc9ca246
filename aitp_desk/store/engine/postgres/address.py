"""Reads the URL of a PostgreSQL database as libpq does, with safer defaults.

``sslmode`` and the other parameters mean what they mean to libpq. Where the URL names no
``sslmode``, a server on another host must prove its name by a certificate of an authority that this
machine trusts, or of ``sslrootcert``; one on this machine need not. Of several servers that takes
effect which can be written to.

A URL has no password: it is in the environment or in a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

import msgspec

from aitp_desk.config.rules.servers import SESSION_KINDS, wrong_hosts
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.tls import build_system_context

PASSWORD = "AITP_DESK_STORE_PASSWORD"  # noqa: S105 -- the name of a variable
"""The environment variable with the password. ``<name>_FILE`` names a file with it, as container
systems mount secrets. PGPASSWORD and a password file of libpq (``passfile``) work too."""
SYSTEM = "system"
"""The value of ``sslrootcert`` for the authorities that this machine trusts."""

_WRITABLE = "read-write"
_OF_ALL = "prefer-standby"
"""The kind of session for which all servers are asked first."""
_NO_SERVICE = "write its host and parameters in store.url instead"
"""A service could name a host that is not seen here, and is then not verified."""


class Address(msgspec.Struct, frozen=True):
    """Where a database is, and how to connect to it.

    Parameters:
        name: the server and database, for people; no credential.
        arguments: for ``asyncpg.connect``.
        each: the URL of each server, where there are several of which the first usable one counts.
    """

    name: str
    arguments: dict[str, Any]
    each: tuple[str, ...] = ()


def read_address(url: str, environment: Mapping[str, str]) -> Address:
    """Return the address of a URL ``postgresql://…``.

    Raises:
        StoreError: a file cannot be read, or a parameter has no possible value.
    """
    _check_environment(environment)
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if "service" in query:
        raise StoreError(f"store.url names a service of libpq: {_NO_SERVICE}.")
    # asyncpg leaves out an empty parameter, and then takes what the environment says
    hosts = _list_hosts(parts.netloc, query.get("host") or environment.get("PGHOST", ""))
    arguments: dict[str, Any] = {}
    has_mode = bool(query.get("sslmode") or environment.get("PGSSLMODE"))
    is_verified = not has_mode and not all(map(_is_local, hosts))
    root = query.get("sslrootcert") or environment.get("PGSSLROOTCERT")
    if root is not None and root != SYSTEM:
        _check_file(root)
    if root == SYSTEM or (is_verified and root is None):
        query.pop("sslrootcert", None)
        query.pop("sslmode", None)
        arguments["ssl"] = build_system_context(query, environment)
    elif is_verified and root is not None:
        query |= {"sslmode": "verify-full", "sslrootcert": root}
    if seconds := _read_seconds(query.pop("connect_timeout", "0")):
        arguments["timeout"] = seconds
    if (password := _find_password(environment)) is not None:
        arguments["password"] = password
    kind = query.get("target_session_attrs") or environment.get("PGTARGETSESSIONATTRS")
    if not kind and len(hosts) > 1:
        query["target_session_attrs"] = _WRITABLE
    arguments["dsn"] = f"postgresql://{parts.netloc}{parts.path}?{urlencode(query)}"
    each = () if kind == _OF_ALL else _divide(parts, query, hosts, environment)
    database = unquote(parts.path.lstrip("/")) or query.get("database") or query.get("dbname", "")
    place = " ".join(part for part in (", ".join(hosts), database) if part)
    return Address(f"PostgreSQL, {place}" if place else "PostgreSQL", arguments, each)


def _check_environment(environment: Mapping[str, str]) -> None:
    """Refuse variables of libpq that hide the host or have no possible value."""
    for name in ("PGSERVICE", "PGSERVICEFILE"):
        if environment.get(name):
            raise StoreError(f"{name} is set for a service of libpq: {_NO_SERVICE}, and unset it.")
    for name, wrong in (
        ("PGHOST", wrong_hosts(environment.get("PGHOST", ""))),
        ("PGPORT", wrong_hosts("", environment.get("PGPORT", ""))),
    ):
        if wrong:
            raise StoreError(f"{name} {wrong}.")
    kind = environment.get("PGTARGETSESSIONATTRS")
    if kind is not None and kind not in SESSION_KINDS:
        raise StoreError(f"PGTARGETSESSIONATTRS is not one of {', '.join(SESSION_KINDS)}.")


def _list_hosts(netloc: str, otherwise: str) -> list[str]:
    hosts = [host for host in netloc.rpartition("@")[2].split(",") if host]
    return [unquote(host) for host in hosts] or [host for host in otherwise.split(",") if host]


def _divide(
    parts: SplitResult, query: Mapping[str, str], hosts: list[str], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a URL for each of several hosts."""
    if len(hosts) < 2:
        return ()
    user, at, named = parts.netloc.rpartition("@")
    ports = (query.get("port") or environment.get("PGPORT", "")).split(",")
    each = []
    for n, host in enumerate(hosts):
        own = {**query, "port": ports[n] if len(ports) == len(hosts) else ports[0]}
        netloc = parts.netloc
        if named:
            netloc = f"{user}{at}{quote(host, safe=':[]')}"
        else:
            own["host"] = host
        given = {name: value for name, value in own.items() if value}
        each.append(f"postgresql://{netloc}{parts.path}?{urlencode(given)}")
    return tuple(each)


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


def _check_file(path: str) -> None:
    try:
        Path(path).read_bytes()
    except OSError as error:
        raise StoreError(f"The file of sslrootcert cannot be read: {error}.") from error


def _read_seconds(value: str) -> float:
    """Return the seconds of ``connect_timeout``; 0 where it sets no limit."""
    try:
        return max(0.0, float(int(value)))
    except ValueError:
        raise StoreError(f"connect_timeout takes whole seconds, not {value!r}.") from None


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

"""Rules for the addresses of the servers that keep state: the database and Valkey.

No address is ever repeated: it may contain a password.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
SESSION_KINDS = ("any", "primary", "standby", "prefer-standby", "read-write", "read-only")
"""The values of ``target_session_attrs``."""

_HOST = re.compile(r"(?:\[[^\[\]]+\]|[^\[\]:]+)(?::(?P<port>.*))?")
_WRONG_PORT = "has a port that is not a number from 1 to 65535"
_NUMBER = re.compile(r"[0-9]{1,9}")
_TLS_FILES = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
"""What the address of a Valkey server with TLS may name in its query."""


def wrong_store_url(url: str) -> str | None:
    """Return the fault of a database URL; None if it is usable."""
    scheme, _, rest = url.partition(":")
    if scheme != "sqlite":
        return wrong_server_url(url)
    if not rest.strip("/") or rest.startswith(":"):
        return "has no file"
    if rest.startswith("//") and not rest.startswith("///"):
        return "has a host, which SQLite does not use"
    return None


def wrong_server_url(url: str) -> str | None:
    """Return the fault of the URL of a database server; None if it is usable."""
    if url.partition(":")[0] not in {"postgres", "postgresql"}:
        return "is not a supported kind of database"
    return _wrong_postgres_url(url)


def wrong_valkey_url(url: str) -> str | None:
    """Return the fault of a Valkey URL; None if it is usable."""
    try:
        address = urlsplit(url)
    except ValueError:
        return "is not a URL"
    if address.scheme not in {"redis", "rediss", "unix", "valkey", "valkeys"}:
        return "is not the address of a Valkey or Redis server"
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    if address.password is not None or "password" in query:
        return "contains a password: put it in an environment variable that password_env names"
    if address.scheme == "unix":
        return _wrong_valkey_query(query, frozenset()) if address.path else "names no server"
    if not address.hostname:
        return "names no server"
    try:
        port = address.port
    except ValueError:
        port = 0
    if port == 0:
        return _WRONG_PORT
    if (number := address.path.removeprefix("/")) and not _NUMBER.fullmatch(number):
        return "has a database that is not a number"
    has_tls = address.scheme in {"rediss", "valkeys"}
    return _wrong_valkey_query(query, _TLS_FILES if has_tls else frozenset())


def wrong_hosts(hosts: str, ports: str = "") -> str | None:
    """Return the fault of PostgreSQL hosts and ports, each separated by commas; None if usable."""
    numbers = ports.split(",") if ports else []
    for host in hosts.split(",") if hosts else ():
        if host.startswith("/"):
            continue
        if (found := _HOST.fullmatch(host)) is None:
            return "has an empty or malformed host; an IPv6 address is in brackets"
        if found["port"]:
            numbers.append(found["port"])
    return None if all(map(_is_port, numbers)) else _WRONG_PORT


def _is_port(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and 1 <= int(text) <= 65_535


def _wrong_valkey_query(query: Mapping[str, str], others: frozenset[str]) -> str | None:
    if query.keys() - {"db"} - others:
        return "has a parameter that the desk does not use"
    if "db" in query and not _NUMBER.fullmatch(query["db"]):
        return "has a database that is not a number"
    return None


def _wrong_postgres_url(url: str) -> str | None:
    if not url.partition(":")[2].startswith("//"):
        return "has no // after postgresql:"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "is not a URL"
    if parts.fragment:
        return "has a fragment, which PostgreSQL does not use"
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if ":" in parts.netloc.rpartition("@")[0] or "password" in query:
        return (
            "contains a password, which is taken from AITP_DESK_STORE_PASSWORD or the file that"
            " AITP_DESK_STORE_PASSWORD_FILE names"
        )
    if parts.netloc.count("@") > 1:
        return "has more than one @ before its path"
    hosts = parts.netloc.rpartition("@")[2]
    return (
        wrong_hosts(hosts, query.get("port", ""))
        or wrong_hosts(query.get("host", ""))
        or _wrong_parameters(query)
    )


def _wrong_parameters(query: Mapping[str, str]) -> str | None:
    if "service" in query:
        return "names a service of libpq: write its host and parameters in the URL instead"
    if "hostaddr" in query:
        return "has hostaddr, which the desk does not use: write the address as the host"
    for name, values in (("sslmode", SSL_MODES), ("target_session_attrs", SESSION_KINDS)):
        if query.get(name) and query[name] not in values:
            return f"has an unknown {name}, which is one of {', '.join(values)}"
    if "connect_timeout" in query and not _NUMBER.fullmatch(
        query["connect_timeout"].removeprefix("-")
    ):
        return "has a connect_timeout that is not a whole number of seconds"
    return None

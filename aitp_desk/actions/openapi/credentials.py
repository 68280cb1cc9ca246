"""The desk's credentials for a service of the site, from the environment."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.config import OpenApi

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_VALUE = re.compile(r"[\x20-\x7e]+", re.ASCII)
_FRAMING = frozenset(
    "connection content-length content-type cookie host idempotency-key keep-alive te trailer"
    " transfer-encoding upgrade".split()
)


class Credentials(msgspec.Struct, frozen=True):
    """The credentials for a service.

    Parameters:
        headers: sent with every request.
        secrets: the values that no caller and no log may see.
    """

    headers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Credentials({', '.join(self.headers)})"


def read_credentials(
    settings: OpenApi, environment: Mapping[str, str], report: Callable[[str], None]
) -> Credentials:
    """Read the environment variables that the settings name.

    Parameters:
        report: receives each fault, as text that follows the name of the source.
    """
    headers: dict[str, str] = {}
    secrets: list[str] = []

    def read(key: str, variable: str) -> str:
        value = environment.get(variable, "").strip()
        if not value:
            report(f"{key} names the environment variable {variable}, which is not set.")
        elif not _VALUE.fullmatch(value):
            report(f"{key} names {variable}, which must be one line of ASCII characters.")
            return ""
        secrets.append(value)
        return value

    if settings.bearer_env and settings.basic_env:
        report("has both bearer_env and basic_env; remove one of them.")
    if settings.bearer_env:
        headers["Authorization"] = f"Bearer {read('bearer_env', settings.bearer_env)}"
    elif settings.basic_env:
        pair = read("basic_env", settings.basic_env)
        if pair and ":" not in pair:
            report(f"basic_env names {settings.basic_env}, which must be 'name:password'.")
        coded = base64.b64encode(pair.encode()).decode()
        headers["Authorization"] = f"Basic {coded}"
        secrets += [coded, pair.partition(":")[2]]
    for name, variable in settings.header_env.items():
        if not _TOKEN.fullmatch(name) or name.lower() in _FRAMING:
            report(f"header_env names {name!r}, which is not a header that can be set.")
        elif name.lower() in map(str.lower, headers):
            report(f"header_env names {name}, which is set already.")
        else:
            headers[name] = read(f"header_env.{name}", variable)
    return Credentials(headers, tuple(filter(None, secrets)))

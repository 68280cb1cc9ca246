"""OAuth clients for tests, made as the command line makes them, and what they get."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import aiohttp

from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.store.base import Store
from aitp_desk.store.units.keys.clients import create_client
from tests.support.clients.threads import Told

TOKEN = "/oauth/token"
URLENCODED = "application/x-www-form-urlencoded"
Parameters = Iterable[tuple[str, str]]


class Credentials(NamedTuple):
    """What a client proves itself with."""

    id: str
    secret: str

    @property
    def basic(self) -> tuple[str, str]:
        """The header (RFC 6749, section 2.3.1)."""
        return "Authorization", f"Basic {base64.b64encode(':'.join(self).encode()).decode()}"

    @property
    def post(self) -> list[tuple[str, str]]:
        """The parameters."""
        return [("client_id", self.id), ("client_secret", self.secret)]


async def make_client(
    store: Store, data: Path, *scopes: str, now: float, days: int | None = None
) -> Credentials:
    """A client that the owner of the desk with this store and data folder has made."""
    client, secret = ClientSecrets(await open_data_keys(store, data, {})).make(
        name=secrets.token_hex(8),
        scopes=scopes or ("threads",),
        is_registered=False,
        now=int(now),
        expires_at=None if days is None else int(now) + days * 86_400,
    )
    await store.run(create_client, client=client)
    return Credentials(client.id, secret)


async def ask_for_token(
    http: aiohttp.ClientSession,
    parameters: Parameters | bytes,
    *headers: tuple[str, str],
    content_type: str = URLENCODED,
) -> Told:
    """Send a form to the token endpoint."""
    body = parameters if isinstance(parameters, bytes) else urlencode([*parameters]).encode()
    sent = [("Content-Type", content_type), *headers]
    async with http.post(TOKEN, data=body, headers=sent) as response:
        return Told(response.status, response.headers, await response.json())


async def get_token(http: aiohttp.ClientSession, client: Credentials, **more: str) -> Any:
    """What a client is given that asks for a token."""
    grant = [("grant_type", "client_credentials"), *more.items()]
    return (await ask_for_token(http, grant, client.basic)).ok

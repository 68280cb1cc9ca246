"""Keys for tests, made as the command line makes them, and what they sign."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.auth.credentials.api_key import make_api_key
from aitp_desk.auth.credentials.signed_request import make_secret
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.store.base import Store
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.tokens import create_token


async def make_key(store: Store, data: Path, *scopes: str, name: str = "bot") -> str:
    """An API key that the desk with this store and data folder knows."""
    keys = await open_data_keys(store, data, {})
    id_, key = make_api_key()
    token = Key(
        id=id_,
        name=name,
        hash=keys.hash_token(key, keys.newest),
        scopes=scopes or ("threads", "actions"),
        created_at=int(time.time()),
    )
    await store.run(create_token, token=token)
    return key


CLIENTS = Path(__file__).parents[3] / "examples" / "clients"


@cache
def signing_client() -> Callable[..., str]:
    """The function of the example client that signs."""
    spec = importlib.util.spec_from_file_location("signing", CLIENTS / "signed_request.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sign: Callable[..., str] = module.sign
    return sign


class SigningKey(msgspec.Struct, frozen=True):
    """A key that signs.

    Parameters:
        id: with its version.
    """

    id: str
    secret: str

    def sign(self, method: str, target: str, body: bytes = b"", **more: Any) -> tuple[str, str]:
        """The header that signs a request."""
        signed = signing_client()(method, target, body, key_id=self.id, secret=self.secret, **more)
        return "Authorization", signed


async def make_signing_key(
    store: Store, data: Path, *scopes: str, name: str = "signer"
) -> SigningKey:
    """A key that signs and that the desk with this store and data folder knows."""
    id_, _ = make_api_key()
    token = Key(
        id=id_,
        name=name,
        hash=b"",
        scopes=scopes or ("threads", "actions"),
        created_at=int(time.time()),
        kind="hmac",
    )
    await store.run(create_token, token=token)
    return SigningKey(f"{id_}.1", make_secret(await open_data_keys(store, data, {}), id_, 1, 1))

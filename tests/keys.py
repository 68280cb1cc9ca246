"""API keys for tests, made as the command line makes them."""

from __future__ import annotations

import time
from pathlib import Path

from aitp_desk.auth.api_key import make_api_key
from aitp_desk.auth.keys import open_master_key
from aitp_desk.store.base import Store
from aitp_desk.store.records import Token
from aitp_desk.store.work import create_token


async def make_key(store: Store, data: Path, *scopes: str, name: str = "bot") -> str:
    """An API key that the desk with this store and data folder knows."""
    id_, key = make_api_key()
    token = Token(
        id=id_,
        name=name,
        hash=open_master_key(data).hash_token(key),
        scopes=scopes or ("threads", "actions"),
        created_at=int(time.time()),
    )
    await store.run(create_token, token=token)
    return key

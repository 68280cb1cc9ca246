"""Who has the data folder, and not the secrets that were given out, does not find these there."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from tests.support.access.keys import make_signing_key
from tests.support.access.oauth_clients import get_token, make_client
from tests.support.clients.threads import THREADS, Talker, talking


def forms_of(secret: str) -> set[bytes]:
    """A secret as it was given out, and the bytes that it stands for."""
    if set(secret) <= set("0123456789abcdef"):
        return {secret.encode(), bytes.fromhex(secret)}
    return {secret.encode(), base64.urlsafe_b64decode(f"{secret}=")}


@pytest.mark.sqlite
async def test_no_secret_that_was_given_out_stands_in_the_data_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        store = talker.desk.store
        who = await talker.with_key("threads")
        assert who.key is not None
        signing = await make_signing_key(store, data, "threads")
        client = await make_client(store, data, now=time.time())
        token = (await get_token(talker.http, client))["access_token"]
        bearing = Talker(talker.desk, data, talker.http, token)
        thread = (await who.open("Hello.")).id
        link = (
            await who.send("POST", f"{THREADS}/{thread}/grants", {"may": "read", "link": True})
        ).ok["secret"]
        for caller in (who, bearing, talker.with_link(link)):
            await caller.send("GET", f"{THREADS}/{thread}")
        await store.settled()
        secrets = [who.key.rpartition("_")[2], signing.secret, client.secret]
        secrets.append(link.removeprefix("link_"))
        kept = {
            path.name: path.read_bytes()
            for path in data.rglob("*")
            if path.is_file() and path.name != "master.key"
        }
    assert any(thread.encode() in content for content in kept.values()), "it looks where rows are"
    wanted = set.union(*map(forms_of, secrets), {token.encode(), token.split(".")[2].encode()})
    found = {name for name, content in kept.items() for one in wanted if one in content}
    assert found == set()

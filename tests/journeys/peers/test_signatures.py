"""A desk that signs its requests to a partner, which knows it by its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from aitp_desk.config import ConfigError
from aitp_desk.visitor.proof.signatures import DIRECTORY_PATH
from tests.support.clients.threads import Talker
from tests.support.desk.processes import free_port
from tests.support.doubles.website import website
from tests.support.sites.partners import BOOKSHOP, LIBRARY, peer, serving_site, write_site

KNOWN_THERE = "How long do you lend e-readers?"
LOOPBACK = "egress.allow_loopback=true"


async def ask(talker: Talker) -> str:
    opened = await talker.open(KNOWN_THERE, wait=20)
    return "\n".join(opened.ok["replies"][0]["content"])


async def test_a_partner_knows_the_desk_that_signs_and_strangers_stay_strangers(
    tmp_path: Path,
) -> None:
    port = free_port()
    own = f"http://127.0.0.1:{port}"
    listed = f'[[signature_agents]]\norigin = "{own}"\nscopes = ["threads"]\n'
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP, listed), LOOPBACK) as shop:
        toml = peer(shop.desk.url, protocol="aitp", signs=True)
        library = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(library, port=port) as talker:
            known = await talker.with_key("threads", "actions")
            assert "three weeks" in await ask(known)
            assert "three weeks" in await ask(talker)
            async with talker.http.get(DIRECTORY_PATH) as response:
                (key,) = (await response.json(content_type=None))["keys"]
                kind = response.content_type
        owners = [
            owner for (owner,) in shop.rows("SELECT owner FROM threads ORDER BY created_at, id")
        ]
    assert kind == "application/http-message-signatures-directory+json"
    assert set(key) == {"crv", "kty", "x"}
    assert len(owners) == 2
    assert [one for one in owners if one is None] == [None]
    assert any(own.removeprefix("http://") in str(one) for one in owners)


async def test_no_stranger_reads_what_a_partner_gave_to_the_desk_that_signs(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        lent = "three weeks" if "Signature" in request.headers else "some time"
        text = f"# Books\n\nWe lend e-readers for {lent}.\n"
        return web.Response(text=text, headers={"Cache-Control": "private, max-age=600"})

    async with website() as books:
        books.handle("/llms.txt", answer)
        toml = peer(books.url, signs=True)
        async with serving_site(
            write_site(tmp_path / "library", LIBRARY, toml), LOOPBACK
        ) as talker:
            known = await talker.with_key("threads", "actions")
            assert "three weeks" in await ask(known)
            assert "some time" in await ask(talker)
            assert "three weeks" in await ask(known)


async def test_a_desk_that_signs_nothing_publishes_no_key(tmp_path: Path) -> None:
    library = write_site(tmp_path / "library", LIBRARY)
    async with serving_site(library) as talker, talker.http.get(DIRECTORY_PATH) as response:
        assert response.status == 404


async def test_what_signs_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aitp_desk.transports.peers.rules.find_spec", lambda _name: None)
    toml = peer("http://127.0.0.1:9", signs=True)
    with pytest.raises(ConfigError, match="aitp-desk\\[signatures\\]"):
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)):
            pass

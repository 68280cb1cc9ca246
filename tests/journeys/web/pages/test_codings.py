"""Large resources that are equal for all callers are sent as gzip to those that take it."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from aitp_desk.web.pages.assets import API_SCRIPT, API_STYLE
from tests.support.desk.server import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
SHARED = ("/docs", "/openapi.json", API_STYLE.url, API_SCRIPT.url)
TAGGED = ("/docs", "/openapi.json")
ZIPPED = {"Accept-Encoding": "gzip, deflate, br"}
PLAIN = ({"Accept-Encoding": "identity"}, {"Accept-Encoding": "gzip;q=0, br"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        serving(tmp_path_factory.mktemp("data")) as desk,
        aiohttp.ClientSession(
            desk.url, auto_decompress=False, skip_auto_headers=["Accept-Encoding"]
        ) as http,
    ):
        yield http


def list_varied(answer: aiohttp.ClientResponse) -> set[str]:
    lines = ",".join(answer.headers.getall("Vary"))
    return {name.strip() for name in lines.split(",")}


@pytest.mark.parametrize("path", SHARED)
async def test_it_is_zipped_for_callers_that_take_it(
    http: aiohttp.ClientSession, path: str
) -> None:
    async with http.get(path, headers=ZIPPED) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in list_varied(answer)
        zipped = await answer.read()
        tag = answer.headers.get("ETag")
    for headers in (*PLAIN, {}):
        async with http.get(path, headers=headers) as answer:
            assert "Content-Encoding" not in answer.headers
            assert "Accept-Encoding" in list_varied(answer)
            plain = await answer.read()
            assert (answer.headers.get("ETag") == tag) is (tag is None)
        assert gzip.decompress(zipped) == plain
        assert len(zipped) < len(plain) * 0.6


@pytest.mark.parametrize("path", SHARED)
async def test_head_has_the_headers_of_get(http: aiohttp.ClientSession, path: str) -> None:
    for headers in (ZIPPED, *PLAIN):
        async with http.get(path, headers=headers) as got:
            size = len(await got.read())
        async with http.head(path, headers=headers) as answer:
            assert answer.headers["Content-Length"] == str(size)
            for name in ("Content-Encoding", "ETag", "Cache-Control", "Content-Type"):
                assert answer.headers.get(name) == got.headers.get(name)
            assert list_varied(answer) == list_varied(got)
            assert await answer.read() == b""


@pytest.mark.parametrize("path", TAGGED)
async def test_each_coding_is_revalidated_by_its_own_tag(
    http: aiohttp.ClientSession, path: str
) -> None:
    tags = []
    for headers in (ZIPPED, PLAIN[0]):
        async with http.get(path, headers=headers) as answer:
            tags.append(answer.headers["ETag"])
    for headers, own, other in zip((ZIPPED, PLAIN[0]), tags, reversed(tags), strict=True):
        async with http.get(path, headers={**headers, "If-None-Match": own}) as answer:
            assert (answer.status, answer.headers["ETag"]) == (304, own)
            assert "Accept-Encoding" in list_varied(answer)
            assert await answer.read() == b""
        async with http.get(path, headers={**headers, "If-None-Match": other}) as answer:
            assert (answer.status, answer.headers["ETag"]) == (200, own)


async def test_what_depends_on_the_caller_is_never_zipped(http: aiohttp.ClientSession) -> None:
    for path in ("/search?q=returns", "/widget/visitor", "/console", "/missing"):
        async with http.get(path, headers={**ZIPPED, "Accept": "text/html"}) as answer:
            assert "Content-Encoding" not in answer.headers, path

"""The files that pages declare, over HTTP: these and no others, whole and in part."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.web.pages.files import MOST_PER_CALLER
from tests.support.clients.ahp import Visitor, visiting
from tests.support.sites.content_types import SIZES, SUBTITLES, VIDEO_BYTES, make_site

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIDEO = "/guides/clips/helmet.mp4"
SIZE = len(VIDEO_BYTES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[aiohttp.ClientSession]:
    """A caller who reads the files of a site that offers some."""
    folder = tmp_path_factory.mktemp("reader")
    async with visiting(folder / "data", folder=make_site(folder / "site")) as visitor:
        yield visitor.http


async def test_a_declared_file_is_sent_as_what_it_is(reader: aiohttp.ClientSession) -> None:
    async with reader.get(VIDEO) as response:
        assert response.status == 200
        assert await response.read() == VIDEO_BYTES
        assert response.headers["Content-Type"] == "video/mp4"
        assert response.headers["Content-Length"] == str(SIZE)
        assert response.headers["Accept-Ranges"] == "bytes"
        assert response.headers["Vary"] == "Accept"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        policy = response.headers["Content-Security-Policy"].split("; ")
        assert {"default-src 'none'", "frame-ancestors 'none'", "sandbox"} <= set(policy)
        assert response.headers["Content-Disposition"] == 'inline; filename="helmet.mp4"'
    async with reader.get("/guides/clips/helmet.en.vtt") as response:
        assert await response.text() == SUBTITLES
        assert response.headers["Content-Type"] == "text/vtt; charset=utf-8"


async def test_a_page_shows_what_it_offers_and_links_to_what_is_elsewhere(
    reader: aiohttp.ClientSession,
) -> None:
    async with reader.get("/guides/helmet", headers={"Accept": "text/html"}) as response:
        page = LexborHTMLParser(await response.text())
        assert "media-src 'self'" in response.headers["Content-Security-Policy"]
    [video] = page.css("video")
    assert video.attributes["src"] == VIDEO
    assert video.attributes["poster"] == "/guides/clips/level.png"
    assert [track.attributes["srclang"] for track in video.css("track")] == ["en"]
    [picture] = page.css("article img")
    assert picture.attributes["alt"] == "A helmet that sits level"
    loaded = [node.attributes["src"] or "" for node in page.css("[src]")]
    assert all(address.startswith("/") for address in loaded)
    links = {link.attributes["href"]: link.text() for link in page.css(".offers a")}
    assert links == {"https://cdn.example/tilted.jpg": "A tilted helmet"}
    async with reader.get("/guides/sizes", headers={"Accept": "text/html"}) as response:
        page = LexborHTMLParser(await response.text())
    assert [link.text() for link in page.css(".offers a")] == ["sizes.csv", "guide.epub", "all.zip"]
    async with reader.get("/guides/talk", headers={"Accept": "text/html"}) as response:
        page = LexborHTMLParser(await response.text())
    [link] = page.css(".offers a")
    assert link.text() == "Play: A talk with our fitter"


@pytest.mark.parametrize(
    "path",
    [
        "/guides/clips/undeclared.mp4",
        "/guides/guide.pdf.undeclared",
        "/guides/helmet.mp4",
        "/guides/clips/../clips/undeclared.mp4",
        "/guides/clips/..%2fclips%2fundeclared.mp4",
        "/guides/clips/",
    ],
)
async def test_a_file_that_no_page_declares_is_not_there(
    reader: aiohttp.ClientSession, path: str
) -> None:
    async with reader.get(path) as response:
        assert response.status == 404


@pytest.mark.parametrize("how", ["", "%", "/"])
async def test_an_address_may_be_written_in_other_ways_that_mean_the_same(
    reader: aiohttp.ClientSession, how: str
) -> None:
    path = VIDEO.replace("helmet", "%68elmet") if how == "%" else VIDEO + how
    async with reader.get(path, headers={"Range": "bytes=0-0"}) as response:
        assert response.status == 206


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=0-99", 0, 99),
        ("bytes=100-", 100, SIZE - 1),
        ("bytes=-5", SIZE - 5, SIZE - 1),
        (f"bytes=-{SIZE * 2}", 0, SIZE - 1),
        (f"bytes={SIZE - 1}-{SIZE + 900}", SIZE - 1, SIZE - 1),
    ],
)
async def test_a_range_is_sent_alone(
    reader: aiohttp.ClientSession, asked: str, first: int, last: int
) -> None:
    async with reader.get(VIDEO, headers={"Range": asked}) as response:
        assert response.status == 206
        assert response.headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
        assert await response.read() == VIDEO_BYTES[first : last + 1]


@pytest.mark.parametrize(
    "asked",
    [f"bytes={SIZE}-", f"bytes={SIZE + 5}-", "bytes=-0", f"bytes={SIZE + 5}-{SIZE + 9}"],
)
async def test_a_range_beyond_the_file_is_refused_with_its_size(
    reader: aiohttp.ClientSession, asked: str
) -> None:
    async with reader.get(VIDEO, headers={"Range": asked}) as response:
        assert response.status == 416
        assert response.headers["Content-Range"] == f"bytes */{SIZE}"


@pytest.mark.parametrize(
    "asked",
    ["bytes=0-1,5-6", "bytes=9-2", "bytes=-", "lines=1-2", "bytes=a-b", "bytes=" + "9" * 90],
)
async def test_what_is_no_single_range_gets_the_whole_file(
    reader: aiohttp.ClientSession, asked: str
) -> None:
    async with reader.get(VIDEO, headers={"Range": asked}) as response:
        assert response.status == 200
        assert await response.read() == VIDEO_BYTES


async def test_a_head_request_tells_all_about_the_file_and_sends_nothing_of_it(
    reader: aiohttp.ClientSession,
) -> None:
    async with reader.head(VIDEO, headers={"Range": "bytes=0-5"}) as response:
        assert (response.status, await response.read()) == (200, b"")
        assert response.headers["Content-Length"] == str(SIZE)
        assert response.headers["ETag"]


async def test_who_has_the_file_is_not_sent_it_again(reader: aiohttp.ClientSession) -> None:
    async with reader.head(VIDEO) as response:
        tag, changed = response.headers["ETag"], response.headers["Last-Modified"]
    for known in ({"If-None-Match": tag}, {"If-None-Match": "*"}, {"If-Modified-Since": changed}):
        async with reader.get(VIDEO, headers=known) as response:
            assert (response.status, await response.read()) == (304, b"")
            assert response.headers["ETag"] == tag
    for other in (
        {"If-None-Match": '"other"', "If-Modified-Since": changed},
        {"If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"If-Modified-Since": "some day"},
    ):
        async with reader.get(VIDEO, headers=other) as response:
            assert response.status == 200


async def test_a_part_is_only_sent_to_who_has_the_rest_of_the_same_file(
    reader: aiohttp.ClientSession,
) -> None:
    async with reader.head(VIDEO) as response:
        tag, changed = response.headers["ETag"], response.headers["Last-Modified"]
    for condition, status in ((tag, 206), (changed, 206), ('"other"', 200), ("W/" + tag, 200)):
        headers = {"Range": "bytes=0-9", "If-Range": condition}
        async with reader.get(VIDEO, headers=headers) as response:
            assert response.status == status
            assert len(await response.read()) == (10 if status == 206 else SIZE)


async def test_who_has_a_file_is_sent_what_it_holds_now_though_its_size_and_time_are_as_they_were(
    tmp_path: Path,
) -> None:
    folder = make_site(tmp_path / "site")
    video = folder / VIDEO.removeprefix("/")
    other = VIDEO_BYTES[::-1]
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        async with visitor.http.get(VIDEO) as response:
            known = {"If-None-Match": response.headers["ETag"]}
        was = video.stat()
        video.write_bytes(other)
        os.utime(video, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert await visitor.desk.desk.knowledge.refresh()
        async with visitor.http.get(VIDEO, headers=known) as response:
            assert (response.status, await response.read()) == (200, other)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page.html", "text/html; charset=utf-8"),
        ("drawing.svg", "image/svg+xml"),
        ("notes.xml", None),
        ("tool.exe", None),
        ("thing.unheard-of", "application/octet-stream"),
        ("Größe & “Maß”.csv", "text/csv; charset=utf-8"),
    ],
)
async def test_what_a_browser_could_run_or_does_not_know_is_saved_and_not_shown(
    tmp_path: Path, name: str, kind: str | None
) -> None:
    folder = tmp_path / "site"
    (folder / "files").mkdir(parents=True)
    (folder / "files" / name).write_text("<script>alert(1)</script>")
    front = f"downloads:\n  - {{file: '/files/{name}'}}\n"
    (folder / "page.md").write_text(f"---\n{front}---\nSomething to take home.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        [url] = visitor.desk.desk.knowledge.library.shelf.files
        async with visitor.http.get(url) as response:
            assert response.status == 200
            assert response.headers["Content-Disposition"].startswith("attachment; ")
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert kind is None or response.headers["Content-Type"] == kind


async def test_a_file_that_goes_or_changes_under_the_desk_is_never_sent_as_another(
    tmp_path: Path,
) -> None:
    folder = make_site(tmp_path / "site")
    file = folder / "guides" / "sizes.csv"
    secret = tmp_path / "secret.csv"
    secret.write_text(SIZES)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        status = file.stat()
        file.unlink()
        file.symlink_to(secret)
        os.utime(secret, ns=(status.st_atime_ns, status.st_mtime_ns))
        async with visitor.http.get("/guides/sizes.csv") as response:
            assert response.status == 404
        file.unlink()
        file.write_text(SIZES + "L,58\n")
        async with visitor.http.get("/guides/sizes.csv") as response:
            assert response.status == 503
            assert int(response.headers["Retry-After"]) >= 1
        await visitor.desk.desk.knowledge.refresh()
        async with visitor.http.get("/guides/sizes.csv") as response:
            assert await response.text() == SIZES + "L,58\n"


async def test_a_further_agent_s_files_stand_below_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "content").mkdir(parents=True)
    (folder / "content" / "index.md").write_text("# Home\n\nThe site.\n")
    make_site(folder / "fitters")
    (folder / "desk.toml").write_text(
        '[content]\nfolder = "content"\n[[agents]]\nname = "fit"\ntitle = "Fitters"\n'
        '[agents.content]\nfolder = "fitters"\n'
    )
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        async with visitor.http.get("/fit" + VIDEO) as response:
            assert await response.read() == VIDEO_BYTES
        async with visitor.http.get(VIDEO) as response:
            assert response.status == 404


async def test_files_are_counted_like_pages(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=2")
    async with visiting(
        tmp_path / "data", *settings, folder=make_site(tmp_path / "site")
    ) as visitor:
        statuses = [await status_of(visitor, VIDEO) for _ in range(3)]
    assert statuses == [200, 200, 429]


def is_open(file: Path) -> bool:
    """Whether this process has a file open."""
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in between
            if descriptor.readlink() == file:
                return True
    return False


async def status_of(visitor: Visitor, path: str) -> int:
    async with visitor.http.get(path) as response:
        await response.read()
        return response.status


@pytest.mark.slow
async def test_a_reader_who_goes_away_leaves_no_file_open(tmp_path: Path) -> None:
    folder = make_site(tmp_path / "site")
    file = folder / "guides" / "clips" / "helmet.mp4"
    file.write_bytes(b"x" * 20_000_000)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        for _ in range(5):
            response = await visitor.http.get(VIDEO)
            await response.content.readexactly(1000)
            assert is_open(file)
            response.close()
        async with visitor.http.get(VIDEO) as response:
            assert len(await response.read()) == 20_000_000
        async with asyncio.timeout(60):
            while is_open(file):
                assert await status_of(visitor, "/health") == 200


async def test_a_file_that_changes_while_it_is_sent_is_not_sent_to_its_end(tmp_path: Path) -> None:
    folder = make_site(tmp_path / "site")
    file = folder / "guides" / "clips" / "helmet.mp4"
    file.write_bytes(b"x" * 20_000_000)
    async with (
        visiting(tmp_path / "data", folder=folder) as visitor,
        visitor.http.get(VIDEO) as response,
    ):
        await response.content.readexactly(1000)
        with file.open("r+b") as opened:
            opened.write(b"y" * 20_000_000)
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


@pytest.mark.slow
async def test_one_address_does_not_take_the_places_of_all_others(tmp_path: Path) -> None:
    """Readers who stall hold a place each; their address has some of them, and not all."""
    folder = make_site(tmp_path / "site")
    (folder / "guides" / "clips" / "helmet.mp4").write_bytes(b"x" * 20_000_000)
    trusted = 'server.trusted_proxies=["127.0.0.1/32"]'
    async with (
        visiting(tmp_path / "data", trusted, folder=folder) as visitor,
        aiohttp.ClientSession(visitor.desk.url, connector=aiohttp.TCPConnector(limit=0)) as readers,
    ):

        def come(address: str) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
            return readers.get(VIDEO, headers={"X-Forwarded-For": address})

        async with AsyncExitStack() as stalled:
            for number in range(MOST_PER_CALLER):
                response = await stalled.enter_async_context(come(f"2001:db8::{number:x}"))
                assert response.status == 200
            async with come("2001:db8::ffff") as response:
                assert response.status == 429
                assert int(response.headers["Retry-After"]) >= 1
                assert "At most 40 files" in await response.text()
            async with come("2001:db8:0:1::1") as other:
                assert len(await other.read()) == 20_000_000
        while await status_of(visitor, "/health") == 200:
            async with come("2001:db8::ffff") as response:
                if response.status == 200:
                    break

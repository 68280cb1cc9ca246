"""The outgoing client against real servers: what it sends, what it follows, where it stops."""

import asyncio
import datetime
import ssl
import tracemalloc
import zlib
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from aitp_desk.egress import (
    MAX_REDIRECTS,
    AddressRefused,
    Egress,
    EgressError,
    Fetched,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)
from tests.support.doubles.website import Names, Website, website

MEGABYTE = 1024 * 1024


async def fetch(
    egress: Egress, url: str, max_bytes: int = MEGABYTE, seconds: float = 10, **headers: str
) -> Fetched:
    return await egress.fetch(url, max_bytes=max_bytes, seconds=seconds, headers=headers)


async def test_a_page_is_fetched_with_its_headers(egress: Egress, site: Website) -> None:
    site.put("/a?b=c", "hello", headers={"ETag": '"1"'})
    fetched = await fetch(egress, f"{site.url}/a?b=c#d", Accept="text/html")
    assert (fetched.status, fetched.body) == (200, b"hello")
    assert fetched.headers["etag"] == '"1"'
    assert fetched.url == f"{site.url}/a?b=c"
    (asked,) = site.asked
    assert asked.headers["User-Agent"] == "aitp-desk"
    assert asked.headers["Accept"] == "text/html"


@pytest.mark.parametrize("status", [304, 404, 410, 429, 500])
async def test_another_status_is_an_answer_without_a_body(
    egress: Egress, site: Website, status: int
) -> None:
    site.put("/", b"" if status == 304 else b"x" * 2 * MEGABYTE, status=status)
    fetched = await fetch(egress, f"{site.url}/")
    assert (fetched.status, fetched.body) == (status, b"")


async def test_no_cookie_is_kept(egress: Egress, site: Website) -> None:
    site.put("/", "hello", headers={"Set-Cookie": "visitor=1"})
    for _ in range(2):
        await fetch(egress, f"{site.url}/")
    assert all("Cookie" not in asked.headers for asked in site.asked)


async def test_the_environment_names_no_proxy(
    egress: Egress, site: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    site.put("/", "hello")
    assert (await fetch(egress, f"{site.url}/")).body == b"hello"


# redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed(egress: Egress, site: Website, status: int) -> None:
    site.redirect("/old", "new?x=1#part", status)
    site.put("/new?x=1", "moved")
    fetched = await fetch(egress, f"{site.url}/old")
    assert (fetched.body, fetched.url) == (b"moved", f"{site.url}/new?x=1")


@pytest.mark.parametrize(
    "to",
    [
        *("http://10.0.0.1/", "https://169.254.169.254/latest", "http://example.com/"),
        *("//192.168.0.1/", "file:///etc/passwd", "http://u:p@127.0.0.1/", "http://[fd00::1]/"),
        *("https://0x7f000001/", "http:\\\\10.0.0.1", "http://10.0.0.1:80:80/"),
    ],
)
async def test_a_redirect_is_held_to_the_same_rules(egress: Egress, site: Website, to: str) -> None:
    site.redirect("/", to)
    with pytest.raises(AddressRefused):
        await fetch(egress, f"{site.url}/")


async def test_redirects_end(egress: Egress, site: Website) -> None:
    site.redirect("/", "/")
    with pytest.raises(TooManyRedirects):
        await fetch(egress, f"{site.url}/")
    assert len(site.asked) == MAX_REDIRECTS + 1


async def test_headers_are_not_carried_to_another_origin(egress: Egress, site: Website) -> None:
    async with website("127.0.0.2") as other:
        site.redirect("/", "/here")
        site.redirect("/here", f"{other.url}/there")
        other.put("/there", "hello")
        await fetch(egress, f"{site.url}/", Authorization="Bearer hunter2")
        assert [asked.headers.get("Authorization") for asked in site.asked] == [
            "Bearer hunter2",
            "Bearer hunter2",
        ]
        (asked,) = other.asked
        assert "Authorization" not in asked.headers


async def test_a_redirect_can_be_disapproved_of(egress: Egress, site: Website) -> None:
    site.redirect("/", "/private")
    seen: list[str] = []

    async def approve(url: str) -> None:
        seen.append(url)
        raise AddressRefused("not there")

    with pytest.raises(AddressRefused, match="not there"):
        await egress.fetch(f"{site.url}/", max_bytes=10, seconds=10, approve=approve)
    assert seen == [f"{site.url}/private"]
    assert site.paths() == ["/"]


async def test_a_redirect_that_leads_nowhere_is_an_answer(egress: Egress, site: Website) -> None:
    site.put("/", "", status=302)
    assert (await fetch(egress, f"{site.url}/")).status == 302


# names


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["fd00::1"], ["::ffff:10.0.0.1"]),
        *(["64:ff9b::a00:1"], ["2002:a00:1::"], ["10.0.0.1", "::1", "192.168.0.1"], ["0.0.0.0"]),
    ],
)
async def test_a_name_that_leads_to_no_public_address_is_refused(addresses: list[str]) -> None:
    names = Names({"inside.example": addresses})
    async with Egress(resolver=names) as egress:
        egress.check("https://inside.example/secret")
        with pytest.raises(AddressRefused) as caught:
            await fetch(egress, "https://inside.example/secret")
    assert names.asked == ["inside.example"]
    assert str(caught.value) == "inside.example does not lead to a public address."


async def test_nothing_is_connected_to_without_the_setting_for_tests(site: Website) -> None:
    port = int(site.url.rpartition(":")[2])
    async with Egress(resolver=Names({"own.example": ["127.0.0.1"]})) as egress:
        for host in ("own.example", "127.0.0.1"):
            with pytest.raises(AddressRefused):
                await fetch(egress, f"https://{host}:{port}/")
    assert site.asked == []


async def test_an_unknown_name_is_unreachable() -> None:
    async with Egress(resolver=Names({})) as egress:
        with pytest.raises(Unreachable, match="its name has no address"):
            await fetch(egress, "https://nobody.example/")


@pytest.mark.parametrize("host", ["x" * 300 + ".example", "a..b", "-", "_"])
async def test_a_strange_name_is_an_error_of_the_family(egress: Egress, host: str) -> None:
    with pytest.raises(EgressError):
        await fetch(egress, f"https://{host}/")


# bounds


async def test_a_body_may_have_the_size_that_is_taken_and_no_more(
    egress: Egress, site: Website
) -> None:
    site.put("/", b"x" * 1000)
    assert len((await fetch(egress, f"{site.url}/", 1000)).body) == 1000
    with pytest.raises(TooLarge):
        await fetch(egress, f"{site.url}/", 999)


async def test_a_body_without_end_is_left_when_it_is_too_large(
    egress: Egress, site: Website
) -> None:
    sent = 0

    async def flow(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)
            sent += 65536

    site.handle("/", flow)
    with pytest.raises(TooLarge):
        await fetch(egress, f"{site.url}/", MEGABYTE)
    assert sent < 64 * MEGABYTE


@pytest.mark.parametrize(("encoding", "window"), [("gzip", 31), ("deflate", 15)])
async def test_what_is_compressed_is_unpacked_only_as_far_as_it_is_taken(
    egress: Egress, site: Website, encoding: str, window: int
) -> None:
    packer = zlib.compressobj(9, wbits=window)
    bomb = b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(64)) + packer.flush()
    site.put("/", bomb, headers={"Content-Encoding": encoding})
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            await fetch(egress, f"{site.url}/", MEGABYTE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(bomb) < MEGABYTE
    assert peak < 8 * MEGABYTE


async def test_what_is_compressed_is_unpacked(egress: Egress, site: Website) -> None:
    packer = zlib.compressobj(wbits=31)
    site.put("/", packer.compress(b"hello") + packer.flush(), headers={"Content-Encoding": "gzip"})
    assert (await fetch(egress, f"{site.url}/")).body == b"hello"
    assert site.asked[0].headers["Accept-Encoding"] == "gzip, deflate"


async def test_what_only_claims_to_be_compressed_is_no_answer(
    egress: Egress, site: Website
) -> None:
    site.put("/", b"hello", headers={"Content-Encoding": "gzip"})
    with pytest.raises(Unreachable):
        await fetch(egress, f"{site.url}/")


@pytest.mark.parametrize("coding", ["gzip, gzip", "compress", "x-own"])
async def test_what_is_compressed_in_another_way_is_no_answer(
    egress: Egress, site: Website, coding: str
) -> None:
    site.put("/", b"hello", headers={"Content-Encoding": coding})
    with pytest.raises(Unreachable, match="in a compression that is not supported"):
        await fetch(egress, f"{site.url}/")


@pytest.mark.parametrize("begins", [False, True])
async def test_an_answer_that_does_not_end_is_too_slow(
    egress: Egress, site: Website, begins: bool
) -> None:
    done = asyncio.Event()

    async def wait(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if begins:
            await response.prepare(request)
            await response.write(b"x")
        await done.wait()
        return response

    site.handle("/", wait)
    try:
        with pytest.raises(TooSlow):
            await fetch(egress, f"{site.url}/", seconds=0.2)
    finally:
        done.set()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
    ids=["nothing", "no HTTP", "half a body", "a huge header"],
)
async def test_what_is_no_whole_http_answer_is_unreachable(egress: Egress, answer: bytes) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable):
            await fetch(egress, f"http://127.0.0.1:{port}/")


async def test_nobody_there_is_unreachable(egress: Egress, site: Website) -> None:
    async with website() as closed:
        url = closed.url
    with pytest.raises(Unreachable, match="the connection failed") as caught:
        await fetch(egress, f"{url}/hunter2?key=hunter2")
    assert "hunter2" not in str(caught.value)


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    egress: Egress, tmp_path: Path
) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0, ssl=own_certificate(tmp_path))
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable, match="its certificate is not trusted"):
            await fetch(egress, f"https://127.0.0.1:{port}/")


async def test_of_a_names_addresses_only_those_that_may_be_asked_are_connected_to(
    tmp_path: Path,
) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0, ssl=own_certificate(tmp_path))
    names = Names({"both.example": ["10.0.0.1", "127.0.0.1"]})
    async with server, Egress(allow_loopback=True, resolver=names) as egress:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable, match="its certificate is not trusted"):
            await fetch(egress, f"https://both.example:{port}/")


def own_certificate(folder: Path) -> ssl.SSLContext:
    """A server's side of TLS with a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context

"""What leads a client to internal networks, or keeps it busy: at registration, at delivery.

Three tables: addresses that are refused without asking anyone, names whose addresses are refused
at the socket, and answers that never come to an end or are none. Each is tried in each way in which
the desk asks: an address is looked at (``check``), fetched, and sent to.
"""

from __future__ import annotations

import asyncio
from functools import partial
from unittest.mock import patch

import pytest
from aiohttp import AsyncResolver, web

from aitp_desk.auth.web_bot_auth.directories import MAX_FETCHES
from aitp_desk.egress import (
    MAX_REDIRECTS,
    AddressRefused,
    Egress,
    EgressError,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)
from tests.support.doubles.name_server import SILENT, name_server
from tests.support.doubles.remote_server import (
    PUBLIC,
    SOON,
    WAYS,
    Way,
    canary,
    each_way,
    fetch,
    only_one_is_public,
    send,
)
from tests.support.doubles.website import Names, Website, website

# --- Addresses: refused at registration and at delivery, and nobody was asked -------------------


LOOPBACK = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]"),
    # the same in other spellings of IPv4: one number, octal, hexadecimal, fewer or more parts
    *("2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1", "0x7F.1", "127.1"),
    *("127.0.1", "127.0.0.1.", "0", "0x0", "127.0.0.01", "127.0.0.256", "1.2.3.4.5", "4294967297"),
    # and of digits and dots: full width, circled, other scripts, ideographic full stops
    *("１２７.0.0.1", "①②⑦.0.0.1", "١٢٧.0.0.1", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1"),
    *("%31%32%37.0.0.1", "127.0.0.1%00.example.com", "127.0.0.1%2eexample.com"),
    # within IPv6: mapped, compatible, NAT64 (both prefixes), 6to4, Teredo, ISATAP of a link
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]"),
    *("[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]"),
    *("[64:ff9b:1:ffff::7f00:1]", "[2002:7f00:1::]", "[2001::7f00:1]", "[2001:0:7f00:1::1]"),
    "[fe80::5efe:7f00:1]",
    # zones
    *("[::1%25lo]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25]"),
    # names that are nobody else's
    *("localhost", "LOCALHOST", "localhost.", "localhost.localdomain.localhost", "a.localhost"),
    *("ｌｏｃａｌｈｏｓｔ", "ⓛocalhost", "localhost。", "loc\u00adalhost", "ip6-loopback"),
)

INNER = (
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "[fd00::1]", "[fc00::1]"),
    *("100.64.0.1", "100.127.255.255", "169.254.1.1", "[fe80::1]", "[fec0::1]"),
    # what clouds tell their machines
    *("169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "0xa9fea9fe", "[fd00:ec2::254]"),
    *("100.100.100.200", "192.0.0.192", "168.63.129.16", "metadata.google.internal", "metadata"),
    # tests of speed, documentation, protocols, nobody's, everybody's
    *("198.18.0.1", "198.19.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.0.0.1"),
    *("192.88.99.1", "240.0.0.1", "255.255.255.255", "224.0.0.1", "239.255.255.250"),
    *("[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[::2]"),
    # networks of one's own by name
    *(
        "printer.local",
        "db",
        "db.",
        "intranet",
        "host.docker.internal",
        "router.home.arpa",
        "nas.lan",
    ),
)

WORDED = (
    *("https://example.com@127.0.0.1/", "https://127.0.0.1@example.com/", "https://a:b@c.example/"),
    *("https://@example.com/", "https://:@example.com/", "https://a%40b@example.com/"),
    *("https://127.0.0.1#@example.com/", "https://127.0.0.1?@example.com/", "https://:80/"),
    *(
        "https://127.0.0.1\\@example.com/",
        "https:\\\\127.0.0.1/",
        "https:127.0.0.1",
        "//127.0.0.1/",
    ),
    *("https://example.com\t@127.0.0.1/", "https://exam\nple.com/", "https://example.com\r\n/"),
    *("http://example.com/", "http://1.1.1.1/", "HTTP://EXAMPLE.COM/", "ftp://example.com/"),
    *("file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "dict://127.0.0.1:11211/", "data:,x"),
    *(
        "unix:///run/docker.sock",
        "http+unix://%2Frun%2Fx/",
        "ws://example.com/",
        "jar:https://a.b!/",
    ),
    *("https://[::1", "https://::1/", "https://[127.0.0.1]/", "https://[::1]:99999/", "https:///x"),
    *("https://example.com:0/", "https://example.com:-1/", "https://example.com:8o/", "https://"),
)

REFUSED = (*(f"https://{host}:PORT/hunter2" for host in (*LOOPBACK, *INNER)), *WORDED)


async def test_an_internal_address_is_refused_in_every_spelling() -> None:
    names = Names({})
    async with canary() as (port, came), Egress(resolver=names) as egress:
        for text in REFUSED:
            url = text.replace("PORT", str(port))
            with pytest.raises(AddressRefused) as caught:
                egress.check(url)
            assert "hunter2" not in str(caught.value), url
            for way in WAYS:
                with pytest.raises(AddressRefused):
                    await way(egress, url)
    assert (names.asked, came) == ([], [])


async def test_a_redirect_to_an_internal_address_is_refused_in_every_spelling() -> None:
    async with canary() as (port, came), website() as site, Egress(allow_loopback=True) as egress:
        for text in (*(f"https://{host}:PORT/" for host in INNER), *WORDED):
            url = text.replace("PORT", str(port))
            if not url.isprintable():
                continue  # no header holds it
            for status in (301, 302, 303, 307, 308):
                site.put("/", b"", status=status, headers={"Location": url})
                with pytest.raises(EgressError):
                    await fetch(egress, f"{site.url}/")
                assert (await send(egress, f"{site.url}/")).status == status
    assert (set(site.paths()), came) == ({"/"}, [])


NAMES = {
    "loopback": [["127.0.0.1"]],
    "private": [["10.0.0.1"]],
    "metadata": [["169.254.169.254"]],
    "nobody": [["0.0.0.0"]],
    "broadcast": [["255.255.255.255"]],
    "many": [[f"10.0.0.{number}" for number in range(200)]],
    "six": [["::1"]],
    "mapped": [["::ffff:127.0.0.1"]],
    "translated": [["64:ff9b::7f00:1", "64:ff9b:1::7f00:1"]],
    "tunnelled": [["2002:7f00:1::1", "2001:0:7f00:1::1"]],
    "unique": [["fd00:ec2::254"]],
    "mixed": [["10.0.0.1", "::1", "127.0.0.1", "fe80::1"]],
    "alias": [["localhost", "127.0.0.1"]],
    "chain": [["b.example", "c.example", "db.internal", "10.0.0.1", "::1"]],
}
"""Parts of names, and what they lead to."""


@each_way
async def test_a_name_that_resolves_to_an_internal_address_is_refused_at_the_socket(
    way: Way,
) -> None:
    zone = {f"{name}.example": answers for name, answers in NAMES.items()}
    async with (
        canary() as (port, came),
        name_server(zone) as (server, resolver),
        Egress(resolver=resolver) as egress,
    ):
        for name in zone:
            egress.check(f"https://{name}:{port}/")
            with pytest.raises(AddressRefused, match=f"^{name} does not lead to a public"):
                await way(egress, f"https://{name}:{port}/")
    assert (server.asked, came) == ([*zone], [])


@each_way
async def test_a_name_that_resolves_to_an_internal_address_only_the_second_time_is_refused_then(
    way: Way,
) -> None:
    zone = {"rebound.example": [[PUBLIC], ["127.0.0.1"], ["::1", "::ffff:127.0.0.1"]]}
    async with canary() as (port, came), name_server(zone) as (server, resolver):
        with patch("aitp_desk.egress.addresses.is_public", only_one_is_public):
            for refused in (False, True, True):
                async with Egress(resolver=resolver) as egress:  # which remembers no name
                    with pytest.raises(AddressRefused if refused else Unreachable):
                        await way(egress, f"https://rebound.example:{port}/")
    assert server.asked == ["rebound.example"] * 3
    assert {place for place in came if PUBLIC not in place} == set()
    assert came


@each_way
async def test_where_the_public_address_of_a_name_is_deaf_no_other_is_tried(way: Way) -> None:
    zone = {"both.example": [[PUBLIC, "127.0.0.1", "127.0.0.3"]]}
    async with canary() as (port, came), name_server(zone) as (_, resolver):
        with patch("aitp_desk.egress.addresses.is_public", only_one_is_public):
            async with Egress(resolver=resolver) as egress:
                for _ in range(3):
                    with pytest.raises(EgressError):
                        await way(egress, f"https://both.example:{port}/")
    assert {place for place in came if PUBLIC not in place} == set()


async def test_a_redirect_to_a_name_that_resolves_to_an_internal_address_is_refused() -> None:
    zone = {"inner.example": [["10.0.0.1"]]}
    async with website() as site, name_server(zone) as (server, resolver):
        site.redirect("/", "https://inner.example/")
        async with Egress(allow_loopback=True, resolver=resolver) as egress:
            with pytest.raises(AddressRefused, match=r"^inner\.example does not lead"):
                await fetch(egress, f"{site.url}/")
            site.put("/", "hello")  # what was refused spoils nothing that comes after
            assert (await fetch(egress, f"{site.url}/")).body == b"hello"
    assert server.asked == ["inner.example"]


async def test_names_of_which_nothing_is_said_keep_no_other_name_waiting() -> None:
    zone = {"inner.example": [["10.0.0.1"]]}
    async with name_server(zone) as (server, resolver):
        asking = partial(AsyncResolver, nameservers=["127.0.0.1"], udp_port=resolver.port)
        with patch("aiohttp.AsyncResolver", asking):
            async with Egress() as egress:
                silent = [f"name{number}{SILENT}" for number in range(MAX_FETCHES)]
                waiting = [
                    asyncio.create_task(fetch(egress, f"https://{name}/", SOON)) for name in silent
                ]
                await asyncio.sleep(0)
                with pytest.raises(AddressRefused, match=r"^inner\.example does not lead"):
                    await fetch(egress, "https://inner.example/")
                assert not any(task.done() for task in waiting)
                kinds = {
                    type(one) for one in await asyncio.gather(*waiting, return_exceptions=True)
                }
    assert kinds == {TooSlow}
    assert set(server.asked) == {*silent, "inner.example"}


async def test_redirects_that_turn_in_a_circle_over_two_sites_end() -> None:
    async with website() as one, website() as other, Egress(allow_loopback=True) as egress:
        one.redirect("/", f"{other.url}/")
        other.redirect("/", f"{one.url}/")
        with pytest.raises(TooManyRedirects):
            await fetch(egress, f"{one.url}/")
    assert len(one.asked) + len(other.asked) == MAX_REDIRECTS + 1
    assert all("X-Own" in asked.headers for asked in one.asked)
    assert not any("X-Own" in asked.headers for asked in other.asked)


# --- Sending -------------------------------------------------------------------------------------


async def test_what_is_sent_arrives_as_it_is_once(site: Website) -> None:
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response(status=202, text="taken")

    site.handle("/hook?a=b", take)
    headers = {"Content-Type": "application/json", "Webhook-Id": "msg_1"}
    async with Egress(allow_loopback=True) as egress:
        told = await egress.send(
            f"{site.url}/hook?a=b", b'{"a":\xff', max_bytes=10, seconds=5, headers=headers
        )
    assert (told.status, told.body, bodies) == (202, b"taken", [b'{"a":\xff'])
    (asked,) = site.asked
    assert {name: asked.headers[name] for name in headers} == headers
    assert asked.headers["Content-Length"] == "6"
    assert asked.headers["User-Agent"] == "aitp-desk"
    assert "Cookie" not in asked.headers


async def test_a_header_of_two_lines_is_not_sent(site: Website) -> None:
    async with Egress(allow_loopback=True) as egress:
        for name, value in (("X-One", "1\r\nX-Two: 2"), ("X-One\r\nX-Two", "2"), ("X", "a\x00b")):
            with pytest.raises(EgressError):
                await egress.send(
                    f"{site.url}/", b"", max_bytes=10, seconds=5, headers={name: value}
                )
    assert site.asked == []

"""What is read from a sitemap, and what is refused to be one."""

import gzip
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.knowledge.web.sitemap import (
    MAX_ADDRESSES,
    MAX_SITEMAP_BYTES,
    Sitemap,
    SitemapError,
    read_sitemap,
)

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*addresses: str) -> bytes:
    entries = "".join(f"<url><loc>{escape(address)}</loc></url>" for address in addresses)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE}>{entries}</urlset>'.encode()


def refusal(payload: bytes) -> str:
    with pytest.raises(SitemapError) as caught:
        read_sitemap(payload)
    return str(caught.value)


def test_pages_are_read_in_their_order_each_once() -> None:
    payload = urlset("https://a.example/2", "https://a.example/1?x=1&y=2", "https://a.example/2")
    assert read_sitemap(payload) == Sitemap(
        pages=("https://a.example/2", "https://a.example/1?x=1&y=2")
    )


def test_a_list_of_sitemaps_differs_from_a_list_of_pages() -> None:
    payload = (
        f"<sitemapindex {NAMESPACE}><sitemap><loc> https://a.example/1.xml\n</loc>"
        "<lastmod>2026-01-01</lastmod></sitemap></sitemapindex>"
    )
    assert read_sitemap(payload.encode()) == Sitemap(sitemaps=("https://a.example/1.xml",))


def test_what_other_namespaces_add_is_passed_over() -> None:
    payload = (
        f'<urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        "<url><loc>https://a.example/</loc><image:image>"
        "<image:loc>https://a.example/picture.png</image:loc></image:image></url>"
        "<url><image:loc>https://a.example/other.png</image:loc></url></urlset>"
    )
    assert read_sitemap(payload.encode()).pages == ("https://a.example/",)


@pytest.mark.parametrize("space", ["", 'xmlns="http://www.google.com/schemas/sitemap/0.84"'])
def test_a_sitemap_without_the_namespace_is_read(space: str) -> None:
    payload = f"<urlset {space}><url><loc>https://a.example/</loc></url></urlset>"
    assert read_sitemap(payload.encode()).pages == ("https://a.example/",)


def test_a_gzipped_sitemap_is_unpacked() -> None:
    assert read_sitemap(gzip.compress(urlset("https://a.example/"))).pages == (
        "https://a.example/",
    )


@pytest.mark.slow
def test_a_gzipped_sitemap_is_unpacked_no_further_than_its_bound() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * (MAX_SITEMAP_BYTES * 4))
    assert "Unpacked it is larger" in refusal(bomb)


def test_what_nests_without_end_is_left_at_once() -> None:
    assert "nested too deeply" in refusal(b"<urlset>" + b"<a>" * 1000)


@pytest.mark.slow
def test_a_sitemap_lists_as_many_addresses_as_it_may_and_no_more() -> None:
    addresses = [f"https://a.example/{number}" for number in range(MAX_ADDRESSES)]
    assert len(read_sitemap(urlset(*addresses)).pages) == MAX_ADDRESSES
    assert "lists more than 50000 addresses" in refusal(urlset(*addresses, "https://a.example/"))


def test_a_document_type_is_refused_before_its_entities_are_read() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    payload = f'<!DOCTYPE urlset [<!ENTITY e0 "ha">{entities}]><urlset>&e11;</urlset>'
    assert "document type" in refusal(payload.encode())
    outside = '<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset></urlset>'
    assert "document type" in refusal(outside.encode())


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b"Not found", b"<html><body></body></html>", b"<rss><channel></channel></rss>"),
        *(urlset("https://a.example/")[:-5], gzip.compress(urlset("x"))[:-12], b"\x1f\x8bx"),
        b'<?xml version="1.0" encoding="nonsense"?><urlset></urlset>',
    ],
)
def test_what_is_no_sitemap_is_refused(payload: bytes) -> None:
    assert refusal(payload).endswith(".")


@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda text: b"<urlset>" + text))
def test_any_bytes_are_a_sitemap_or_refused(payload: bytes) -> None:
    try:
        found = read_sitemap(payload)
    except SitemapError:
        return
    assert not (found.pages and found.sitemaps)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)))
def test_what_is_listed_is_what_is_read(addresses: list[str]) -> None:
    assert read_sitemap(urlset(*addresses)).pages == tuple(dict.fromkeys(addresses))

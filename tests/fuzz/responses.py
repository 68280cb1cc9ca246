"""What other servers answer, when the desk asks them: their owners are no friends by that."""

from __future__ import annotations

from multidict import CIMultiDict
from protego import Protego

from aitp_desk.egress import USER_AGENT, Egress, Fetched
from aitp_desk.knowledge.web.round import ContentMissing, read_answer
from aitp_desk.knowledge.web.sitemap import MAX_ADDRESSES, SitemapError, read_sitemap
from aitp_desk.protocols.hac.linter import check_document
from tests.fuzz.target import JSON_WORDS, REFUSALS, Target, headers_of

_SITEMAP = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>https://www.example.com/a?b&amp;c</loc></url></urlset>"
)

_HAC = (
    b'{"data": 1, "_hac": {"version": "1.0", "actions": [{"rel": "edit", "method": "PUT",'
    b' "href": "/a/{id}{?q*}", "fields": [{"name": "id", "type": "integer", "enum": [1],'
    b' "default": 1}], "safety": {"mutability": "reversible", "reversible_within": "P1D",'
    b' "cost": {"amount": 1.5, "currency": "EUR"}}, "preconditions": ["a"]}]}}'
)
_HAC_ERROR = (
    b'{"error": {"code": "a", "message": "b", "retryable": true, "retry_after": 3,'
    b' "recovery": {"description": "c", "actions": []}}}'
)
_HAC_ROOT = b'{"_hac": {"name": "a", "resources": [{"rel": "b", "href": "/", "methods": ["GET"]}]}}'


def _sitemap(data: bytes) -> None:
    found = read_sitemap(data)
    assert len(found.pages) + len(found.sitemaps) <= MAX_ADDRESSES
    assert not (found.pages and found.sitemaps)


def _robots(data: bytes) -> None:
    rules = Protego.parse(data.decode("utf-8-sig", "replace"))
    rules.can_fetch("https://www.example.com/a/b.html?c=d", USER_AGENT)
    assert (rules.crawl_delay(USER_AGENT) or 0.0) >= 0


def _page(data: bytes) -> None:
    head, _, body = data.partition(b"\n\n")
    answer = Fetched(200, CIMultiDict(headers_of(head)), body, "https://www.example.com/a.md")
    kind, text = read_answer(answer)
    assert kind == "pdf" or text.decode("utf-8") is not None


def _hac(data: bytes) -> None:
    """What is said of an answer can be shown on a terminal, whatever the answer holds."""
    assert all(str(found).isprintable() for found in check_document(data))


def _egress(data: bytes) -> None:
    Egress().check(data.decode("utf-8", "replace"))


ELSEWHERE = (
    Target(
        "outside address",
        _egress,
        (b"https://example.com:8443/a?b#c", b"http://127.0.0.1/", b"https://[::ffff:7f00:1]/"),
        (b"://", b"@", b"%", b"0x", b"\\", b"[", b"xn--"),
        0.5,
    ),
    Target(
        "page from elsewhere",
        _page,
        (
            b"Content-Type: text/html; charset=utf-8\n\n<meta charset=latin1><p>Hello",
            b"Content-Type: text/plain; charset*=utf-8'en'koi8-r\n\nHello",
        ),
        (
            b"charset=",
            b"charset*0*=",
            b"utf-7",
            b"utf-16",
            b"idna",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b";",
        ),
        0.5,
        (*REFUSALS, ContentMissing),
    ),
    Target(
        "HAC answer",
        _hac,
        (_HAC, _HAC_ERROR, _HAC_ROOT),
        (*JSON_WORDS, b"{", b"}", b"P1YT", b"\\u001b[", b"x-", b"related", b"1e999", b"https:"),
        0.5,
    ),
    Target(
        "sitemap",
        _sitemap,
        (_SITEMAP, _SITEMAP.replace(b"urlset", b"sitemapindex").replace(b"url>", b"sitemap>")),
        (
            b"<loc>",
            b"</loc>",
            b"<!DOCTYPE a",
            b"<!ENTITY ",
            b"&#0;",
            b"encoding='utf-16'",
            b"<![CDATA[",
        ),
        0.5,
        (SitemapError,),
    ),
    Target(
        "robots.txt",
        _robots,
        (
            b"User-agent: *\nDisallow: /a*b$\nCrawl-delay: 2\n\nUser-agent: aitp-desk\nAllow: /",
            b"Sitemap: https://www.example.com/sitemap.xml\nRequest-rate: 1/10s 0800-1700",
        ),
        (
            b"User-agent: ",
            b"Disallow: ",
            b"Crawl-delay: ",
            b"*" * 20,
            b"$",
            b"%2f",
            b"%",
            b"nan",
            b"-1",
        ),
        0.2,
    ),
)

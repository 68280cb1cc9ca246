"""What browsers are told: pages of which origins may read an answer, and which may ask for one."""

import pytest
from multidict import CIMultiDict

from aitp_desk.config import Cors
from aitp_desk.http.cors import CorsHeaders, CorsPolicy

SITE = "https://desk.example"
SHOP = "https://shop.example"
BROWSERS = CorsPolicy(SITE, Cors(origins=(SHOP, "http://localhost:3000")))
FOREIGN = [
    *("https://evil.example", "null", "", "*", "https://", "://desk.example", "desk.example"),
    # nearly the site's, nearly one that was named
    *("http://desk.example", "https://desk.example:444", "https://desk.example:443"),
    *("https://desk.example.", "https://sub.desk.example", "https://desk.example.evil.example"),
    *("https://evil-shop.example", "https://shop.example/", "https://shop.example@evil.example"),
    *("https://SHOP.example", " https://shop.example", "https://shop.example https://evil.example"),
    *("http://localhost", "http://localhost:30000", "http://localhost:3000.evil.example"),
    *("file://", "chrome-extension://abc", "https://shop.example\x00", "https://shop.exampl\u0435"),
]


def told(method: str, origin: str | None, *, is_open: bool = False, **more: str) -> CorsHeaders:
    headers = CIMultiDict({"Host": "127.0.0.1:8080"})
    headers.update({name.replace("_", "-"): value for name, value in more.items()})
    if origin is not None:
        headers["Origin"] = origin
    return BROWSERS.make_headers(method, headers, is_open=is_open)


def allowed(answer: CorsHeaders) -> list[str]:
    assert not any("credentials" in name.lower() for name, _ in answer.headers)
    return [value for name, value in answer.headers if name == "Access-Control-Allow-Origin"]


def vary(answer: CorsHeaders) -> list[str]:
    return [value for name, value in answer.headers if name == "Vary"]


@pytest.mark.parametrize("origin", [SITE, SHOP, "http://localhost:3000"])
def test_an_origin_that_was_named_and_the_sites_own_are_answered_by_name(origin: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = told(method, origin)
        assert (allowed(answer), answer.is_refused, vary(answer)) == ([origin], False, ["Origin"])


def test_no_other_origin_is_repeated_and_none_of_them_may_write(subtests: pytest.Subtests) -> None:
    for origin in FOREIGN:
        with subtests.test(origin=origin):
            for method in ("GET", "HEAD", "OPTIONS"):
                answer = told(method, origin)
                assert (allowed(answer), answer.is_refused, vary(answer)) == ([], False, ["Origin"])
            for method in ("POST", "DELETE", "PUT", "PATCH", "get"):
                answer = told(method, origin)
                assert (allowed(answer), answer.is_refused, vary(answer)) == ([], True, ["Origin"])


def test_asked_ahead_they_are_refused_whatever_they_would_send(subtests: pytest.Subtests) -> None:
    for origin in FOREIGN:
        with subtests.test(origin=origin):
            for method in ("GET", "POST", "DELETE"):
                answer = BROWSERS.make_preflight_headers(
                    method, CIMultiDict(Origin=origin), methods=("GET", "POST"), is_open=False
                )
                assert (allowed(answer), answer.is_refused) == ([], True)


def test_what_is_there_to_be_found_is_open_to_every_origin_in_the_same_words(
    subtests: pytest.Subtests,
) -> None:
    cases: list[str | None] = [None, SITE, *FOREIGN]
    for origin in cases:
        with subtests.test(origin=origin):
            answer = told("GET", origin, is_open=True)
            assert (allowed(answer), vary(answer)) == (["*"], [])
            assert answer == told("GET", None, is_open=True)


def test_discovery_can_be_closed() -> None:
    closed = CorsPolicy(SITE, Cors(origins=(SHOP,), open_discovery=False))
    for origin, expected in ((SHOP, [SHOP]), (SITE, [SITE]), ("https://evil.example", [])):
        answer = closed.make_headers("GET", CIMultiDict(Origin=origin), is_open=True)
        assert (allowed(answer), vary(answer)) == (expected, ["Origin"])


def test_without_an_origin_nobody_is_refused_and_caches_are_told_that_it_matters() -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = told(method, None)
        assert (allowed(answer), answer.is_refused, vary(answer)) == ([], False, ["Origin"])


def test_a_page_of_the_very_address_that_it_asks_may_ask_it() -> None:
    assert not told("POST", "http://127.0.0.1:8080").is_refused
    assert not told("POST", "http://desk:80", Sec_Fetch_Site="same-origin").is_refused
    assert told("POST", "http://127.0.0.1:8081").is_refused
    assert told("POST", "127.0.0.1:8080").is_refused
    assert told("POST", "gopher://127.0.0.1:8080").is_refused
    assert told("POST", "http://desk.example", Host="desk.example").is_refused
    assert told("POST", "http://desk:80", Sec_Fetch_Site="same-site").is_refused


def test_encryption_is_demanded_from_now_on_exactly_where_the_site_has_it() -> None:
    for site, demanded in ((SITE, True), ("http://desk.example", False)):
        for is_open in (True, False):
            answer = CorsPolicy(site, Cors()).make_headers("GET", CIMultiDict(), is_open=is_open)
            assert (dict(answer.headers).get("Strict-Transport-Security") is not None) is demanded


def told_own(origin: str | None = None, **more: str) -> CorsHeaders:
    headers = CIMultiDict({"Host": "127.0.0.1:8080"})
    headers.update({name.replace("_", "-"): value for name, value in more.items()})
    if origin is not None:
        headers["Origin"] = origin
    return BROWSERS.make_same_origin_headers(headers)


def test_what_is_for_the_desks_own_pages_is_for_no_other_origin(subtests: pytest.Subtests) -> None:
    cases: list[str] = [*FOREIGN, SHOP, "http://localhost:3000"]
    for origin in cases:
        with subtests.test(origin=origin):
            answer = told_own(origin)
            assert (allowed(answer), answer.is_refused, vary(answer)) == ([], True, ["Origin"])


def test_the_desks_own_pages_and_who_is_no_page_are_answered_there() -> None:
    for answer in (
        told_own(),
        told_own(SITE),
        told_own("http://127.0.0.1:8080"),
        told_own(Sec_Fetch_Site="same-origin"),
        told_own("null", Sec_Fetch_Site="same-origin"),
        told_own(Sec_Fetch_Site="none"),
        told_own(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"),
    ):
        assert (allowed(answer), answer.is_refused) == ([], False)


@pytest.mark.parametrize("came_from", ["cross-site", "same-site", "", "elsewhere"])
def test_what_a_browser_says_of_where_a_request_comes_from_counts(came_from: str) -> None:
    assert told_own(Sec_Fetch_Site=came_from).is_refused
    assert told_own(Sec_Fetch_Site=came_from, Sec_Fetch_Mode="no-cors").is_refused
    assert told_own(SITE, Sec_Fetch_Site=came_from).is_refused
    assert told_own("null", Sec_Fetch_Site=came_from, Sec_Fetch_Mode="navigate").is_refused

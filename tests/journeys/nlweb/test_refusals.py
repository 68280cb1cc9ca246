"""Questions over NLWeb that are wrong, hostile, too many, or of a foreign page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.nlweb import ask, post, structured, write_site
from tests.support.clients.threads import Talker, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODES = ["list", "summarize", "generate"]
MISSING: Any = (400, "MISSING_FIELD", "query")


def bad(param: str) -> Any:
    return 400, "INVALID_REQUEST", param


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({}, MISSING),
        ({"query": ""}, MISSING),
        ({"query": " \n"}, MISSING),
        ({"query": {}}, (400, "MISSING_FIELD", "query.text")),
        ({"query": {"text": None}}, (400, "MISSING_FIELD", "query.text")),
        ({"query": 7}, bad("query")),
        ({"query": ["a"]}, bad("query")),
        ({"query": "a" * 4097}, bad("query")),
        ({"query": {"text": ["a"]}}, bad("query.text")),
        ({"query": "a", "mode": "dance"}, bad("mode")),
        ({"query": "a", "mode": 3}, bad("mode")),
        ({"query": "a", "generate_mode": "dance"}, bad("generate_mode")),
        ({"query": "a", "streaming": "perhaps"}, bad("streaming")),
        ({"query": "a", "streaming": []}, bad("streaming")),
        ({"query": "a", "prev": 7}, bad("prev")),
        ({"query": "a", "prev": [{"query": "b"}]}, bad("prev")),
        ({"query": "a", "prev": ["b" * 4097]}, bad("prev")),
        ({"query": "a", "query_id": "b" * 129}, bad("query_id")),
        ({"query": "a", "site": 7}, bad("site")),
        ({"query": "a", "site": "elsewhere"}, (404, "AGENT_NOT_FOUND", "site")),
        ({"query": "a", "max_results": 0}, bad("max_results")),
        ({"query": "a", "max_results": True}, bad("max_results")),
        ({"query": "a", "max_results": "many"}, bad("max_results")),
        ({"query": "a", "min_score": -1}, bad("min_score")),
        ({"query": {"text": "a"}, "prefer": []}, bad("prefer")),
        ({"query": {"text": "a"}, "context": "b"}, bad("context")),
        ({"query": {"text": "a"}, "context": {"prev": {}}}, bad("context.prev")),
        ({"query": {"text": "a"}, "meta": {"session_context": 1}}, bad("meta.session_context")),
        ([], (400, "INVALID_REQUEST", None)),
        (b"{", (400, "INVALID_REQUEST", None)),
        (b"", (400, "INVALID_REQUEST", None)),
        (b'{"query": "a", "query": "b"}', (400, "INVALID_REQUEST", None)),
        (b'{"query": "a\\u0000"}', (400, "INVALID_REQUEST", None)),
        (b'{"query": "\\ud800"}', (400, "INVALID_REQUEST", None)),
        (b'{"prev": ' + b"[" * 40 + b"]" * 40 + b"}", (400, "INVALID_REQUEST", None)),
        (b'{"query": "' + b"a" * 70_000 + b'"}', (413, "REQUEST_TOO_LARGE", None)),
    ],
)
async def test_what_is_wrong_is_named(camp: Talker, body: Any, refusal: Any) -> None:
    assert (await post(camp, body)).refusal == refusal


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("", MISSING),
        ("?query=", MISSING),
        ("?query=a%00b", bad("query")),
        ("?query=a&prev=%00", bad("prev")),
        ("?query=a&mode=%00", bad("mode")),
        ("?query=a&site=%00", bad("site")),
    ],
)
async def test_what_is_wrong_in_parameters_is_named(camp: Talker, query: str, refusal: Any) -> None:
    async with camp.http.get(f"/ask{query}") as response:
        error = (await response.json())["error"]
        assert (response.status, error["code"], error.get("param")) == refusal


@pytest.mark.parametrize(
    "text", ["</script><script>", '" onload="', "\u202egnp.exe", "%s%n{0}", "a\r\ndata: b\n\n"]
)
async def test_a_hostile_question_is_only_text(camp: Talker, text: str) -> None:
    for mode in MODES:
        got = await ask(camp, query=text, query_id=text, mode=mode)
        assert got.status == 200
        assert {event["query_id"] for event in got.told} == {text}
        assert got.told[-1]["message_type"] == "complete"


FOREIGN = "https://elsewhere.example"
FOLLOWED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": FOREIGN}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        (FOLLOWED, 200),
        ({**FOLLOWED, "Sec-Fetch-Dest": "document"}, 200),
        ({**FOLLOWED, "Sec-Fetch-Dest": "iframe"}, 403),
        ({**FOLLOWED, "Sec-Fetch-Dest": "document", "Sec-Purpose": "prefetch"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "no-cors"}, 200),
    ],
)
async def test_no_foreign_page_has_its_visitors_ask(
    camp: Talker, headers: dict[str, str], status: int
) -> None:
    """A browser loads a ``GET`` without a preflight, as a picture or by a script."""
    for path in ("/ask?query=Tarn+tent", "/ask?query=Tarn+tent&streaming=false"):
        async with camp.http.get(path, headers=headers) as response:
            assert response.status == status
            if status == 403:
                assert (await response.json())["error"]["code"] == "FORBIDDEN"


async def test_limits_are_those_of_questions(tmp_path: Path) -> None:
    blocks = '[[agent_limits]]\nname = "Reader"\nactions = ["contact"]\n'
    site = write_site(tmp_path / "site")
    (site / "desk.toml").write_text(blocks)
    settings = ("limits.enabled=true", "limits.converse_per_minute=4")
    async with talking(tmp_path, *settings, site=site) as talker:
        for mode in ("list", "generate"):
            params = {"query": "a tent", "mode": mode}
            agent = {"User-Agent": "Reader/1.0"}
            async with talker.http.get("/ask", params=params, headers=agent) as response:
                body = await response.json()
                assert (response.status, body["error"]["code"]) == (403, "FORBIDDEN")
        assert (await ask(talker, query="a tent")).status == 200
        assert (await post(talker, structured("a tent"))).status == 200
        refused = await ask(talker, query="a tent")
        assert refused.refusal == (429, "RATE_LIMITED", None)
        assert int(refused.headers["Retry-After"]) >= refused.body["error"]["retry_after"] > 0


async def test_a_foreign_page_uses_up_no_questions_of_its_visitors(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site")
    settings = ("limits.enabled=true", "limits.converse_per_minute=2")
    async with talking(tmp_path, *settings, site=site) as talker:
        for _ in range(3):
            headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
            async with talker.http.get("/ask?query=a+tent", headers=headers) as response:
                assert response.status == 403
            async with talker.http.post(
                "/agent/converse", data="Hello", headers={"Origin": FOREIGN}
            ) as response:
                assert response.status == 403
        assert (await ask(talker, query="a tent")).status == 200


async def test_the_site_is_named_in_capitals_or_not(tmp_path: Path) -> None:
    settings = "site.url=https://Camp.Example:8443"
    async with talking(tmp_path, settings, site=write_site(tmp_path / "site")) as talker:
        for site in ("camp.example:8443", "Camp.Example:8443", "https://camp.example:8443"):
            params = {"query": "a tent", "site": site, "streaming": "false"}
            host = {"Host": "camp.example:8443"}
            async with talker.http.get("/ask", params=params, headers=host) as response:
                assert response.status == 200, await response.text()

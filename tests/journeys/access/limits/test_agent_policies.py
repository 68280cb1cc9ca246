"""What an agent may do less by the name in its User-Agent, and callers of a tier more or less."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn, Usage
from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONTENT, MANIFEST, Said, Visitor, visiting
from tests.support.doubles.agent import Clock, ScriptedAgent

QUERY = "What does gift wrapping cost?"
BLOCKS = """
[[agent_limits]]
name = "SlowBot"
per_minute = 2

[[agent_limits]]
name = "eager"
per_minute = 1000

[[agent_limits]]
name = "narrow"
actions = ["contact", "site_info"]

[[agent_limits]]
name = "*"
per_minute = 4
"""
LIMITS = (
    "limits.enabled=true",
    "limits.converse_per_minute=5",
    "limits.authenticated_per_minute=7",
    'server.trusted_proxies=["127.0.0.1"]',
)


@asynccontextmanager
async def asking(
    folder: Path, tables: str, *settings: str, agent: ScriptedAgent | None = None
) -> AsyncIterator[Visitor]:
    """A desk with these tables in its file, on a clock that stands still."""
    site = folder / "site"
    site.mkdir()
    (site / "desk.toml").write_text(tables, encoding="utf-8")
    (site / "about.md").write_text("# Wrapping\n\nGift wrapping costs 3 EUR.\n", encoding="utf-8")
    data = folder / "data"
    async with visiting(data, *LIMITS, *settings, folder=site, clock=Clock(), agent=agent) as v:
        yield v


def from_(address: str, user_agent: str) -> list[tuple[str, str]]:
    return [("X-Forwarded-For", address), ("User-Agent", user_agent)]


async def passed(visitor: Visitor, headers: list[tuple[str, str]], **context: Any) -> int:
    """How many questions are answered within a minute."""
    for asked in range(20):
        if (await visitor.ask(QUERY, headers=headers, **context)).status == 429:
            return asked
    raise AssertionError("Nothing was refused.")


@pytest.mark.requirement(
    "AGT-1.2-2", "AGT-3.6-1", "AGT-3.6-2", "AGT-3.6-5", "AGT-7.2-2", "AGT-7.2-3", "AHP-11.3-2",
)  # fmt: skip
async def test_a_named_agent_may_do_less_than_its_address_and_never_more(tmp_path: Path) -> None:
    table: list[tuple[str, dict[str, str], int]] = [
        ("SlowBot/2.0 (+https://slow.example)", {}, 2),
        ("slowbot", {}, 2),
        ("SLOWBOT other/1.0", {}, 2),
        # a block with a higher rate loosens nothing
        ("eager/1.0", {}, 5),
        # it is the first word that counts, and all of it
        ("Mozilla/5.0 (compatible; SlowBot/2.0)", {}, 4),
        ("SlowBotter/1.0", {}, 4),
        ("SlowBot-Image/1.0", {}, 4),
        ("*", {}, 4),
        ("", {}, 4),
        ("/", {}, 4),
        # the name that stands in the question is held to its block as well
        ("eager/1.0", {"requesting_agent": "SlowBot/1.0"}, 2),
        ("SlowBot/1.0", {"requesting_agent": "slowbot"}, 2),
        ("SlowBot/1.0", {"requesting_agent": "eager"}, 2),
        ("eager/1.0", {"requesting_agent": "*"}, 5),
        ("eager/1.0", {"requesting_agent": "nobody"}, 5),
    ]
    async with asking(tmp_path, BLOCKS) as visitor:
        for number, (user_agent, context, most) in enumerate(table):
            headers = from_(f"198.51.100.{number}", user_agent)
            assert await passed(visitor, headers, **context) == most, (user_agent, context)


async def test_the_refusal_says_that_it_is_the_agent_and_how_long_to_wait(tmp_path: Path) -> None:
    headers = from_("198.51.100.1", "SlowBot/1.0")
    async with asking(tmp_path, BLOCKS) as visitor:
        first = await visitor.ask(QUERY, headers=headers)
        assert (first.headers["X-RateLimit-Limit"], first.headers["X-RateLimit-Remaining"]) == (
            "2",
            "1",
        )
        # reading counts too: an agent's limit is for all that it does (agents.txt 1.0, 7.2)
        async with visitor.http.get(MANIFEST, headers=headers) as response:
            assert response.headers["X-RateLimit-Remaining"] == "0"
        refused = await visitor.ask(QUERY, headers=headers)
        assert refused.refusal == (429, "rate_limited", None)
        assert refused.body["scope"] == "agent"
        assert refused.body["retry_after"] == 60
        assert refused.headers["Retry-After"] == "60"
        assert "SlowBot" in refused.body["message"]
        async with visitor.http.post("/v1/threads", json={}, headers=headers) as response:
            assert response.status == 429
            assert (await response.json())["error"]["code"] == "rate_limited"
        async with visitor.http.get(CONTENT, headers=headers) as response:
            assert response.status == 429


async def test_a_caller_who_changes_names_shares_the_allowance_of_the_address(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path, BLOCKS) as visitor:
        names = ["SlowBot", "SlowBot", "eager", "other", "SlowBot", "eager"]
        statuses = [
            (await visitor.ask(QUERY, headers=from_("198.51.100.1", name))).status for name in names
        ]
        assert statuses == [200, 200, 200, 200, 429, 429]
        # the same name elsewhere is another's
        assert await passed(visitor, from_("198.51.100.2", "SlowBot")) == 2


@pytest.mark.requirement("AGT-3.6-3")
async def test_an_agent_calls_what_its_block_lists_and_nothing_else(tmp_path: Path) -> None:
    narrow = from_("198.51.100.1", "narrow/1.0")
    async with asking(tmp_path, BLOCKS, "limits.converse_per_minute=50") as visitor:
        assert (await visitor.ask(QUERY, "contact", headers=narrow)).status == 200
        assert (await visitor.ask(QUERY, "site_info", headers=narrow)).status == 200
        refused = await visitor.ask(QUERY, headers=narrow)
        assert refused.refusal == (403, "forbidden", None)
        assert "contact, site_info" in refused.body["message"]
        # nor by the name in the question, nor as a conversation, whatever the address there
        by_name = await visitor.ask(
            QUERY, headers=from_("198.51.100.2", "eager"), requesting_agent="Narrow/2"
        )
        assert by_name.status == 403
        for method, path in (("POST", "/v1/threads"), ("GET", "/v1/threads/none")):
            async with visitor.http.request(method, path, json={}, headers=narrow) as response:
                assert response.status == 403, path
                assert (await response.json())["error"]["code"] == "forbidden"
        async with visitor.http.get(CONTENT, headers=narrow) as response:
            assert response.status == 200
        # what a narrow agent was refused others are answered, and the other way round
        assert (await visitor.ask(QUERY, headers=from_("198.51.100.3", "eager"))).status == 200
        assert (await visitor.ask(QUERY, headers=narrow)).status == 403


async def test_a_block_may_list_threads(tmp_path: Path) -> None:
    tables = '[[agent_limits]]\nname = "talker"\nactions = ["threads"]\n'
    headers = from_("198.51.100.1", "talker")
    async with asking(tmp_path, tables) as visitor:
        async with visitor.http.post("/v1/threads", json={}, headers=headers) as response:
            assert response.status == 200
        assert (await visitor.ask(QUERY, headers=headers)).status == 403


async def test_a_key_is_held_to_the_block_of_the_agent_that_uses_it(tmp_path: Path) -> None:
    async with asking(tmp_path, BLOCKS) as visitor:
        key = ("X-AHP-Key", await make_key(visitor.desk.store, tmp_path / "data"))
        assert await passed(visitor, [key, ("User-Agent", "SlowBot")]) == 2
        assert await passed(visitor, [key, ("User-Agent", "eager")]) == 7 - 2 - 1


async def test_blocks_hold_for_nobody_while_limits_are_switched_off(tmp_path: Path) -> None:
    async with asking(tmp_path, BLOCKS, "limits.enabled=false") as visitor:
        said = [await visitor.ask(QUERY, headers=from_("::1", "narrow")) for _ in range(6)]
    assert [one.status for one in said] == [200] * 6


@pytest.mark.requirement("AHP-11.5-1")
async def test_the_manifest_declares_what_an_agent_without_a_block_may_do(tmp_path: Path) -> None:
    async with asking(tmp_path, BLOCKS) as visitor:
        async with visitor.http.get(MANIFEST) as response:
            declared = (await response.json())["rate_limits"]
        assert declared["unauthenticated"]["requests"] == "4/minute"
        assert declared["authenticated"]["requests"] == "4/minute"
        assert await passed(visitor, from_("198.51.100.1", "stranger")) == 4


# --- tiers ----------------------------------------------------------------------------------

TIERS = """
[[tiers]]
name = "partners"
principals = ["key:{partner}", "jwt:staff:*"]
converse_per_minute = 9
static_per_minute = 3
session_tokens = 300
day_tokens = 500

[[tiers]]
name = "operators"
scopes = ["operator"]
converse_per_minute = 11
"""


def using(tokens: int) -> ScriptedAgent:
    async def answer(_turn: Turn) -> Outcome:
        return Answer("So it is.", usage=Usage(tokens, 0, 0), tokens_used=tokens)

    return ScriptedAgent(answer)


@pytest.mark.requirement("AHP-11.2-1", "AHP-11.3-2")
async def test_a_caller_has_the_limits_of_its_tier(tmp_path: Path) -> None:
    """The ids of keys are made by the desk: so the keys come first, then the file names one."""
    data = tmp_path / "data"
    async with visiting(data, *LIMITS) as visitor:
        keys = {
            name: await make_key(visitor.desk.store, data, *scopes, name=name)
            for name, scopes in {
                "partner": ("threads", "operator"),
                "operator": ("operator",),
                "anybody": ("threads",),
            }.items()
        }
    tables = TIERS.replace("{partner}", keys["partner"].split("_")[1])
    async with asking(tmp_path, tables) as visitor:

        async def told(name: str) -> tuple[str, str]:
            headers = [("X-AHP-Key", keys[name])]
            asked: Said = await visitor.ask(QUERY, headers=headers)
            async with visitor.http.get(MANIFEST, headers=headers) as response:
                return asked.headers["X-RateLimit-Limit"], response.headers["X-RateLimit-Limit"]

        # the first tier that a caller belongs to; what that leaves open is as for everybody
        assert await told("partner") == ("9", "3")
        assert await told("operator") == ("11", "7")
        assert await told("anybody") == ("7", "7")
        assert await passed(visitor, [("X-AHP-Key", keys["operator"])]) == 11 - 1
        # nothing that a request says of itself makes it one of a tier
        headers = from_("198.51.100.1", f"key:{keys['partner'].split('_')[1]}")
        assert (await visitor.ask(QUERY, headers=headers)).headers["X-RateLimit-Limit"] == "5"


async def test_a_tier_has_separate_tokens(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with visiting(data, *LIMITS) as visitor:
        key = await make_key(visitor.desk.store, data)
        other = await make_key(visitor.desk.store, data, name="other")
    tables = TIERS.replace("{partner}", key.split("_")[1])
    settings = (
        "limits.authenticated_session_tokens=100",
        "limits.day_tokens=100",
        "cache.max_answers=0",
    )
    async with asking(tmp_path, tables, *settings, agent=using(100)) as visitor:

        async def spend(key: str) -> tuple[list[int], list[int]]:
            headers = [("X-AHP-Key", key)]
            said = await visitor.ask("One?", headers=headers)
            id_ = said.session_id
            more = [await visitor.ask("Two?", session_id=id_, headers=headers) for _ in range(3)]
            new = [await visitor.ask("Three?", headers=headers) for _ in range(3)]
            return [one.status for one in (said, *more)], [one.status for one in new]

        assert await spend(key) == ([200, 200, 200, 429], [200, 200, 429])
        assert await spend(other) == ([200, 429, 429, 429], [429, 429, 429])

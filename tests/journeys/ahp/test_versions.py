"""Versions of the protocol: what is understood, what is refused, and who is never asked for one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clients.ahp import CONTENT, MANIFEST, Said, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = {"capability": "content_search", "query": "What does gift wrapping cost?"}
LATER = {"priority": "high", "context": {"mood": "good", "max_tokens": 50}}
"""Members that version 0.1 does not know, next to one that it does."""


async def ask_in(visitor: Visitor, version: object, more: dict[str, Any] | None = None) -> Said:
    return await visitor.post(QUESTION | (more or {}) | {"ahp": version})


@pytest.mark.requirement("AHP-6.1-1", "AHP-12-1")
@pytest.mark.parametrize("version", ["0.1", "0.0", "0.2", "0.12", "0.10000", "00.1", "0.01", None])
async def test_every_version_before_1_0_is_answered_the_same_way(
    visitor: Visitor, version: str | None
) -> None:
    without = await visitor.post(QUESTION)
    said = await ask_in(visitor, version)
    assert said.status == without.status == 200
    assert said.body["response"] == without.body["response"]


@pytest.mark.parametrize("version", ["0.2", "0.12"])
async def test_a_later_minor_version_may_bring_members_that_are_passed_over(
    visitor: Visitor, version: str
) -> None:
    said = await ask_in(visitor, version, LATER)
    assert said.status == 200
    assert len(said.answer) <= 50 * 4  # what is known of it is heard


@pytest.mark.parametrize("version", ["0.1", "0.0", None])
async def test_in_this_version_a_member_that_nobody_knows_is_refused(
    visitor: Visitor, version: str | None
) -> None:
    said = await ask_in(visitor, version, LATER)
    assert said.refusal == (400, "invalid_request", None)
    assert said.body["param"] == "priority"


async def test_what_is_known_is_checked_in_later_versions_too(visitor: Visitor) -> None:
    said = await ask_in(visitor, "0.2", {"context": {"max_tokens": "many"}})
    assert said.refusal == (400, "invalid_request", None)
    assert said.body["param"] == "context.max_tokens"


@pytest.mark.requirement("AHP-6.1-1", "AHP-12-1")
@pytest.mark.parametrize("version", ["1.0", "1.1", "2.7", "10.1", "99999.0", "1.10000", "01.0"])
async def test_another_major_version_is_refused_with_the_way_back(
    visitor: Visitor, version: str
) -> None:
    said = await ask_in(visitor, version, {"something": "new", "query": None})
    assert said.refusal == (400, "invalid_request", "unsupported_version")
    assert said.body["param"] == "ahp"
    assert version in said.body["message"]
    assert said.body["supported"] == ["0.1"]
    async with visitor.http.get(said.body["manifest"]) as response:
        assert response.status == 200
        assert (await response.json())["ahp"] in said.body["supported"]


@pytest.mark.parametrize(
    "version",
    [
        "",
        "0",
        "1",
        "v0.1",
        "v1.0",
        "0.1.0",
        "1.0.0",
        ".1",
        "0.",
        "0.1 ",
        "0.1\n",
        "-0.1",
        "0.x",
        "0,1",
        "٠.١",
        "0." + "9" * 99,
        0.1,
        1,
        0,
        True,
        False,
        [],
        ["0.1"],
        {},
    ],
)
async def test_what_is_no_version_is_refused_with_what_would_be_one(
    visitor: Visitor, version: object
) -> None:
    said = await ask_in(visitor, version)
    assert said.refusal == (400, "invalid_request", None)
    assert said.body["param"] == "ahp"
    assert '"0.1"' in said.body["message"]


@pytest.mark.requirement("AHP-12-2")
@pytest.mark.parametrize("path", [MANIFEST, CONTENT, "/", "/about"])
@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/agent+json"])
async def test_who_only_reads_is_never_asked_for_a_version(
    visitor: Visitor, path: str, accept: str
) -> None:
    async with visitor.http.get(path, headers={"Accept": accept}) as response:
        status, plain = response.status, await response.read()
    assert status in {200, 302}
    for version in ("0.1", "7.3", "none"):
        headers = {"Accept": accept, "AHP": version, "AHP-Version": version, "X-AHP": version}
        async with visitor.http.get(path, params={"ahp": version}, headers=headers) as response:
            assert response.status == status
            assert await response.read() == plain

"""The two addresses for watchers of the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.desk.maintenance.readiness import Readiness
from tests.support.clients.ahp import Visitor, visiting

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("host", [None, "elsewhere.example", "10.0.0.7:8080", "not a host"])
@pytest.mark.parametrize("path", ["/health", "/ready"])
async def test_a_watcher_may_ask_by_any_name(visitor: Visitor, path: str, host: str | None) -> None:
    headers = {} if host is None else {"Host": host}
    async with visitor.http.get(path, headers=headers) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "application/json"
        assert response.headers["Cache-Control"] == "no-store"


async def test_an_alive_process_says_ok(visitor: Visitor) -> None:
    async with visitor.http.get("/health") as response:
        assert await response.json() == {"status": "ok"}


async def test_a_ready_desk_says_with_what_it_works(visitor: Visitor) -> None:
    async with visitor.http.get("/ready") as response:
        said = await response.json()
    said.pop("worker", None)  # of a process next to others
    library = visitor.desk.desk.knowledge.library
    assert said == {
        "ready": True,
        "working": True,
        "documents": 4,
        "passages": len(library.passages),
        "problems": 0,
        "agent": "extractive",
        "notes": [],
        "status": "up",
    }


async def test_a_desk_that_is_not_ready_says_503_and_stays_alive(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_ready() -> Readiness:
        return Readiness(ready=False, working=False, documents=4, passages=9, problems=0)

    monkeypatch.setattr(visitor.desk.desk.readiness, "check", not_ready)
    async with visitor.http.get("/ready") as response:
        assert response.status == 503
        assert (await response.json())["ready"] is False
    async with visitor.http.get("/health") as response:
        assert response.status == 200


async def test_content_that_could_not_be_read_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nText.\n")
    (folder / "bad.txt").write_bytes(b"caf\xe9")
    async with (
        visiting(tmp_path / "data", folder=folder) as visitor,
        visitor.http.get("/ready") as response,
    ):
        said = await response.json()
    assert (said["ready"], said["documents"], said["problems"]) == (True, 1, 1)


async def test_watchers_are_never_limited_nor_counted(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=1")
    async with visiting(tmp_path / "data", *settings) as visitor:
        for method, path, status in [
            *[("GET", "/health", 200), ("GET", "/ready", 200)] * 3,
            *[("HEAD", "/health", 200), ("POST", "/ready", 405)] * 2,
        ]:
            async with visitor.http.request(method, path) as response:
                assert response.status == status
                assert not any(name.startswith("X-RateLimit") for name in response.headers)
        async with visitor.http.get("/llms.txt") as response:
            assert response.status == 200
        async with visitor.http.get("/llms.txt") as response:
            assert response.status == 429

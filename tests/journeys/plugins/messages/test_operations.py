"""How a desk is, asked and told over HTTP: on a thread, over AHP and as a tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import pytest_asyncio

from aitp_desk.config import ConfigError
from aitp_desk.desk.maintenance.readiness import JOBS_DEAD
from tests.support.clients.mcp import MODES, Mode, tool_user
from tests.support.clients.threads import Talker
from tests.support.desk.jobs import give_up_a_job
from tests.support.desk.server import serving
from tests.support.doubles.agent import Clock
from tests.support.plugins.operations import EXAMPLES, POINTS, PUBLISHED, SLUG, watching
from tests.support.plugins.packages import installed

pytestmark = pytest.mark.asyncio(loop_scope="module")

GUEST = "https://guest.example"
SERVED = "/capabilities/operations/v1/schema.json"
TOLD = {"status": "up", "checked_at": "2027-01-15T08:00:00Z"}
NOT_TOLD = (
    "Only operators receive the state of each component: use a credential with the scope operator."
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with watching(tmp_path_factory.mktemp("desk"), clock=Clock()) as talker:
        yield talker


def part(schema: str = SLUG, **message: Any) -> str:
    return json.dumps({"$schema": schema, **message})


async def ask(desk: Talker, content: str, *schemas: str) -> str:
    """Put a healthcheck on a thread of one's own, and return what is answered.

    Parameters:
        schemas: what a caller who asks has declared.
    """
    declared = {"id": GUEST, "capabilities": [{"schema": schema} for schema in schemas]}
    thread = (await desk.open(metadata={"actors": [declared]})).id
    assert (await desk.post(thread, content)).status == 200
    _, answer = await desk.texts(thread)
    return answer


@pytest.mark.requirement("AITP-capabilities-6")
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
async def test_every_example_of_the_draft_is_answered_as_the_schema_says(
    desk: Talker, example: dict[str, Any]
) -> None:
    async with desk.http.get(SERVED) as served:
        schema = await served.json(content_type=None)
    jsonschema.validate(example, schema)
    answer = json.loads(await ask(desk, json.dumps(example), PUBLISHED))
    jsonschema.validate(answer, schema)
    assert answer.pop("$schema") == desk.desk.url + SERVED
    note = {"note": NOT_TOLD} if example["healthcheck"].get("type") == "full" else {}
    assert answer == {"health": TOLD | note}


async def test_who_has_declared_nothing_reads_it_in_words(desk: Talker) -> None:
    thread = (await desk.open()).id
    await desk.post(thread, part(healthcheck={}))
    assert await desk.texts(thread) == ["How are you?", "Status: up."]
    assert await ask(desk, part(healthcheck={"type": "full"})) == f"Status: up.\n{NOT_TOLD}"


@pytest.mark.sqlite
async def test_those_who_run_the_desk_are_told_of_each_part(desk: Talker) -> None:
    operator = await desk.with_key("operator", "threads")
    answer = json.loads(await ask(operator, part(healthcheck={"type": "full"}), SLUG))
    told = {one.pop("name"): one for one in answer["health"]["components"]}
    own = ["store", "jobs", "runs", "agent", "knowledge", "actions", "files"]
    assert list(told) == [*own, "capability:operations"]
    assert told["store"] == {"status": "up", "since": "2027-01-15T08:00:00Z"}
    simple = json.loads(await ask(operator, part(healthcheck={}), SLUG))
    assert "components" not in simple["health"]


@pytest.mark.parametrize("wrong", [{"type": "deep"}, {"type": 1}, [], "full"])
async def test_what_is_no_healthcheck_is_refused(desk: Talker, wrong: object) -> None:
    thread = (await desk.open()).id
    refused = await desk.post(thread, part(healthcheck=wrong))
    assert refused.status == 400
    assert refused.body["error"]["param"].startswith("content[0].healthcheck")
    assert await desk.texts(thread) == []


async def test_what_others_report_of_their_health_is_kept_without_effect(
    desk: Talker,
) -> None:
    thread = (await desk.open()).id
    health = {"status": "down", "checked_at": "2027-01-15T08:00:00Z"}
    assert (await desk.post(thread, part(health=health))).status == 200
    assert await desk.texts(thread) == ["Status: down."]
    assert (await desk.send("GET", "/ready")).ok["status"] == "up"


@pytest.mark.parametrize("kind", ["text/answer", "application/data"])
async def test_it_is_asked_over_ahp_in_words_and_as_data(desk: Talker, kind: str) -> None:
    asked = {
        "ahp": "0.1",
        "capability": "healthcheck",
        "query": "How are you?",
        "context": {"accept_types": [kind]},
    }
    told = (await desk.send("POST", "/agent/converse", asked)).ok
    assert told["meta"]["capability_used"] == "healthcheck"
    response = told["response"]
    assert response["content_type"] == kind
    if kind == "text/answer":
        assert response["answer"] == "Status: up."
    else:
        assert response["payload"]["data"] == TOLD


async def test_it_is_asked_in_a_message_over_ahp_as_on_threads(desk: Talker) -> None:
    asked = {
        "ahp": "0.1",
        "capability": "content_search",
        "query": part(healthcheck={}),
        "context": {"accept_types": ["text/answer", "x-aitp/operations"]},
    }
    response = (await desk.send("POST", "/agent/converse", asked)).ok["response"]
    assert response["answer"] == "Status: up."
    assert [one["health"] for one in response["messages"]] == [TOLD]


async def test_it_is_called_by_arguments(desk: Talker) -> None:
    told = (await desk.send("POST", "/capabilities/healthcheck", {})).ok
    assert told["result"] == TOLD
    refused = await desk.send("POST", "/capabilities/healthcheck", {"type": "deep"})
    assert refused.status == 400


@pytest.mark.parametrize("mode", MODES)
async def test_it_is_a_tool_for_everybody_and_full_for_who_runs_the_desk(
    desk: Talker, mode: Mode
) -> None:
    async with tool_user(desk.desk.url, mode) as nobody:
        simple = await nobody.call_tool("healthcheck", {"type": "full"})
    assert simple.structured_content == TOLD | {"note": NOT_TOLD}
    operator = await desk.with_key("operator", "actions")
    async with tool_user(desk.desk.url, mode, operator.key) as runs:
        full = await runs.call_tool("healthcheck", {"type": "full"})
    assert full.structured_content is not None
    assert {one["status"] for one in full.structured_content["components"]} == {"up"}


async def test_degraded_is_said_at_once_and_why_to_those_who_run_it(tmp_path: Path) -> None:
    clock = Clock()
    async with watching(tmp_path, clock=clock) as desk:
        assert await ask(desk, part(healthcheck={})) == "Status: up."
        clock.advance(60)
        asked = {"ahp": "0.1", "capability": "content_search", "query": part(healthcheck={})}
        by_name = {"ahp": "0.1", "capability": "healthcheck", "query": "How are you?"}
        for state in ("up", "degraded"):
            for body in (asked, by_name):
                told = (await desk.send("POST", "/agent/converse", body)).ok
                assert told["response"]["answer"] == f"Status: {state}."
            if state == "up":
                await desk.desk.store.run(give_up_a_job)
        assert await ask(desk, part(healthcheck={})) == "Status: degraded."
        operator = await desk.with_key("operator", "threads")
        told = (await ask(operator, part(healthcheck={"type": "full"}))).splitlines()
    assert told[0] == "Status: degraded."
    assert f"- jobs is degraded since 2027-01-15 08:01 UTC: {JOBS_DEAD}" in told


async def test_an_action_of_the_site_cannot_have_its_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.md").write_text("# A shop\n")
    (site / "actions.py").write_text(
        "from aitp_desk.actions import action\n\n"
        '@action()\ndef healthcheck() -> str:\n    """Tells."""\n    return ""\n'
    )
    (site / "desk.toml").write_text('[content]\nfolder = "."\n')
    with installed(tmp_path, {}, POINTS), pytest.raises(Exception, match="rename it"):
        async with serving(tmp_path / "data", "capabilities.operations={}", folder=site):
            pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("capabilities.operations.every=1", "Expected `int` >= 10 - at `$.every`."),
        (
            'capabilities.operations.peers=[{name="a", url="ftp://a"}]',
            r"Expected `str` matching regex '^https?://\\S+$' - at `$.peers[0].url`.",
        ),
        (
            'capabilities.operations.peers=[{name="a", url="https://a"}, {name="a", url="https://b"}]',
            "two peers are called 'a'; rename one of them.",
        ),
    ],
)
async def test_settings_that_are_not_right_are_told_before_the_desk_starts(
    tmp_path: Path, settings: str, message: str
) -> None:
    with pytest.raises(ConfigError) as told:
        async with watching(tmp_path, settings):
            pass
    assert [problem.message for problem in told.value.problems] == [message]

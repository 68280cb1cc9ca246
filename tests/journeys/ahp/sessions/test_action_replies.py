"""Words that answer what an action has asked keep to the limits of a call by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.ahp.sessions.test_readings import over_ahp, over_mcp
from tests.support.clients.threads import talking
from tests.support.sites.declarations import HEAD

ACTIONS = '''
@action(kind="action", mutability="reversible", blast_radius="self", reversible_within="P1D")
def note_lamp(lamp: str) -> str:
    """Notes a lamp."""
    return f"Noted {lamp}."
'''
WISH = "Please note the lamp"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "returns.md").write_text("# Returns\n\nReturn a lamp within 30 days.\n", "utf-8")
    (folder / "desk.toml").write_text('[site]\nname = "Lamps"\n', "utf-8")
    (folder / "actions.py").write_text(HEAD + ACTIONS, "utf-8")
    return folder


@pytest.mark.parametrize("ask", [over_ahp, over_mcp])
async def test_nothing_changes_before_a_yes_to_an_action_that_words_have_found(
    tmp_path: Path, site: Path, ask: Any
) -> None:
    async with talking(tmp_path, site=site) as talker:
        caller = await talker.with_key("actions")
        assert "Shall I go ahead?" in await ask(caller, WISH, "A7")
        assert talker.rows("SELECT DISTINCT state FROM calls") == [("waiting_input",)]
        assert await ask(caller, WISH, "A7", "yes") == "Noted A7."


async def test_an_answer_in_words_counts_against_the_limit_of_actions(
    tmp_path: Path, site: Path
) -> None:
    limits = ("limits.enabled=true", "limits.actions_per_minute=3")
    async with talking(tmp_path, *limits, site=site) as talker:
        caller = await talker.with_key("actions")
        assert "Shall I go ahead?" in await over_ahp(caller, WISH, "A7")
        begun = {"capability": "content_search", "query": WISH}
        session = (await caller.send("POST", "/agent/converse", begun)).ok["session_id"]
        answer = {**begun, "session_id": session, "query": "A8"}
        assert (await caller.send("POST", "/agent/converse", answer)).status == 429
        asked = {**answer, "query": "How long may I return a lamp?"}
        told = (await caller.send("POST", "/agent/converse", asked)).ok
        assert told["response"]["answer"] == "Return a lamp within 30 days."

"""What operators see of sealed values over the API of their pages, and who of them reads one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.clients.operator import operating
from tests.support.plugins.sealed_values import guarded, part

CODE = "Sesame-4711"


async def test_an_operator_whose_key_may_reads_a_value_and_it_is_noted(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path) as guest,
        operating(guest.desk, tmp_path / "data", "anna") as anna,
        operating(guest.desk, tmp_path / "data", "ben", "sensitive") as ben,
    ):
        owner = await guest.with_key("threads")
        thread = (await owner.open(part(code={"safe": "s-1", "code": CODE}), wait=10)).id
        listed = await anna.get(f"threads/{thread}/messages")
        assert CODE not in json.dumps(listed)
        (shown,) = listed["data"][0]["parts"]
        ref = shown["content"]["code"]["sealed"]
        assert [(await one.get("session"))["reveals"] for one in (anna, ben)] == [False, True]

        path = f"sealed/{ref}"
        assert (await anna.send("POST", path, {})).refusal == (404, "resource_not_found", "ref")
        assert (await ben.send("GET", path)).status in {404, 405}
        told = await ben.send("POST", path, {})
        assert told.ok == {"value": CODE}
        assert told.headers["Cache-Control"] == "no-store"
        noted = guest.rows("SELECT object, proven_by FROM audit WHERE action = 'sealed.read'")
        assert noted == [(f"sealed:{ref}", "console")]

        csrf, ben.csrf = ben.csrf, "another"
        assert (await ben.send("POST", path, {})).refusal[:2] == (403, "forbidden")
        ben.csrf = csrf
        unknown = await ben.send("POST", "sealed/sealed_unknown", {})
        assert unknown.refusal == (404, "resource_not_found", "ref")
        assert len(guest.rows("SELECT 1 FROM audit WHERE action = 'sealed.read'")) == 1

"""`docs/protocols/runs.md` tells the truth about the states of a run, and about its addresses."""

from __future__ import annotations

import re

from aitp_desk.model.conversation.run import MOVES
from aitp_desk.protocols.aitp.runs.routes import run_routes
from tests.docs.snippets import ROOT

PAGE = (ROOT / "docs/protocols/runs.md").read_text(encoding="utf-8")


def test_the_table_of_states_is_the_one_in_the_code() -> None:
    _, _, table = PAGE.partition("\n## States\n")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.split("\n## ")[0].splitlines()
        if line.startswith("| `")
    ]
    assert {state.strip("`"): set(re.findall(r"`(\w+)`", after)) for state, _, after in rows} == {
        state.value: {move.value for move in moves} for state, moves in MOVES.items()
    }
    assert len(rows) == len(MOVES)
    assert all(meaning for _, meaning, _ in rows)


def test_the_table_of_addresses_is_the_one_that_is_served() -> None:
    listed = re.findall(r"^\| `(GET|POST) (/v1/threads\S*)` \|", PAGE, re.MULTILINE)
    served = [
        (route.method, re.sub(r"\{(thread|run|step)_id\}", _short, route.path))
        for route in run_routes(1)
    ]
    assert sorted(listed) == sorted(served)


def _short(found: re.Match[str]) -> str:
    return "{id}" if found[1] == "thread" else f"{{{found[1]}}}"

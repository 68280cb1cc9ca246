"""The page on declaring once shows what every protocol tells: no less than what was declared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.docs.faces import FUNCTION, PAGE, faces, with_faces

WRITE = ".venv/bin/python -m tests.docs.faces"


async def test_the_page_shows_what_a_desk_tells(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert await with_faces(page, tmp_path) == page, f"something else is told now: {WRITE}"


async def test_every_face_tells_what_is_taken_and_what_it_entails(tmp_path: Path) -> None:
    (function,) = FUNCTION.findall(PAGE.read_text(encoding="utf-8"))
    ahp, openapi, hac, mcp, a2a, agents_txt = (
        face.told for face in await faces(function, tmp_path)
    )
    for told in (ahp, openapi, hac, mcp, a2a):
        text = f"{told.get('summary', '')} {told['description']}"
        assert "Books a repair in our workshop." in text
    for told in (ahp, openapi, hac, mcp, a2a):
        assert "It can be undone within 1 day." in told["description"]
        assert "It costs 25.00 USD." in told["description"]
        assert "It requires: The workshop takes repairs." in told["description"]
    assert {"action", "costs", "reversible"} <= set(a2a["tags"])
    declared: dict[str, Any] = ahp["input_schema"]["properties"]
    assert declared.items() <= mcp["inputSchema"]["properties"].items()
    assert mcp["outputSchema"] == ahp["output_schema"]
    fields = {field["name"]: field for field in hac["fields"]}
    for name, schema in declared.items():
        assert schema["description"] in fields[name]["description"]
        told_of = re.search(rf"Param: {name} .*", agents_txt)
        assert told_of is not None
        assert schema["description"] in told_of[0]

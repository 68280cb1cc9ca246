"""Former public names still work, warn, and are named in the change notes as deprecated."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

from aitp_desk.config import load_config

ROOT = Path(__file__).parents[2]
MODULES = {
    "aitp_desk.commands": "desk_data",
    "aitp_desk.protocols.hac.checking": "check_document",
}
SETTINGS = {
    "[claude]\nday_tokens = 7": "[claude] is now [model].",
    '[mcp_server]\nserve = "auto"': 'mcp_server.serve = "auto" is now "always".',
}


@pytest.mark.parametrize(("former", "name"), MODULES.items())
def test_a_former_module_works_and_warns(former: str, name: str) -> None:
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match="is now"):
        module = importlib.import_module(former)
    assert callable(getattr(module, name))


@pytest.mark.parametrize(("toml", "note"), SETTINGS.items())
def test_a_former_setting_works_with_a_note(toml: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_text(toml, encoding="utf-8")
    assert load_config(tmp_path).notes == (note,)


def test_a_former_value_on_the_command_line_is_that_of_today(tmp_path: Path) -> None:
    config = load_config(tmp_path, ["mcp_server.serve=auto"])
    assert config.mcp_server.serve == "always"


def test_the_change_notes_name_what_is_deprecated() -> None:
    waiting = (ROOT / "docs" / "changes").glob("*.deprecated.md")
    released = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n### Deprecated\n")[1:]
    notes = [*(path.read_text("utf-8") for path in waiting), *released]
    told = re.sub(r"\s+", " ", " ".join(notes))
    former = [note.partition(" is now ")[0] for note in SETTINGS.values()]
    assert [name for name in (*MODULES, *former) if f"`{name}`" not in told] == []

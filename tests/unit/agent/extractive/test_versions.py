"""A version is one word: a question for one is answered by what names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.agent.extractive.test_quote import asked

_PAGES = {
    "releases.md": (
        "# Releases\n\n## Release 3.11\n\nThe planner reads calendars of other programs.\n\n"
        "## Release 3.4\n\nThe planner prints in colour.\n"
    ),
    "install.md": (
        "# Install the planner\n\nStep 3 of 11: release the lock of disk 3. "
        "The planner needs 11 megabytes, "
        "and 3 more for each of 11 languages.\n\nStep 4 of 11: release the lock of disk 4.\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is new in release 3.11 of the planner?", "calendars of other programs"),
        ("release v3.4 of the planner", "prints in colour"),
    ],
)
async def test_a_version_is_found_as_a_whole(tmp_path: Path, question: str, answer: str) -> None:
    said = await asked(tmp_path, question, _PAGES)
    assert said.sources[0].url.startswith("/releases")
    assert answer in said.text

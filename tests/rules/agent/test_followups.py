"""A fragment takes the place of its counterpart in the question before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn, Utterance
from aitp_desk.agent.extractive import answer
from aitp_desk.knowledge.languages import Languages
from aitp_desk.knowledge.watch import open_knowledge

PAGES = {
    "samba": """# Samba shares

## Connecting from a macOS device

Open a share from the Finder of your Mac: press Cmd+K and enter smb://box.

## Connecting from Windows

Open a share in the file explorer of Windows: enter \\\\box.
""",
    "vpn": """# Virtual private network

## Connecting from Android

Connect an Android phone with the app of the network.

## Connecting a desktop computer

Connect a desktop computer with a profile file.
""",
    "desktop": """# Desktop

Choose a desktop for your computer, such as GNOME.
""",
}


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ("How do I open a Samba share on a Mac?", "And on Windows?", "file explorer"),
        ("How do I open a Samba share on Windows?", "and on a Mac?", "Finder"),
        (
            "How do I connect to the private network from my Android phone?",
            "and from a desktop computer?",
            "profile file",
        ),
    ],
)
async def test_replaces_the_phrase_with_the_same_preposition(
    tmp_path: Path, first: str, then: str, told: str
) -> None:
    folder = tmp_path / "content"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    async with open_knowledge(
        folder, data=tmp_path / "data", languages=Languages("en")
    ) as knowledge:
        before = (Utterance("visitor", first), Utterance("desk", "As follows."))
        turn = Turn(then, SiteFacts("Box", "https://box.example"), transcript=before)
        said = answer(turn, knowledge.library)
    assert isinstance(said, Answer)
    assert told in said.text[:160]

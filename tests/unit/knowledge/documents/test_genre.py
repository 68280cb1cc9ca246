"""Which genre of passage a question prefers."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Boats", "https://boats.example")
FILLER = "The crew paints the hull in spring, and the harbour master signs the book. " * 3
PROSE = "# Harbours\n\nThe logbook is exported yearly. The exported logbook is kept.\n"
STEPS = "# Owners\n\nThe logbook is exported as follows:\n\n```\nboat dump --all\n```\n"
LONG = (
    f"# Logbook\n\nThe logbook goes to the harbour. {FILLER}\n\n{FILLER}\n\n"
    f"To export it, type:\n\n```\nboat dump --all\n```\n\nAn export is kept. {FILLER}\n"
)
GUIDE = "# Anchor\n\nThe anchor alarm rings when the boat drifts.\n"
NOTES = "# Release notes\n\n## 2.1\n\nThe anchor alarm rings when the boat is lost.\n"
LICENCE = "# Licence\n\nThe anchor alarm rings when the boat is copied.\n"


async def told(tmp_path: Path, question: str, *pages: str) -> str:
    folder = tmp_path / "content"
    folder.mkdir()
    for number, text in enumerate(pages):
        (folder / f"page{number}.md").write_text(text)
    languages = Languages("en")
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        said = answer(Turn(question, SITE), knowledge.library)
    assert isinstance(said, Answer)
    return said.text


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I export the logbook?", "as follows"),
        ("Is the logbook exported?", "yearly"),
    ],
)
async def test_a_question_for_a_procedure_prefers_code(
    tmp_path: Path, question: str, first: str
) -> None:
    text = await told(tmp_path, question, PROSE, STEPS)
    assert first in text.partition(".")[0].partition("```")[0]


@pytest.mark.parametrize(
    ("question", "other", "first"),
    [
        ("When does the anchor alarm ring?", NOTES, "drifts"),
        ("When does the anchor alarm ring?", LICENCE, "drifts"),
        ("When does the anchor alarm ring by the release notes?", NOTES, "lost"),
        ("When does the anchor alarm ring by the licence?", LICENCE, "copied"),
    ],
)
async def test_notes_and_licences_answer_questions_about_them(
    tmp_path: Path, question: str, other: str, first: str
) -> None:
    said = await told(tmp_path, question, GUIDE, other)
    told_first = min(
        (fact for fact in ("drifts", "lost", "copied") if fact in said), key=said.index
    )
    assert told_first == first


async def test_a_licence_is_known_by_its_short_name(tmp_path: Path) -> None:
    pages = LICENCE.replace("Licence", "GPLv3"), GUIDE.replace("# Anchor", "# Watch")
    text = await told(tmp_path, "When does the anchor alarm ring?", *pages)
    assert "drifts" in text.partition(".")[0]


async def test_a_long_section_is_quoted_where_its_code_stands(tmp_path: Path) -> None:
    text = await told(tmp_path, "How do I export the logbook?", LONG)
    assert "To export it, type:\n```\nboat dump --all\n```" in text


async def test_an_abbreviation_is_no_word_of_a_question(tmp_path: Path) -> None:
    question = "When does the anchor alarm ring, e.g. for a boat, i.e. when it drifts?"
    assert "rings when the boat drifts" in await told(tmp_path, question, GUIDE)

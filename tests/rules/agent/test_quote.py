"""Which stretch of a section an answer quotes, and when it quotes others."""

from __future__ import annotations

from pathlib import Path

from aitp_desk.agent.base import Answer, SiteFacts, Turn
from aitp_desk.agent.extractive import answer
from aitp_desk.knowledge.languages import Languages
from aitp_desk.knowledge.watch import open_knowledge

SITE = SiteFacts("Boats", "https://boats.example")
FILLER = "The crew paints the hull in spring, and the harbour master signs the book each evening. "


async def told(tmp_path: Path, question: str, pages: dict[str, str]) -> str:
    folder = tmp_path / "content"
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text)
    languages = Languages("en")
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        said = answer(Turn(question, SITE), knowledge.library)
    assert isinstance(said, Answer)
    assert said.found
    return said.text


async def test_an_unclear_lead_quotes_the_next_section_under_its_name(tmp_path: Path) -> None:
    pages = {
        "loft.md": "# Loft\n\nA torn sail is mended by the sailmaker within a week.\n",
        "yard.md": "# Yard\n\nA torn sail of a dinghy is mended by the saddler within a day.\n",
        "moorings.md": f"# Moorings\n\n{FILLER}\n",
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert "sailmaker" in text
    assert "Yard: A torn sail of a dinghy is mended by the saddler" in text
    assert "harbour master" not in text


async def test_a_clear_lead_answers_alone(tmp_path: Path) -> None:
    pages = {
        "sails.md": "# Torn sails\n\nA torn sail is mended by the sailmaker within a week.\n",
        "trips.md": f"# Trips\n\n{FILLER}Each trip needs a sail.\n",
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert text == "A torn sail is mended by the sailmaker within a week."


async def test_other_sections_stay_within_the_room(tmp_path: Path) -> None:
    mended = "A torn sail is mended by the sailmaker, and a torn flag is mended by the tailor. "
    pages = {
        f"{name}.md": f"# {name.title()}\n\n{mended}{FILLER * 4}\n\n{FILLER * 4}\n"
        for name in ("sails", "flags", "ropes", "masts")
    }

    text = await told(tmp_path, "Who mends a torn sail?", pages)

    assert len(text) <= 1.3 * SITE.answer_characters


async def test_sentences_that_answer_together_outweigh_a_single_one(tmp_path: Path) -> None:
    single = f"A sail may be borrowed. {FILLER * 4}"
    together = "Fold the sail along the seam. Dry the folded sail. A wet sail rots at the seam."
    page = f"# Handbook\n\n{single}\n\n{FILLER * 6}\n\n{together} {FILLER * 4}\n"

    text = await told(tmp_path, "How do I fold and dry a sail?", {"handbook.md": page})

    assert together in text


async def test_code_stands_with_the_sentence_that_announces_it(tmp_path: Path) -> None:
    page = (
        f"# Charts\n\n{FILLER * 5}\n\nTo print a chart of the harbour, run:\n\n"
        f"```\nchart --print harbour\n```\n\n{FILLER * 5}\n"
    )

    text = await told(tmp_path, "How do I print a chart?", {"charts.md": page})

    assert "To print a chart of the harbour, run:\n```\nchart --print harbour\n```" in text

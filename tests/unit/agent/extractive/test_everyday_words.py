"""Visitors of handbooks and public services use other words than the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Rosedale", "https://rosedale.example")
PAGES = {
    "staff.md": """# Staff rules

## Bereavement

You have six days off for the death of a parent, and two for the death of a grandparent or cousin.

## Second job

Paid work for a competitor is not permitted. Ask your director about anything else.

## Fitness

We pay 20 pounds a month for your exercise, and nothing towards a holiday.

## Equipment

The service desk sets up your laptop before the first day and collects it after the last one.
""",
    "flats.md": """# Housing office

## Urgent work

A burst pipe is seen to within 3 hours. The caretaker has the keys of the cellar.

## Noise

Instruments are played before 8 in the evening, and never on a bank holiday.
""",
    "rooms.md": """# Guest rooms

## Families

Nothing is charged for children who stay in the room of their parents.

## Network

A complimentary line is in the hall, the rooms, the garden and the children's corner.

## Keys

The keys of a room are at the desk.

## Smoking

No room is for smokers.
""",
}


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("my grandmother passed away, how many days off do I have", "two for the death"),
        ("can I have a second job at a rival", "not permitted"),
        ("do you pay for my gym", "20 pounds"),
        ("who sets up my computer", "service desk"),
        ("how soon do you come to a flood", "within 3 hours"),
    ],
)
async def test_everyday_words_find_what_a_page_calls_otherwise(
    tmp_path: Path, question: str, fact: str
) -> None:
    said = await _ask(question, tmp_path)
    assert said.found, said.text
    assert fact in said.text


async def test_another_word_for_a_rare_one_does_not_answer_alone(tmp_path: Path) -> None:
    said = await _ask("can my kids stay in our room for free", tmp_path)
    assert "complimentary line" not in said.text


async def _ask(question: str, tmp_path: Path) -> Answer:
    folder = tmp_path / "content"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)

    languages = Languages("en")
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        said = answer(Turn(question, SITE), knowledge.library)

    assert isinstance(said, Answer)
    return said

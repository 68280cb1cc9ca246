"""However long a message is, the agent reads a bounded part of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, SiteFacts, Turn, Utterance, read_outcome
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.extractive.question import MAX_READ
from aitp_desk.knowledge.search.ranking import Ranking
from aitp_desk.knowledge.search.vocabulary import Vocabulary
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Trailhead", "https://trailhead.example")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def random_words(count: int) -> list[str]:
    choose = random.Random(4)
    return ["".join(choose.choices(LETTERS, k=choose.randint(3, 9))) for _ in range(count)]


WORDS = random_words(30_000)
MESSAGES = {
    "one long word": "x" * 256 * 1024,
    "words that nobody knows": " ".join(WORDS),
    "questions that nobody knows": "? ".join(WORDS),
    "words that the site knows": " ".join(WORDS[:2000] * 15),
}


class Effort:
    """How much the agent was made to read and to look up."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        self.looked_up: list[str] = []
        words, places = Vocabulary.words, Ranking.places

        def read(kept: Vocabulary, text: str, *more: frozenset[str]) -> list[str]:
            self.characters += len(text)
            return words(kept, text, *more)

        def look_up(kept: Ranking, term: object) -> object:
            self.looked_up.append(str(term))
            return places(kept, term)  # type: ignore[arg-type]

        patch.setattr(Vocabulary, "words", read)
        patch.setattr(Ranking, "places", look_up)


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
@pytest.mark.parametrize("said_before", [False, True], ids=["now", "before"])
async def test_of_a_huge_message_a_bounded_part_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, *, said_before: bool
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "returns.md").write_text("# Returns\n\nSend it back within 60 days.\n", "utf-8")
    (folder / "words.md").write_text(f"# Words\n\n{' '.join(WORDS[:2000])}.\n", "utf-8")
    turn = Turn(message, SITE)
    if said_before:
        turn = Turn("And that one?", SITE, transcript=(Utterance("visitor", message),))
    async with open_knowledge(folder, data=tmp_path / "data", poll_seconds=60) as knowledge:
        agent = ExtractiveAgent(knowledge)
        effort = Effort(monkeypatch)
        outcome = await read_outcome(agent, turn)
    assert isinstance(outcome, (Answer, Clarification))
    assert 0 < effort.characters <= 4 * MAX_READ
    assert len(effort.looked_up) < MAX_READ

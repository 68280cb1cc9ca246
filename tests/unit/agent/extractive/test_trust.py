"""What is trusted to answer, and what is near enough to be said next to a refusal."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn, read_answer
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.extractive.trust import list_features, sum_evidence
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.semantics.builder import build_vectors
from aitp_desk.knowledge.semantics.file import FILE
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge
from tests.support.doubles.embedding import WordEmbedder

SITE = SiteFacts("Harbour", "https://harbour.example")
PAGES = {
    "offices.md": "# Offices\n\nAn office costs 200 euros a month. The key is at the gate.\n",
    "berths.md": "# Berths\n\nA berth is 12 metres long. Water and power are on the pier.\n",
    "crane.md": "# Crane\n\nThe crane lifts 20 tons. It rests when the wind blows strongly.\n",
    "visits.md": "# Visits\n\nGuests report at the gate. Dogs stay on a leash at the pier.\n",
}


class FixedReranker:
    """Gives every text the same score."""

    name = "fixed"

    def __init__(self, score: float) -> None:
        self._score = score

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [self._score for _ in texts]


@asynccontextmanager
async def harbour(tmp_path: Path) -> AsyncIterator[Knowledge]:
    folder = tmp_path / "content"
    folder.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    data = tmp_path / "data"
    async with open_knowledge(folder, data=data, languages=Languages("en")) as knowledge:
        yield knowledge


async def answer(knowledge: Knowledge, question: str) -> Answer:
    said = await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    assert isinstance(said, Answer)
    return said


async def test_a_near_answer_is_about_the_topic_that_is_asked_about(tmp_path: Path) -> None:
    async with harbour(tmp_path) as knowledge:
        near = await answer(knowledge, "Do you rent offices to coworkers?")
        assert not near.found
        assert "“Offices”: An office costs 200 euros" in near.text
        far = await answer(knowledge, "Does the crane help kayakers with dogs, guests and water?")
        assert not far.found
        assert "20 tons" not in far.text


@pytest.mark.parametrize(("score", "is_found"), [(0.0, False), (1.0, True)])
async def test_what_a_reranker_says_is_evidence(
    tmp_path: Path, score: float, is_found: bool
) -> None:
    pytest.importorskip("numpy")
    async with (
        harbour(tmp_path) as knowledge,
        build_vectors(
            knowledge, WordEmbedder({}), tmp_path / FILE, FixedReranker(score)
        ) as progress,
    ):
        await progress.settled.wait()
        said = await answer(knowledge, "How heavy may a yacht be for the crane?")
        assert said.found is is_found


async def test_a_meaning_that_is_far_and_words_that_are_missing_are_evidence_against(
    tmp_path: Path,
) -> None:
    pytest.importorskip("numpy")
    means = {"crane": "delivery", "lifts": "delivery", "kayakers": "money back"}
    questions = ("How much does the crane lift?", "How much does the crane teach kayakers?")
    async with harbour(tmp_path) as knowledge:
        agent = ExtractiveAgent(knowledge)
        words = [(await agent.find(Turn(one, SITE))).found[0] for one in questions]
        assert not any("cosine" in list_features(one) for one in words)
        async with build_vectors(knowledge, WordEmbedder(means), tmp_path / FILE) as progress:
            await progress.settled.wait()
            near, far = [(await agent.find(Turn(one, SITE))).found[0] for one in questions]
    assert near.page == far.page == "crane"
    assert list_features(near)["cosine"] > list_features(far)["cosine"]
    assert 0 < list_features(far)["unknown"] < 1
    assert sum_evidence(near) > sum_evidence(far)


async def test_words_that_only_form_a_question_are_not_said_to_be_missing(tmp_path: Path) -> None:
    async with harbour(tmp_path) as knowledge:
        said = await answer(knowledge, "Does everyone get a submarine, whenever nothing is booked?")
    assert not said.found
    assert "“submarine”" in said.text
    assert not any(f"“{word}”" in said.text for word in ("everyone", "whenever", "nothing"))

"""An explanation names what put a section first, and why the others are not in the answer."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.extractive.agent import MAX_SOURCES, ExtractiveAgent
from aitp_desk.agent.extractive.explanation import Explanation, explain_answer
from aitp_desk.knowledge.semantics.builder import build_vectors
from aitp_desk.knowledge.semantics.file import FILE
from aitp_desk.knowledge.snapshot import Knowledge
from tests.support.doubles.embedding import WordEmbedder

SITE = SiteFacts("Harbour", "https://harbour.example")
MEANS = {"refund": "money back", "reimbursed": "money back", "parcels": "delivery"}
BERTHS = {"costs.md": "# Costs\n\nWhat a berth costs.\n"} | {
    f"berth-{name}.md": f"# Berth {name}\n\nThe berth {name} costs little.\n" for name in "abcdefg"
}


def make_knowledge(tmp_path: Path, pages: dict[str, str]) -> Knowledge:
    folder = tmp_path / "site"
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text)
    return Knowledge(folder, tmp_path / "data", {})


async def explain(knowledge: Knowledge, folder: Path, question: str) -> Explanation:
    finding = await ExtractiveAgent(knowledge).find(Turn(question, SITE))
    return explain_answer(finding, folder)


async def test_the_level_is_what_put_the_section_first(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    knowledge = make_knowledge(
        tmp_path,
        {
            "money.md": "# Money\n\nYou are reimbursed for a cancelled trip within a week.\n",
            "trips.md": "# Cancelled trips\n\nA cancelled trip is made up for the next day.\n",
            "crane.md": "# Crane\n\nThe crane lifts 20 tons.\n",
        },
    )
    site = tmp_path / "site"
    async with build_vectors(knowledge, WordEmbedder(MEANS), tmp_path / FILE) as progress:
        await progress.settled.wait()
        by_words = await explain(knowledge, site, "How is a cancelled trip reimbursed?")
        by_meaning = await explain(knowledge, site, "cancelled trip refund")
    assert by_words.candidates[0].url == by_meaning.candidates[0].url == "/money#money"
    assert (by_words.level, by_meaning.level) == ("words", "meaning")
    first, second, *_ = by_meaning.candidates
    assert first.scores["words"] < second.scores["words"]
    assert first.scores["meaning"] > second.scores["meaning"]
    assert msgspec.json.decode(msgspec.json.encode(first))["scores"] == first.scores


async def test_sections_after_the_last_source_are_not_used(tmp_path: Path) -> None:
    knowledge = make_knowledge(tmp_path, BERTHS)
    explanation = await explain(knowledge, tmp_path / "site", "What does a berth cost?")
    verdicts = [one.verdict.partition(":")[0] for one in explanation.candidates]
    assert verdicts[0] == "Chosen"
    assert len([one for one in verdicts if one.startswith("A source")]) == MAX_SOURCES - 1
    assert verdicts[-1] == "Not used"
    assert f"after the {MAX_SOURCES} sources" in explanation.candidates[-1].verdict


@pytest.mark.parametrize("rank", [-0.001, -0.4, -0.0])
async def test_a_score_below_zero_is_no_share_of_the_best(tmp_path: Path, rank: float) -> None:
    agent = ExtractiveAgent(make_knowledge(tmp_path, BERTHS))
    finding = await agent.find(Turn("What does a berth cost?", SITE))
    finding.found[1].rank = rank  # as a meaning opposite to the question's makes it
    explanation = explain_answer(finding, tmp_path / "site")
    assert explanation.candidates[1].verdict.partition(": ")[2] == "0% of the best score."


async def test_what_is_asked_back_offers_choices(tmp_path: Path) -> None:
    pages = {
        f"{place}.md": f"# {place} berth\n\nIt is long.\n\n## Price\n\nIt costs {cost} euros.\n"
        for place, cost in (("North", 10), ("South", 20), ("East", 30))
    }
    knowledge = make_knowledge(tmp_path, pages)
    explanation = await explain(knowledge, tmp_path / "site", "What is the price?")
    assert explanation.level is None
    assert [one.verdict for one in explanation.candidates] == ["Offered as a choice."] * 3

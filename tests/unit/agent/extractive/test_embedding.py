"""Answers by words and meaning together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from aitp_desk.agent.base import Answer, SiteFacts, Turn, read_answer
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.extractive.embedding import learn_turn
from aitp_desk.agent.extractive.fusion import Signal, fuse_scores
from aitp_desk.agent.generative.passages import choose_excerpts
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.enrichment.file import FILE as ENRICHED
from aitp_desk.knowledge.enrichment.file import Line, Question, write_lines
from aitp_desk.knowledge.enrichment.text import make_digest
from aitp_desk.knowledge.refusals import group_refusals
from aitp_desk.knowledge.semantics.base import Reranker
from aitp_desk.knowledge.semantics.builder import build_vectors
from aitp_desk.knowledge.semantics.file import FILE
from aitp_desk.knowledge.semantics.progress import Progress
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge
from aitp_desk.store.reads.console.refusals import Refusal
from tests.support.doubles.embedding import KeywordReranker, WordEmbedder

pytest.importorskip("numpy")

SITE = SiteFacts("Shop", "https://shop.example")
QUESTION = "How do I get my money for a jacket?"
PAGES = {
    "jackets.md": "# Jackets\n\nA jacket costs money: how to get one for less is told in spring.\n",
    "refunds.md": "# Refunds\n\nYou receive a refund within a week, whatever jacket you return.\n",
    "hours.md": "# Visits\n\nThe counter is occupied, whatever happens.\n",
}
MEANS = {"money": "money back", "refund": "money back", "refunds": "money back"}


@asynccontextmanager
async def shop(
    tmp_path: Path, embedder: WordEmbedder | None, reranker: Reranker | None = None
) -> AsyncIterator[Knowledge]:
    folder, data = tmp_path / "content", tmp_path / "data"
    folder.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        if not (folder / name).exists():
            (folder / name).write_text(text)
    async with open_knowledge(folder, data=data, languages=Languages("en")) as knowledge:
        if embedder is None:
            yield knowledge
            return
        async with build_vectors(knowledge, embedder, data / FILE, reranker) as progress:
            await progress.settled.wait()
            yield knowledge


async def first_source(knowledge: Knowledge) -> str:
    return await first_source_of(knowledge, QUESTION)


async def first_source_of(knowledge: Knowledge, question: str) -> str:
    said = await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    assert isinstance(said, Answer)
    return said.sources[0].url.partition("#")[0]


async def test_a_long_section_is_quoted_where_it_is_nearest_in_meaning(tmp_path: Path) -> None:
    worn = "A jacket that was worn on the hill dries on a line in the yard for a day or two. " * 9
    back = "A refund for a jacket arrives within a week, and a refund needs no receipt. " * 9
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "jackets.md").write_text(f"# Jackets\n\n{worn}\n\n{back}\n")
    question = "How do I get my money for a worn jacket?"
    async with shop(tmp_path, None) as knowledge:
        by_words = await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    async with shop(tmp_path, WordEmbedder(MEANS)) as knowledge:
        by_meaning = await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    assert isinstance(by_words, Answer)
    assert "dries on a line" in by_words.text
    assert "refund" not in by_words.text
    assert isinstance(by_meaning, Answer)
    assert "a refund needs no receipt" in by_meaning.text


def test_words_alone_keep_their_scores() -> None:
    assert fuse_scores({1: 3.0, 2: 1.5}, ()) == {1: 3.0, 2: 1.5}


def test_signals_are_added_to_the_share_of_the_best() -> None:
    meaning = Signal("meaning", 2.0, (2,), {1: 0.1, 2: 0.5}.__getitem__)
    assert fuse_scores({1: 3.0, 2: 1.5}, [meaning]) == {1: 1.2, 2: 1.5}


async def test_meaning_orders_what_words_alone_order_otherwise(tmp_path: Path) -> None:
    async with shop(tmp_path, None) as knowledge:
        assert await first_source(knowledge) == "/jackets"
    means = MEANS | {"costs": "delivery", "spring": "delivery", "less": "delivery"}
    async with shop(tmp_path, WordEmbedder(means)) as knowledge:
        assert await first_source(knowledge) == "/refunds"


async def test_a_section_that_stands_in_two_manuals_is_one_source(tmp_path: Path) -> None:
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "manual.md").write_text(PAGES["refunds.md"].replace("# Refunds", "# Money back"))
    means = MEANS | {"costs": "delivery", "spring": "delivery", "less": "delivery"}
    async with shop(tmp_path, WordEmbedder(means)) as knowledge:
        said = await read_answer(ExtractiveAgent(knowledge), Turn(QUESTION, SITE))
    assert isinstance(said, Answer)
    pages = {source.url.partition("#")[0] for source in said.sources}
    assert len(pages & {"/manual", "/refunds"}) == 1


async def test_a_prompt_holds_what_only_meaning_finds(tmp_path: Path) -> None:
    means = {"noon": "opening hours", "occupied,": "opening hours"}
    async with shop(tmp_path, WordEmbedder(means)) as knowledge:
        turn = Turn("Shall I drop by at noon?", SITE)
        assert choose_excerpts(turn, knowledge.library, room=800) == ()
        await learn_turn(turn, knowledge.library)
        (excerpt,) = choose_excerpts(turn, knowledge.library, room=800)[:1]
        assert "occupied" in excerpt.text


async def test_the_meaning_of_a_passages_questions_finds_it(tmp_path: Path) -> None:
    means = {"noon": "opening hours", "twelve": "opening hours"}
    embedder = WordEmbedder(means)
    async with shop(tmp_path, embedder) as knowledge:
        library = knowledge.library
    passage = next(one for one in library.passages if one.document == "hours")
    question = Question(
        "Is somebody there at twelve?", "The counter is occupied, whatever happens."
    )
    line = Line("hours", passage.trail, passage.anchor, make_digest(passage), "", (question,))
    write_lines(tmp_path / "content" / ENRICHED, [line])
    async with shop(tmp_path, embedder) as knowledge:
        turn = Turn("Shall I drop by at noon?", SITE)
        await learn_turn(turn, knowledge.library)
        (excerpt,) = choose_excerpts(turn, knowledge.library, room=800)[:1]
        assert "occupied" in excerpt.text
        assert embedder.embedded.count(question.ask) == 1


async def test_a_question_is_embedded_once(tmp_path: Path) -> None:
    embedder = WordEmbedder(MEANS)
    async with shop(tmp_path, embedder) as knowledge:
        for _ in range(2):
            await first_source(knowledge)
        assert embedder.embedded.count(QUESTION) == 1


async def test_unchanged_passages_are_embedded_once(tmp_path: Path) -> None:
    embedder = WordEmbedder(MEANS)
    async with shop(tmp_path, embedder):
        pass
    embedder.embedded.clear()
    (tmp_path / "content" / "news.md").write_text("# News\n\nThere is a new tent.\n")
    async with shop(tmp_path, embedder):
        assert "News\nThere is a new tent." in embedder.embedded
        assert not any(text.startswith("Refunds") for text in embedder.embedded)


async def test_a_damaged_file_of_vectors_is_made_again(tmp_path: Path) -> None:
    async with shop(tmp_path, WordEmbedder(MEANS)):
        pass
    (tmp_path / "data" / "vectors.sqlite").write_bytes(b"no database " * 100)
    async with shop(tmp_path, WordEmbedder(MEANS)) as knowledge:
        assert knowledge.library.vectors is not None


async def test_words_answer_while_the_model_fails(tmp_path: Path) -> None:
    embedder = WordEmbedder(MEANS)
    async with shop(tmp_path, embedder) as knowledge:
        embedder.fails = True
        assert await first_source(knowledge) == "/jackets"


async def test_vectors_are_built_again_after_an_unexpected_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.knowledge.semantics.builder.AGAIN_SECONDS", 0)
    embedder = WordEmbedder(MEANS)
    broken = WordEmbedder(MEANS)
    failures = [RuntimeError("The model's library is damaged.")]

    async def embed(texts: Sequence[str], *, query: bool = False) -> Sequence[list[float]]:
        if failures:
            raise failures.pop()
        return await embedder.embed(texts, query=query)

    monkeypatch.setattr(broken, "embed", embed)
    async with shop(tmp_path, broken) as knowledge:
        progress = knowledge.progress
        assert progress is not None
        while knowledge.library.vectors is None:
            await progress.settled.wait()
            await asyncio.sleep(0)
        assert await first_source(knowledge) == "/refunds"


async def test_a_reranker_orders_the_best_again(tmp_path: Path) -> None:
    async with shop(tmp_path, WordEmbedder({}), KeywordReranker("refund")) as knowledge:
        assert await first_source(knowledge) == "/refunds"


async def test_questions_for_the_same_are_one_group(tmp_path: Path) -> None:
    embedder = WordEmbedder({"canoes": "delivery", "kayaks": "delivery", "open": "opening hours"})
    asked = ["Do you sell canoes?", "Is it open?", "Are there kayaks?"]
    async with shop(tmp_path, embedder) as knowledge:
        vectors = knowledge.library.vectors
        assert vectors is not None
        assert await vectors.group(asked) == [[asked[0], asked[2]], [asked[1]]]
        refusals = [Refusal(words, 0, "") for words in [*asked, "Where are canoes?"]]
        assert len(await group_refusals(refusals[:3], vectors)) == 2
        embedder.fails = True
        with capture_logs() as logs:
            assert len(await group_refusals(refusals, vectors)) == 4
    assert [one["event"] for one in logs] == ["questions_not_compared"]
    assert logs[0]["reason"]


async def test_a_model_of_another_language_is_not_used(tmp_path: Path) -> None:
    embedder = WordEmbedder(MEANS, languages=("de",))
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "seite.md").write_text("# Seite\n\nEin Satz.\n")
    async with (
        open_knowledge(folder, data=tmp_path / "data", languages=Languages("en")) as knowledge,
        build_vectors(knowledge, embedder, tmp_path / "data" / FILE) as progress,
    ):
        await progress.settled.wait()
        assert knowledge.library.vectors is None
        assert embedder.embedded == []


@pytest.mark.parametrize(
    ("language", "question"),
    [("de", "Wie bekomme ich mein Geld für eine Jacke?"), ("ja", "返金はどうすればいいですか?")],
)
async def test_a_question_is_embedded_in_the_visitors_words(
    tmp_path: Path, language: str, question: str
) -> None:
    embedder = WordEmbedder(MEANS)
    folder, data = tmp_path / "content", tmp_path / "data"
    folder.mkdir()
    (folder / "page.md").write_text("# Geld 返金\n\nGeld 返金\n")
    async with (
        open_knowledge(folder, data=data, languages=Languages(language)) as knowledge,
        build_vectors(knowledge, embedder, data / FILE) as progress,
    ):
        await progress.settled.wait()
        await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    assert question in embedder.embedded


async def test_a_question_in_another_language_is_answered_by_its_meaning(tmp_path: Path) -> None:
    folder, data = tmp_path / "content", tmp_path / "data"
    folder.mkdir()
    (folder / "erstattung.md").write_text("# Kauf\n\nWir erstatten den Betrag in 14 Tagen.\n")
    (folder / "konzert.md").write_text("# Konzert\n\nDie Gruppe Small Jacket spielt am Freitag.\n")
    for number in range(8):
        (folder / f"seite{number}.md").write_text(f"# Seite {number}\n\nNummer {number}.\n")
    question = "My jacket is too small for me, so can I bring it back to you?"
    means = {"back": "money back", "erstatten": "money back"}
    async with open_knowledge(folder, data=data, languages=Languages("de")) as knowledge:
        assert await first_source_of(knowledge, question) == "/konzert"
        async with build_vectors(knowledge, WordEmbedder(means), data / FILE) as progress:
            await progress.settled.wait()
            said = await read_answer(ExtractiveAgent(knowledge), Turn(question, SITE))
    assert isinstance(said, Answer)
    assert said.sources[0].url == "/erstattung#kauf"
    assert said.text.startswith("The pages of this site are in German; they say:\n\nWir erstatten")


async def test_of_several_processes_one_embeds_the_content(tmp_path: Path) -> None:
    embedders = [WordEmbedder(MEANS) for _ in range(3)]
    folder, data = tmp_path / "content", tmp_path / "data"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    async with AsyncExitStack() as stack:
        opened: list[tuple[Knowledge, Progress]] = []
        for embedder in embedders:
            reading = open_knowledge(folder, data=data, languages=Languages("en"))
            knowledge = await stack.enter_async_context(reading)
            building = build_vectors(knowledge, embedder, data / FILE)
            opened.append((knowledge, await stack.enter_async_context(building)))
        for knowledge, progress in opened:
            await progress.settled.wait()
            assert knowledge.library.vectors is not None
    texts = [text for embedder in embedders for text in embedder.embedded if "jacket" in text]
    assert len(texts) == len(set(texts)) > 0

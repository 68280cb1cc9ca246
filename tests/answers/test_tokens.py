"""What a model is sent: as little as the goals allow, with the answer in it."""

from pathlib import Path

import pytest

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.knowledge.library import Library
from tests.answers.prompts import (
    OURS,
    Prompt,
    five_by_bm25,
    labels,
    sent,
    serve,
    specification,
    tokens_in,
)
from tests.answers.tokens import (
    BEGIN,
    END,
    LEAST_FACTS,
    MOST_PASSAGE_TOKENS,
    MOST_PROMPT_TOKENS,
    PAGE,
    answerable,
    everywhere,
    fact_share,
    five_table,
    labelled_table,
    mean_tokens,
    with_tables,
)

BM25 = "the five best by BM25, whole"


@pytest.fixture(scope="module")
def made() -> dict[str, list[Prompt]]:
    """Prompts for every labelled question: the shop's, and the specifications' where at hand."""
    return everywhere()


@pytest.fixture(scope="module")
def library(shared_folder: Path) -> Library:
    return specification(shared_folder)


@pytest.mark.slow
def test_the_sections_that_answer_are_sent_and_little_else(library: Library) -> None:
    served = [serve(label, library, sent) for label in labels()]
    assert len(served) == 5
    assert all(one.complete for one in served)
    assert sum(one.tokens for one in served) / len(served) <= MOST_PASSAGE_TOKENS


def test_what_has_to_be_sent_stands_in_the_specification(library: Library) -> None:
    for label in labels():
        for needed in label.sections:
            units = {
                unit.text
                for passage in library.passages
                if passage.anchor == needed.anchor
                for unit in passage.units
            }
            assert units, needed.anchor
            assert units.issuperset(needed.sentences)


def test_an_answer_that_is_not_all_there_does_not_count(library: Library) -> None:
    (label, *_) = labels()
    assert serve(label, library, sent).complete
    assert not serve(label, library, lambda turn, library: ()).complete
    assert not all(serve(label, library, five_by_bm25).complete for label in labels())


@pytest.mark.slow
def test_the_fact_is_in_a_short_prompt(made: dict[str, list[Prompt]]) -> None:
    chosen = answerable(made[OURS])
    assert fact_share(chosen) >= LEAST_FACTS
    assert mean_tokens(chosen) <= MOST_PROMPT_TOKENS


def test_less_is_sent_than_the_five_best_passages_and_more_of_it_answers(
    made: dict[str, list[Prompt]],
) -> None:
    ours, theirs = answerable(made[OURS]), answerable(made[BM25])
    assert mean_tokens(ours) < mean_tokens(theirs)
    assert fact_share(ours) > fact_share(theirs)


def test_the_page_gives_the_tables_as_they_are(
    made: dict[str, list[Prompt]], library: Library, shared_folder: Path
) -> None:
    page = PAGE.read_text("utf-8")
    assert BEGIN in page
    assert END in page
    tables = five_table(library, shared_folder), labelled_table(made)
    assert page == with_tables(page, *tables), "run python -m tests.answers.tokens --write"


def test_the_estimate_is_near_the_count(library: Library) -> None:
    texts = [passage.text for passage in library.passages]
    estimated, counted = sum(map(estimate_tokens, texts)), sum(map(tokens_in, texts))
    assert 0.9 <= estimated / counted <= 1.2

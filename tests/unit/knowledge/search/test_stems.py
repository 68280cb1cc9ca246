"""The stems of English words, which are kept next to them."""

from aitp_desk.knowledge.search.synonyms import english_stems, plain_english
from aitp_desk.knowledge.search.tokenizer import NAMES
from tests.support.content.english_stems import FOLDER, made


def test_the_stems_that_are_kept_are_those_of_the_words() -> None:
    kept = (FOLDER / "stems.txt").read_text("utf-8")
    assert kept == made(), (
        "words have changed: .venv/bin/python -m tests.support.content.english_stems"
    )


def test_names_have_stems_and_are_no_plain_english() -> None:
    assert english_stems().keys() >= NAMES
    assert plain_english() < english_stems().keys()
    assert NAMES - plain_english()

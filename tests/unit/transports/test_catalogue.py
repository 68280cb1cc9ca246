"""Every text of transports is there in every language that the desk speaks."""

from __future__ import annotations

import json
import re
import string
from importlib.resources import files
from pathlib import Path

import pytest

from aitp_desk.agent.speech import ENGLISH
from aitp_desk.transports.wire.catalogue import TextCatalogue

ROOT = Path(str(files("aitp_desk.transports")))
CATALOGUES = sorted(ROOT.rglob("texts.json"))


def values_of(text: str) -> set[str]:
    """The values that a text names."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.name)
def test_all_languages_have_all_texts_with_the_same_values(path: Path) -> None:
    texts: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    languages = list(next(iter(texts.values())))
    for key, translations in texts.items():
        assert list(translations) == languages, key
        for language, text in translations.items():
            assert values_of(text) == values_of(translations[ENGLISH]), (key, language)
            assert text == re.sub(r"\s+", " ", text).strip()


def test_all_texts_are_in_the_same_languages() -> None:
    """A person reads the frame of a mail in the language of the answer in it."""
    texts = [json.loads(path.read_text("utf-8")) for path in CATALOGUES]
    (languages,) = {tuple(next(iter(one.values()))) for one in texts}
    spoken = Path(str(files("aitp_desk.agent.speech"))).glob("*.toml")
    assert set(languages) == {path.stem for path in spoken}


def test_an_unknown_language_is_answered_in_english() -> None:
    catalogue = TextCatalogue("aitp_desk.transports.host")
    assert catalogue.say("yes", "de-AT") == "Ja"
    assert catalogue.say("yes", "tlh") == catalogue.say("yes", "") == "Yes"


def test_a_value_is_not_read_as_a_text() -> None:
    catalogue = TextCatalogue("aitp_desk.transports.host")
    assert catalogue.say("edited", "en", text="{site}") == "Correction: {site}"

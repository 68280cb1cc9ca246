"""The catalogue of the pages' own words: whole in every language, and nothing in it is unused."""

from __future__ import annotations

import json
import re
from pathlib import Path

from aitp_desk.web.cards.assets import read_card_texts
from aitp_desk.web.pages.blocks.texts import LANGUAGES

PACKAGE = Path(__file__).parents[2] / "aitp_desk"
CATALOGUE = json.loads((PACKAGE / "web" / "pages" / "blocks" / "texts.json").read_text("utf-8"))
PUT_BEHIND = re.compile(r"\.(?:one|other|advice|hint)$")
"""Forms that are chosen where a key is used."""
VALUES = re.compile(r"\{(\w+)\}")
IN_TEMPLATE = re.compile(r"\{\{(\w+\.[\w.]+)\}\}")
IN_CALL = re.compile(r'\b(?:say|count)\(\s*"([\w.]+)"')
IN_CODE = re.compile(r'"([a-z0-9]+(?:\.[a-z0-9]+)+)"')
IN_SCRIPT = re.compile(r"\b(?:text|counted)\(\s*([^;]*?)[,)]")
BY_TYPE = re.compile(r'"(wrong\w*)"')
"""What is wrong with a field stands in a table of the script, by the field's type."""


def test_the_languages_are_those_that_are_promised() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "it", "nl", "pt", "ja", "zh"}


def test_a_text_is_there_in_every_language_with_the_same_values() -> None:
    for key, texts in CATALOGUE.items():
        assert tuple(texts) == LANGUAGES, key
        assert all(text.strip() == text and text for text in texts.values()), key
        values = {frozenset(VALUES.findall(text)) for text in texts.values()}
        assert len(values) == 1, key


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    named, mentioned = set[str](), set[str]()
    for folder in ("web/pages", "web/export", "app/protocols"):
        for file in (PACKAGE / folder).rglob("*"):
            if file.stem == "texts":
                continue
            if file.suffix in {".html", ".py"}:
                source = file.read_text("utf-8")
                named |= {*IN_TEMPLATE.findall(source), *IN_CALL.findall(source)}
                mentioned |= set(IN_CODE.findall(source))
            elif file.suffix == ".js":
                source = file.read_text("utf-8")
                calls = " ".join(IN_SCRIPT.findall(source))
                names = [*re.findall(r'"(\w+)"', calls), *BY_TYPE.findall(source)]
                named |= {f"script.{name}" for name in names if name not in read_card_texts()["en"]}
    bare = {key: PUT_BEHIND.sub("", key) for key in CATALOGUE}
    assert named - {*bare, *bare.values()} == set()
    assert [key for key in bare if not {key, bare[key]} & (named | mentioned)] == []

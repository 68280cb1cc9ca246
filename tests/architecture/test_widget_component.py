"""The chat component: small, plain, without markup from words, and with all texts everywhere."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from aitp_desk.config import Site, Widget
from aitp_desk.config.sections.widget import WidgetLanguage
from aitp_desk.web.bundle import bundle_modules, read_modules
from aitp_desk.web.cards.assets import CARDS, read_cards
from aitp_desk.web.widget.assets import (
    COMPONENT,
    LAUNCHER_TEXTS,
    read_component,
    read_texts,
)
from aitp_desk.web.widget.text_numbers import number_texts
from aitp_desk.web.widget.wire import write_loader
from tests.architecture.test_console_pages import LONGEST, MARKUP

SCRIPTS = sorted([*COMPONENT.rglob("*.js"), *CARDS.glob("*.js")])
DECLARED = re.compile(
    r"^(?:export )?(?:const|let|class|(?:async )?function\*?) (\w+)", re.MULTILINE
)
KEPT = re.compile(r"(?<=[\w)\]?/]\.)(?<!\bthis\.)[a-zA-Z]\w*|\"\w+\"")
"""Names of members, and strings of a word: what no shorter name replaces."""
OWN = re.compile(r"\bthis\.(\w+)")
"""Members that a class names by itself; those that only it names become shorter."""
COMMENT = re.compile(r"\s// [^\n]*|^\s*/\*\*.*?\*/", re.DOTALL | re.MULTILINE)
SAID = re.compile(r"\b(text|counted)\(\s*\"(\w+)\"")
UNNAMED = re.compile(r"(?<!function )\b(?:text|counted)\((?!\s*\")")
PLACES = re.compile(r"\{\w+\}")
FORMS = {"pl": ("one", "few", "other"), "ja": ("other",), "zh": ("other",)}
"""The forms of a plural (``Intl.PluralRules``) of whole numbers below a million, but one, other;
the texts of Polish "many" are its "other", which has fractions only.
"""
MAX_LOADER = 3_000
MAX_ALL = 26_200
"""Bytes after gzip: of the first load, and of all that the chat ever loads, with its texts in the
language that needs most: a browser loads one.
"""


def zipped(body: bytes) -> int:
    return len(gzip.compress(body, mtime=0))


def test_it_is_small() -> None:
    version, files = read_component()
    loader = zipped(write_loader(version, Widget(accent="#ffcc00"), Site()))
    texts = max(zipped(files[f"texts/{language}.json"].body) for language in read_texts())
    rest = sum(zipped(file.body) for name, file in files.items() if not name.startswith("texts/"))
    assert loader < MAX_LOADER
    assert loader + rest + texts <= MAX_ALL


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_module_is_short_says_what_it_is_for_and_makes_nothing_of_markup(file: Path) -> None:
    text = file.read_text("utf-8")
    assert text.startswith("// ")
    assert len(text.splitlines()) <= LONGEST
    assert max(map(len, text.splitlines())) <= 110
    assert MARKUP.search(text) is None
    assert "document.cookie" not in text


def test_the_chat_is_all_modules_in_one_that_imports_nothing() -> None:
    bundled = [file for file in SCRIPTS if file.name != "loader.js"]
    declared = [name for file in bundled for name in DECLARED.findall(file.read_text("utf-8"))]
    bundle = bundle_modules(
        "chat", {**read_modules(COMPONENT), **read_cards()}, exports=True
    ).decode()
    _, files = read_component()
    for served in (bundle, files["chat.js"].body.decode()):
        said = re.findall(r"^(?:import|export)\b.*?\(", served, re.MULTILINE)
        assert said == ["export async function makeChat("]
    assert sorted(DECLARED.findall(bundle)) == sorted(declared)


def test_the_chat_served_has_all_members_and_strings_of_its_modules() -> None:
    modules = {**read_modules(COMPONENT), **read_cards()}
    bundle = bundle_modules("chat", modules, exports=True).decode()
    bundle, _ = number_texts(bundle, LAUNCHER_TEXTS)
    _, files = read_component()
    style, _, served = files["chat.js"].body.decode().partition("\n")
    assert style.startswith("const STYLE = ")
    kept = [sorted(KEPT.findall(COMMENT.sub("", code))) for code in (bundle, served)]
    assert kept[0] == kept[1]
    assert len(kept[0]) > 1000
    own = [OWN.findall(COMMENT.sub("", code)) for code in (bundle, served)]
    pairs = set(zip(*own, strict=True))
    assert len({name for name, _ in pairs}) == len({name for _, name in pairs}) == len(pairs)


def test_the_catalogues_served_have_all_texts_and_begin_with_the_launchers() -> None:
    _, files = read_component()
    for language, texts in read_texts().items():
        served = json.loads(files[f"texts/{language}.json"].body)
        said = [one.values() if isinstance(one, dict) else [one] for one in served]
        assert sorted(text for some in said for text in some) == sorted(texts.values())
        assert served[: len(LAUNCHER_TEXTS)] == [texts[name] for name in LAUNCHER_TEXTS]


def test_no_two_modules_declare_the_same_name() -> None:
    bundled = [file for file in SCRIPTS if file.name != "loader.js"]
    declared = [name for file in bundled for name in DECLARED.findall(file.read_text("utf-8"))]
    assert len(declared) == len(set(declared))


def test_the_languages_that_can_be_set_are_those_of_the_catalogue() -> None:
    assert set(read_texts()) == set(get_args(WidgetLanguage))


def list_names(language: str) -> list[str]:
    """The names of all texts of a language: English ones, with its own forms of plurals."""
    english = read_texts()["en"]
    plurals = {name.removesuffix(".other") for name in english if name.endswith(".other")}
    plain = {name for name in english if name.partition(".")[0] not in plurals}
    forms = FORMS.get(language, ("one", "other"))
    return sorted(plain | {f"{name}.{form}" for name in plurals for form in forms})


@pytest.mark.parametrize("language", read_texts())
def test_no_language_lacks_a_text_or_a_value_in_it(language: str) -> None:
    """Add a text in all languages, in polite forms, in the order of the alphabet.

    A text with a count is one text for each form of the language: see ``FORMS``.
    """
    english, texts = read_texts()["en"], read_texts()[language]
    assert list(texts) == list_names(language)
    for name, text in texts.items():
        assert text.strip() == text != "", name
        is_one = name.endswith(".one")
        same = name if name in english else f"{name.partition('.')[0]}.other"
        said, expected = set(PLACES.findall(text)), set(PLACES.findall(english[same]))
        assert said == expected or (is_one and said == expected | {"{count}"}), name


def test_every_text_is_used_and_every_text_used_is_there() -> None:
    used = set(LAUNCHER_TEXTS)
    for file in SCRIPTS:
        for how, name in SAID.findall(file.read_text("utf-8")):
            used |= {f"{name}.one", f"{name}.other"} if how == "counted" else {name}
    assert used == set(read_texts()["en"])


def test_every_call_names_its_text_for_the_server_to_number_it() -> None:
    for file in SCRIPTS:
        assert UNNAMED.search(COMMENT.sub("", file.read_text("utf-8"))) is None, file.name

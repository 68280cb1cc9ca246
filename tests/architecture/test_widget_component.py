"""The chat component: small, plain, without markup from words, and with all texts everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from aitp_desk.config import Site, Widget
from aitp_desk.config.sections.widget import WidgetLanguage
from aitp_desk.web.bundle import bundle_modules, put_constants, read_modules
from aitp_desk.web.cards.assets import CARDS, read_cards
from aitp_desk.web.javascript.tokens import Token, read_tokens
from aitp_desk.web.widget.assets import (
    COMPONENT,
    LAUNCHER_TEXTS,
    TYPES,
    read_component,
    read_texts,
    zip_file,
)
from aitp_desk.web.widget.members import OWN_MEMBERS
from aitp_desk.web.widget.text_numbers import number_texts
from aitp_desk.web.widget.wire import write_loader
from tests.architecture.test_console_pages import LONGEST, MARKUP

SCRIPTS = sorted([*COMPONENT.rglob("*.js"), *CARDS.glob("*.js")])
DECLARED = re.compile(
    r"^(?:export )?(?:const|let|class|(?:async )?function\*?) (\w+)", re.MULTILINE
)
COMMENT = re.compile(r"\s// [^\n]*|^\s*/\*\*.*?\*/", re.DOTALL | re.MULTILINE)
SAID = re.compile(r"\b(text|counted)\(\s*\"(\w+)\"")
UNNAMED = re.compile(r"(?<!function )(?<!\.)\b(?:text|counted)\((?!\s*\")")
PLACES = re.compile(r"\{\w+\}")
FORMS = {"pl": ("one", "few", "other"), "ja": ("other",), "zh": ("other",)}
"""The forms of a plural (``Intl.PluralRules``) of whole numbers below a million, but one, other;
the texts of Polish "many" are its "other", which has fractions only.
"""
MAX_LOADER = 3_000
MAX_ALL = 25_000
"""Bytes as gzip: of the first load, and of all that the chat ever loads, with its texts in the
language that needs most: a browser loads one.
"""
RECEIVERS = frozenset(
    """
    this super article attached card chat choice client conversation entry failure field memory
    notice outbox settled speaker upload waiting
    """.split()
)
"""Variables of the chat's own objects, and of an element that the chat has given a method."""


def test_it_is_small() -> None:
    version, files = read_component()
    loader = write_loader(version, Widget(accent="#ffcc00"), Site())
    first = len(zip_file(loader, TYPES[".js"]).zipped)
    texts = max(len(files[f"texts/{language}.txt"].zipped) for language in read_texts())
    rest = sum(len(one.zipped) for name, one in files.items() if not name.startswith("texts/"))
    assert first < MAX_LOADER
    assert first + rest + texts <= MAX_ALL


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


def read_bundle() -> list[Token]:
    """The tokens of all modules, before they become shorter."""
    modules = {**read_modules(COMPONENT), **read_cards()}
    bundle = bundle_modules("chat", modules, exports=True).decode()
    return read_tokens(put_constants(number_texts(bundle, LAUNCHER_TEXTS)[0]))


def list_members(tokens: list[Token]) -> list[tuple[str, str]]:
    """The names after a dot, each with what stands before the dot."""
    words = [place for place, token in enumerate(tokens) if token.kind == "word"]
    at = [place for place in words if tokens[place - 1].text in {".", "?."}]
    return [(tokens[place - 2].text, tokens[place].text) for place in at]


def test_the_chat_served_has_all_members_and_strings_of_its_modules() -> None:
    _, files = read_component()
    style, _, served = files["chat.js"].body.decode().partition("\n")
    assert style.startswith("const STYLE = ")
    whole, short = read_bundle(), read_tokens(served)
    strings = [[one.text for one in each if one.kind == "string"] for each in (whole, short)]
    assert strings[0] == strings[1]
    members = [list_members(each) for each in (whole, short)]
    pairs = {(was[1], now[1]) for was, now in zip(*members, strict=True)}
    assert len({name for name, _ in pairs}) == len({name for _, name in pairs}) == len(pairs)
    shortened = {name for name, now in pairs if name != now}
    foreign = {name for of, name in members[0] if of != "this"}
    assert shortened & foreign <= OWN_MEMBERS
    assert len(pairs) - len(shortened) > 200


def test_a_member_with_a_shorter_name_belongs_to_objects_of_the_chat() -> None:
    loader = {one.text for one in read_tokens((COMPONENT / "loader.js").read_text("utf-8"))}
    assert OWN_MEMBERS & loader <= {"said"}, "a variable of the loader, and no member"
    members = list_members(read_bundle())
    for of, name in members:
        if name in OWN_MEMBERS and of.isidentifier():
            assert of in OWN_MEMBERS | RECEIVERS, f"{of}.{name}"
    used = {token.text for token in read_bundle()}
    assert used >= OWN_MEMBERS


def test_the_catalogues_served_have_all_texts_and_begin_with_the_launchers() -> None:
    _, files = read_component()
    for language, texts in read_texts().items():
        served = files[f"texts/{language}.txt"].body.decode().split("\n")
        said = [form for text in served for form in text.split("|")]
        assert sorted(said) == sorted(texts.values()), "no text has a line break or a bar"
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

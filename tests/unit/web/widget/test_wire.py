"""What the component receives: settings, language, tags."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aitp_desk.agent.speech.person_request import asks_for_person
from aitp_desk.config import Files, Site, Widget
from aitp_desk.config.sections.widget import WidgetPath, WidgetTexts
from aitp_desk.web.widget.assets import read_texts
from aitp_desk.web.widget.wire import (
    find_language,
    write_frame,
    write_loader,
    write_page,
    write_policy,
    write_settings,
)

SITE = Site(name="Books & more", url="https://desk.example", language="fr-CA")


@pytest.mark.parametrize(
    ("wanted", "languages", "found"),
    [
        ("de-AT", (), "de"),
        ("DE", (), "de"),
        ("", (), "fr"),
        ("ko", (), "fr"),
        ("pl-PL", (), "pl"),
        ("ja", ("de", "en"), "de"),
        ("fr", ("en",), "en"),
    ],
)
def test_the_language_is_the_wanted_one_or_the_sites_or_the_first(
    wanted: str, languages: tuple[str, ...], found: str
) -> None:
    widget = msgspec.convert({"languages": languages}, Widget)
    assert find_language(wanted, widget, SITE) == found


def read_told(loader: bytes) -> dict[str, Any]:
    """The constant that the server writes in front of the loader."""
    first = loader.partition(b"\n")[0]
    told: dict[str, Any] = msgspec.json.decode(first[len(b"const DESK = ") : -1])
    return told


def test_the_loader_knows_the_button_and_nothing_else() -> None:
    widget = Widget(corner="left", languages=("de",), accent="#ffcc00")
    first, _, rest = write_loader("1f", widget, SITE).decode().partition("\n")
    told = msgspec.json.decode(first.removeprefix("const DESK = ").removesuffix(";"))
    assert told["version"] == "1f"
    assert told["corner"] == "left"
    assert told["language"] == "de"
    assert list(told["texts"]) == ["de"]
    assert "--accent:#ffcc00;--on-accent:#000000;" in told["style"]
    assert rest.lstrip().startswith("let ")
    assert 'customElements.define("aitp-chat",' in rest


def test_the_loader_has_the_button_in_english_and_the_sites_language() -> None:
    for language, carried in (("pl", ["pl", "en"]), ("en", ["en"]), ("ko", ["en"])):
        told = read_told(write_loader("1f", Widget(), Site(language=language)))
        assert list(told["texts"]) == carried
        assert told["languages"] == list(read_texts())
    polish = read_told(write_loader("1f", Widget(), Site(language="pl")))["texts"]["pl"]
    assert polish == [read_texts()["pl"][name] for name in ("open", "unreachable")]


@pytest.mark.parametrize(
    ("language", "languages", "listed", "greeted"),
    [
        ("de", (), (), ["de"]),
        ("de-AT", ("fr", "sv"), (), ["de", "fr"]),
        ("en", ("de",), (), ["de", "en"]),
        ("en-GB", (), (), sorted(read_texts())),
        ("sv", (), (), sorted(read_texts())),
        ("de", (), ("en", "it"), ["en", "it"]),
    ],
)
def test_visitors_choose_among_the_languages_of_the_site(
    language: str, languages: tuple[str, ...], listed: tuple[str, ...], greeted: list[str]
) -> None:
    site = Site(language=language, languages=languages)
    widget = msgspec.convert({"languages": listed}, Widget)
    assert sorted(read_told(write_loader("1f", widget, site))["greeted"]) == greeted


def test_the_owners_words_come_first() -> None:
    told = msgspec.json.decode(write_settings(Widget(), SITE, ("Where?",), Files()))
    assert told["title"] == "Books & more"
    assert told["suggestions"] == ["Where?"]
    assert told["privacy"] == told["sign_in"] == ""
    assert told["files"]["anonymous"] is False
    assert told["files"]["max_bytes"] == Files().max_bytes
    widget = Widget(title="Ask us", suggestions=("Who?",), privacy_url="/privacy", consent="Kept.")
    told = msgspec.json.decode(write_settings(widget, SITE, ("Where?",), Files()))
    assert (told["title"], told["suggestions"]) == ("Ask us", ["Who?"])
    told_at = msgspec.json.decode(write_settings(Widget(sign_in_url="/sign-in"), SITE, (), Files()))
    assert told_at["sign_in"] == "https://desk.example/sign-in"
    assert (told["privacy"], told["consent"]) == ("https://desk.example/privacy", "Kept.")


def test_the_owners_words_of_a_language_come_before_those_of_all() -> None:
    german = WidgetTexts(language="de", greeting="Fragen Sie!", suggestions=("Wer?",))
    widget = Widget(title="Ask us", greeting="Ask!", suggestions=("Who?",), texts=(german,))
    told = {
        language: msgspec.json.decode(
            write_settings(widget.in_language(language), SITE, (), Files())
        )
        for language in ("de", "en")
    }
    assert (told["de"]["greeting"], told["de"]["suggestions"]) == ("Fragen Sie!", ["Wer?"])
    assert (told["en"]["greeting"], told["en"]["suggestions"]) == ("Ask!", ["Who?"])
    assert told["de"]["title"] == told["en"]["title"] == "Ask us"


def test_what_the_owner_sets_is_told() -> None:
    paths = (WidgetPath(path="/shipping/*", suggestions=("When?",)),)
    widget = Widget(paths=paths, logo="brand/logo.svg", logo_alt="A tent", sound=True)
    told = msgspec.json.decode(write_settings(widget, SITE, (), Files(), retention_days=30))
    assert told["paths"] == [{"path": "/shipping/*", "suggestions": ["When?"]}]
    assert (told["logo"], told["logo_alt"]) == ("/widget/logo", "A tent")
    assert (told["kept_days"], told["sound"]) == (30, True)
    logo = "https://shop.example/logo.svg"
    widget = Widget(logo=logo, show_retention=False)
    told = msgspec.json.decode(write_settings(widget, SITE, (), Files(), retention_days=30))
    assert (told["logo"], told["kept_days"], told["sound"]) == (logo, 0, False)
    assert write_policy("https://desk.example", logo).endswith(
        "img-src https://desk.example https://shop.example"
    )
    assert write_policy("https://desk.example", "logo.svg").endswith("img-src https://desk.example")


@pytest.mark.parametrize("language", read_texts())
def test_the_desk_understands_the_wish_for_a_person(language: str) -> None:
    assert asks_for_person(read_texts()[language]["person"], in_full=True) is not None


def test_a_name_is_no_markup() -> None:
    assert "<title>Books &amp; more</title>" in write_page("1f", Widget(), SITE, "").decode()
    assert 'title="&quot;&gt;"' in write_frame("https://desk.example", '">')

"""An owner asks a site in the shell what a visitor would ask: `aitp-desk ask`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from aitp_desk.cli import main
from tests.commands import run_here

PAGES = {
    "returns.md": """\
# Returns

Send back anything unused within 60 days of delivery.

## Footwear

Boots may be worn outside: bring them back within 30 days for store credit.
""",
    "retours.fr.md": """\
# Retours

Vous avez 45 jours pour renvoyer un article neuf.
""",
    "desk.toml": """\
[site]
languages = ["fr"]
""",
}
FIRST = "How long do I have to send something back?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_an_answer_is_printed_with_its_sources(site: Path) -> None:
    done = run_here("ask", site, FIRST)
    assert (done.code, done.err) == (0, "")
    said, first, *_ = done.out.splitlines()
    assert "60 days" in said
    assert first.split(maxsplit=2) == ["direct", "/returns#returns", "(Returns)"]


def test_a_follow_up_is_asked_after_what_was_asked_before(site: Path) -> None:
    assert "60 days" in run_here("ask", site, "How long?", "--after", FIRST).out
    assert "60 days" not in run_here("ask", site, "How long?").out


def test_a_visitor_is_answered_in_a_language_of_the_site(site: Path) -> None:
    asked = "Combien de jours pour renvoyer un article ?"
    assert "45 jours" in run_here("ask", site, asked, "--locale", "fr").out


def test_a_conversation_ends_with_an_empty_line(site: Path) -> None:
    done = CliRunner().invoke(main, ["ask", str(site)], input=f"{FIRST}\nand boots?\n\nlost\n")
    assert done.exit_code == 0
    first, second = done.output.split("> and boots?\n")
    assert first.startswith(f"> {FIRST}\n")
    assert "60 days" in first
    assert "30 days" in second
    assert "lost" not in second


def test_a_wrong_setting_is_named(site: Path) -> None:
    done = run_here("ask", site, FIRST, "--set", "site.naem=x")
    assert (done.code, done.out) == (1, "")
    assert "site.naem" in done.err

"""An owner asks a site in the shell what a visitor would ask: `aitp-desk ask`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from aitp_desk.agent.extractive.trust import NEEDED
from aitp_desk.cli import main
from aitp_desk.knowledge.enrichment.file import FILE, Line, Question, write_lines
from aitp_desk.knowledge.enrichment.text import make_digest
from aitp_desk.knowledge.snapshot import Knowledge
from tests.support.desk.command import run_here

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
    said, _, sources = done.out.partition("\n  direct")
    assert "60 days" in said
    assert sources.splitlines()[0].split() == ["/returns#returns", "(Returns)"]


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


def test_an_action_that_a_served_desk_would_call_is_named(tmp_path: Path) -> None:
    stall = tmp_path / "stall"
    shutil.copytree(Path(__file__).parents[3] / "examples" / "stall", stall)
    note = "  action      stock  (a desk that is served calls it)\n"
    for asked in ("How many jars of linden honey are left?", "How much is heather honey?"):
        assert run_here("ask", stall, asked).out.endswith(note)
        assert note in run_here("ask", stall, asked, "--explain").out
    assert "action" not in run_here("ask", stall, "Do you ship abroad?").out
    (stall / "actions.py").write_text("1 / 0\n")
    assert "action" not in run_here("ask", stall, "How much is heather honey?").out


def test_a_wrong_setting_is_named(site: Path) -> None:
    done = run_here("ask", site, FIRST, "--set", "site.naem=x")
    assert (done.code, done.out) == (1, "")
    assert "site.naem" in done.err


def explained(site: Path, *asked: str) -> tuple[str, list[str], list[str]]:
    """What decided, the lines of the words, and the lines of the sections."""
    done = run_here("ask", site, *asked, "--explain")
    assert (done.code, done.err) == (0, "")
    assert "-0.00" not in done.out
    _, _, why = done.out.partition("\nWhy: ")
    reason, _, rest = why.partition("\n")
    words, _, sections = rest.partition("\nSections found")
    return reason, words.strip().splitlines()[1:], sections.splitlines()[1:]


def test_an_answer_is_explained_by_words_and_sections(site: Path) -> None:
    reason, words, sections = explained(site, "Can boots be wron outside?")
    assert reason.startswith("The first section fits")
    assert {line.split()[1] for line in words} >= {"boots", "worn", "outside"}
    weights = [float(line.split()[0]) for line in words]
    assert weights == sorted(weights, reverse=True)
    assert sections[0].split()[0] == "1."
    assert sections[0].split()[2:] == ["/returns#footwear", "(Returns:", "Footwear)"]
    assert sections[1].startswith("           covers ")
    assert sections[2].split(maxsplit=1) == ["returns.md:5", "Chosen: it has the best score."]
    assert reason.endswith(" Level: words.")


def test_a_refusal_names_the_words_that_no_page_holds(site: Path) -> None:
    reason, words, sections = explained(site, "Do you sell kayaks?")
    assert reason == "No page contains a word of the question."
    assert [line.split()[1:] for line in words if "kayaks" in line] == [
        ["kayaks", "on", "no", "page"]
    ]
    assert sections == []


def test_words_of_an_earlier_question_are_marked(site: Path) -> None:
    _, words, _ = explained(site, "and boots?", "--after", FIRST)
    assert any(line.endswith("from an earlier question") for line in words)
    assert not any(line.endswith("from an earlier question") for line in words if "boots" in line)


def test_what_needs_no_page_is_explained_too(site: Path) -> None:
    reason, words, sections = explained(site, "What did I ask first?", "--after", FIRST)
    assert reason == "The question is about the conversation, so no page was searched."
    assert (words, sections) == ([], [])


def test_the_questions_of_a_passage_are_a_part_of_its_score(site: Path, tmp_path: Path) -> None:
    asked = "Will you take back muddy shoes?"
    folder = tmp_path / "site"
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns(".desk"))
    knowledge = Knowledge(folder, tmp_path / "data", {})
    passage = next(one for one in knowledge.library.passages if one.anchor == "footwear")
    questions = (Question(asked, "bring them back within 30 days for store credit."),)
    place = (passage.document, passage.trail, passage.anchor)
    write_lines(folder / FILE, [Line(*place, make_digest(passage), "", questions)])
    done = run_here("ask", folder, asked, "--explain")
    assert "30 days" in done.out
    assert "\nSections found, by words + questions\n" in done.out
    assert f"; like {asked!r}" in done.out
    assert "in enriched.jsonl. Level: questions." in done.out
    assert "; like" not in run_here("ask", site, asked, "--explain").out


def test_a_refusal_for_lack_of_evidence_says_how_much_there_is(site: Path) -> None:
    reason, _, sections = explained(site, "Does Zoltan Kayakman deliver boots to Ulaanbaatar?")
    assert reason.startswith("The evidence for the best section is too low: ")
    assert reason.endswith(f"of {NEEDED} for /returns#footwear.")
    held = reason.split("too low: ")[1].split()[0]
    assert sections[2].endswith(f"Refused: its evidence is {held}, and {NEEDED} is needed.")

"""An owner has questions written for the passages, by way of two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.content.enrichment import (
    PAGES,
    Row,
    give_results,
    lines_of,
    reply,
    requests_of,
    write_site,
)
from tests.support.desk.command import run_here

LEAVE = ("What if my mother dies?", "receive five working days with full pay")
WINDOW = ("can I bring it back", "Goods that were not used come back within 30 days of delivery.")
ZIP = ("broken zipper price", "After that we offer a repair: - a new zip costs $12")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


def requested(site: Path, *options: object) -> list[Row]:
    return requests_of(site, site.parent / "requests.jsonl", *options)[1]


def test_a_request_holds_what_a_model_needs_and_short_passages_are_left_out(site: Path) -> None:
    head, rows = requests_of(site, site.parent / "requests.jsonl")
    assert "data" in head["instructions"]
    assert head["reply"].keys() == {"id", "summary", "questions"}
    assert [(row["page"], row["headings"]) for row in rows] == [
        ("leave", ["Bereavement"]),
        ("returns", ["Return window"]),
    ]
    assert "a new zip costs $12" in rows[1]["text"]


@pytest.mark.parametrize("options", [("--only", "returns"), ("--limit", 1)])
def test_fewer_passages_are_written_on_request(site: Path, options: tuple[object, ...]) -> None:
    assert len(requested(site, *options)) == 1


def test_results_become_sorted_lines_next_to_the_content(site: Path) -> None:
    leave, returns = requested(site)
    done = give_results(
        site,
        site.parent / "results.jsonl",
        reply(returns, WINDOW, ZIP, summary="Unused goods come back within 30 days."),
        reply(leave, LEAVE),
    )
    assert "3 questions for 2 passages" in done.out
    assert "2 of 2 passages enriched" in done.out
    first, second = lines_of(site)
    assert (first["page"], second["page"]) == ("leave", "returns")
    assert second["headings"] == ["Return window"]
    assert second["anchor"] == "return-window"
    assert [question["ask"] for question in second["questions"]] == [WINDOW[0], ZIP[0]]
    assert requested(site) == []
    assert run_here("enrich", site, "--check").code == 0


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (("may I return it", "within 60 days of delivery"), "quote is not in the passage"),
        (("see https://evil.example/?q=1", WINDOW[1]), "not safe to show"),
        (("", WINDOW[1]), "empty question"),
        (("long " * 100, WINDOW[1]), "more than 300 characters"),
        (("Can I bring it BACK", ZIP[1]), "asked twice"),
    ],
)
def test_a_question_that_may_not_be_used_is_dropped_alone(
    site: Path, question: tuple[str, str], reason: str
) -> None:
    row = requested(site)[1]
    done = give_results(site, site.parent / "results.jsonl", reply(row, WINDOW, question))
    assert reason in done.err
    assert [one["ask"] for one in lines_of(site)[0]["questions"]] == [WINDOW[0]]


def test_replies_that_fit_no_passage_are_dropped_and_the_others_kept(site: Path) -> None:
    row = requested(site)[0]
    strange = {"id": "0" * 20, "questions": []}
    broken: Row = {"questions": "none"}
    done = give_results(site, site.parent / "results.jsonl", strange, broken, reply(row, LEAVE))
    assert "no passage has this id now" in done.err
    assert "not a valid reply" in done.err
    assert len(lines_of(site)) == 1


def test_only_what_changed_is_requested_again(site: Path) -> None:
    leave, returns = requested(site)
    results = site.parent / "results.jsonl"
    give_results(site, results, reply(leave, LEAVE), reply(returns, WINDOW))
    (site / "returns.md").write_text(PAGES["returns.md"].replace("$12", "$14"), "utf-8")
    checked = run_here("enrich", site, "--check")
    assert checked.code == 1
    assert "returns > Return window: the passage changed." in checked.err
    assert "returns > Return window: not enriched." in checked.err
    assert "leave" not in checked.err
    (changed,) = requested(site)
    done = give_results(site, results, reply(changed, WINDOW))
    assert ", 1 old line removed." in done.out
    assert len(lines_of(site)) == 2


def test_a_damaged_line_is_named_and_the_others_are_kept(site: Path) -> None:
    leave, _ = requested(site)
    give_results(site, site.parent / "results.jsonl", reply(leave, LEAVE))
    with (site / "enriched.jsonl").open("a") as file:
        file.write('{"page": 7}\n')
    done = run_here("enrich", site, "--check")
    assert "enriched.jsonl:2" in done.err


def test_what_was_written_is_never_content(site: Path) -> None:
    leave, _ = requested(site)
    give_results(site, site.parent / "results.jsonl", reply(leave, LEAVE))
    with (site / "leave.md").open("a") as page:
        page.write("\n[all questions](enriched.jsonl)\n")
    run_here("export", site, site.parent / "out")
    assert not list((site.parent / "out").rglob("enriched*"))

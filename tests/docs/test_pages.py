"""The pages are few, short and grouped; the index lists all, and links lead to headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.snippets import EXAMPLES, GROUPS, PAGES, ROOT, anchors, links

DOCS = ROOT / "docs"
GROUPED = [page for page in PAGES if page.parent.parent == DOCS]
MOST_PAGES, MOST_IN_A_FOLDER, MOST_WORDS = 60, 16, 2500
GENERATED = re.compile(r"<!-- (\w+)(?:: written by `[^`]+`)? -->\n.*?<!-- end of \1 -->", re.DOTALL)
CHANGE = re.compile(r"[a-z0-9-]+\.(added|changed|deprecated|removed|fixed|security)\.md")
READERS = re.compile(r"For [^.:;]*(?:owner|developer|operator|contributor|reviewer)s?\b")


def test_there_are_few_pages_and_each_has_a_name_of_its_own() -> None:
    assert len(GROUPED) <= MOST_PAGES
    for group in GROUPS:
        assert len([page for page in GROUPED if page.parent.name == group]) <= MOST_IN_A_FOLDER
    assert len({page.name for page in GROUPED}) == len(GROUPED)
    loose = {path.name for path in DOCS.iterdir()} - {*GROUPS, "README.md"}
    assert loose <= {"changes", "licenses.csv", "pictures"}


def test_the_index_lists_every_page_once_group_after_group() -> None:
    listed = re.findall(
        r"^- \[[^\]]+\]\((\S+\.md)\): ", (DOCS / "README.md").read_text(), re.MULTILINE
    )
    examples = [path for path in listed if path.startswith("../examples/")]
    assert sorted(examples) == sorted(
        f"../{page.relative_to(ROOT).as_posix()}" for page in EXAMPLES
    )
    grouped = [path for path in listed if path not in examples]
    assert sorted(grouped) == sorted(page.relative_to(DOCS).as_posix() for page in GROUPED)
    order = [GROUPS.index(path.partition("/")[0]) for path in grouped]
    assert order == sorted(order)


def test_every_page_is_short_and_names_its_readers_first() -> None:
    long, unnamed = {}, []
    for page in (*GROUPED, *EXAMPLES):
        text = page.read_text("utf-8")
        words = len(GENERATED.sub("", text).split())
        if words > MOST_WORDS:
            long[page.name] = words
        title, _, first = text.partition("\n\n")
        if not re.fullmatch(r"# [^\n]+", title) or not READERS.match(first):
            unnamed.append(page.name)
    assert long == {}
    assert unnamed == []


@pytest.mark.parametrize(
    "page", [*PAGES, *EXAMPLES], ids=lambda page: f"{page.parent.name}/{page.name}"
)
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    missing = []
    for target in links(page):
        path, _, fragment = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        if fragment and to.suffix == ".md" and fragment not in anchors(to):
            missing.append(target)
    assert missing == []


def test_changes_that_wait_for_a_release_are_named_by_kind_and_say_something() -> None:
    waiting = {path for path in (DOCS / "changes").iterdir() if path.name != "README.md"}
    assert {path.name for path in waiting if not CHANGE.fullmatch(path.name)} == set()
    assert {path.name for path in waiting if not path.read_text("utf-8").strip()} == set()

"""The rows and the tests belong together: nothing served goes untested, nothing owed is hidden."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests.requirements.document import LEVELS, WORD, lines_of, quoted, uncovered
from tests.requirements.marks import Mark, marks_below, marks_in
from tests.requirements.rows import HERE, PREFIXES, Requirement, Specification, load
from tests.support.specs.folder import find_shared_folder

each_specification = pytest.mark.parametrize("name", PREFIXES)


def all_requirements() -> list[Requirement]:
    return [row for name in PREFIXES for row in load(name).requirements]


@cache
def marks() -> list[Mark]:
    return marks_below(HERE.parent)


def carried_ids() -> dict[str, str]:
    return {mark.id: mark.place for mark in marks()}


def test_every_file_of_rows_is_known_and_every_known_file_exists() -> None:
    assert {path.stem for path in HERE.glob("*.toml")} == set(PREFIXES)


def test_no_id_stands_twice() -> None:
    counted = Counter(row.id for row in all_requirements())
    assert [found for found, times in counted.items() if times > 1] == []


@each_specification
def test_each_id_is_made_of_prefix_section_and_number(name: str) -> None:
    pattern = "{prefix}-{section}-[1-9][0-9]*"
    wrong = [
        row.id
        for row in load(name).requirements
        if not re.fullmatch(
            pattern.format(prefix=PREFIXES[name], section=re.escape(row.section)), row.id
        )
    ]
    assert wrong == []


@each_specification
def test_each_level_is_a_word_of_its_sentence_where_that_has_one(name: str) -> None:
    wrong = [
        row.id
        for row in load(name).requirements
        if (words := WORD.findall(row.sentence))
        and row.level not in {LEVELS[word] for word in words}
    ]
    assert wrong == []


@each_specification
def test_only_what_binds_visiting_agents_waits_for_the_visitor_side(name: str) -> None:
    reason = "binds visiting agents: waits for the visitor side"
    rows = load(name).requirements
    assert [row.id for row in rows if row.deferred == reason and row.binds != "agent"] == []


def test_an_unknown_field_in_a_row_is_refused() -> None:
    row = b"""
        source = "a.md"
        [[requirement]]
        id = "AHP-1-1"
        section = "1"
        level = "MUST"
        binds = "site"
        sentence = "It MUST be so."
        defered = "a misspelt reason"
    """
    with pytest.raises(msgspec.ValidationError, match="defered"):
        msgspec.toml.decode(row, type=Specification)


@pytest.mark.slow
@each_specification
def test_every_requirement_in_force_is_carried_by_a_test(name: str) -> None:
    carried = carried_ids()
    owed = [
        f"{row.id}: {row.sentence}"
        for row in load(name).requirements
        if row.deferred is None and row.id not in carried
    ]
    assert not owed, f"{len(owed)} without a test:\n" + "\n".join(owed)


def test_no_test_carries_a_deferred_requirement() -> None:
    carried = carried_ids()
    early = [
        f"{row.id} at {carried[row.id]} is deferred: {row.deferred}"
        for row in all_requirements()
        if row.deferred is not None and row.id in carried
    ]
    assert early == []


def test_every_id_that_a_test_carries_exists() -> None:
    known = {row.id for row in all_requirements()}
    unknown = [mark for mark in marks() if mark.id not in known]
    assert unknown == []


def test_marks_are_found_on_functions_classes_parameters_and_modules() -> None:
    source = """
import pytest
pytestmark = pytest.mark.requirement("M-1")
CASES = [pytest.param(1, marks=pytest.mark.requirement("P-1"))]
@pytest.mark.requirement("C-1")
class TestAll:
    @pytest.mark.requirement("F-1", "F-2")
    async def test_one(self): ...
"""
    assert {mark.id for mark in marks_in(source, "a.py")} == {"M-1", "P-1", "C-1", "F-1", "F-2"}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("@pytest.mark.requirement(IDS)\ndef test_one(): ...", "literal"),
        ("@pytest.mark.requirement()\ndef test_one(): ...", "one id or more"),
        ("@pytest.mark.requirement('A-1')\ndef read(): ...", "read is not a test"),
    ],
)
def test_a_mark_that_ties_nothing_is_refused(source: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        list(marks_in(source, "a.py"))


def test_a_heading_without_number_belongs_to_the_numbered_one_above_it() -> None:
    lines = lines_of("# Doc\n## C.2 Types\n```\n# code\n```\n#### Video\nx\n## Open Questions\ny")
    assert [line.section for line in lines if line.text in {"# code", "x", "y"}] == [
        "C.2",
        "C.2",
        "open-questions",
    ]


def test_an_uncovered_word_is_reported_even_next_to_a_covered_one() -> None:
    lines = lines_of("# 1. Rules\n\nA site MUST  serve it and SHOULD say so.\n")
    assert list(uncovered(lines, ["A site MUST serve it…"])) == [
        "line 3: SHOULD in 'A site MUST serve it and SHOULD say so.'"
    ]


def test_without_a_shared_folder_the_documents_are_skipped_and_a_wrong_one_fails(
    tmp_path: Path,
) -> None:
    assert find_shared_folder(str(tmp_path)) == tmp_path
    with pytest.raises(pytest.skip.Exception):
        find_shared_folder(None)
    with pytest.raises(pytest.fail.Exception, match="no folder"):
        find_shared_folder(str(tmp_path / "absent"))


@each_specification
def test_every_sentence_occurs_in_its_section(name: str, shared_folder: Path) -> None:
    specification = load(name)
    lines = lines_of((shared_folder / "specs" / specification.source).read_text(encoding="utf-8"))
    missing = [
        f"{row.id}: {row.sentence}"
        for row in specification.requirements
        if not any(
            line.section == row.section and quoted(row.sentence) in line.text for line in lines
        )
    ]
    missing += [
        f"not a requirement: {passage.sentence}"
        for passage in specification.not_requirements
        if not any(quoted(passage.sentence) in line.text for line in lines)
    ]
    assert missing == []


@each_specification
def test_every_rfc_2119_word_of_the_document_has_a_row(name: str, shared_folder: Path) -> None:
    specification = load(name)
    lines = lines_of((shared_folder / "specs" / specification.source).read_text(encoding="utf-8"))
    sentences = [row.sentence for row in specification.requirements]
    sentences += [passage.sentence for passage in specification.not_requirements]
    assert list(uncovered(lines, sentences)) == []

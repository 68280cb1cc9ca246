"""Titles and headings as visitors are offered them."""

import pytest

from aitp_desk.knowledge.documents.titles import drop_number


@pytest.mark.parametrize(
    ("heading", "offered"),
    [
        ("8.5. Printing", "Printing"),
        ("8.5 Printing", "Printing"),
        ("3. Returns", "Returns"),
        ("Chapter 11. Customs", "Customs"),
        ("A.1 Annex", "Annex"),
        ("24 hour delivery", "24 hour delivery"),
        ("3 ways to pay", "3 ways to pay"),
        ("404 page", "404 page"),
    ],
)
def test_a_section_loses_its_number_and_a_name_keeps_its_own(heading: str, offered: str) -> None:
    assert drop_number(heading) == offered

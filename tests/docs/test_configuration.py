"""`docs/run/configuration.md` tells the truth about the settings."""

import re

from aitp_desk.config.catalogue import names, sections
from tests.docs.settings_table import BEGIN, END, PAGE, group_sections, with_settings


def test_the_table_of_settings_is_the_one_in_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
    assert page == with_settings(page), "run python -m tests.docs.settings_table"


def test_every_section_is_found_by_its_topic() -> None:
    page = PAGE.read_text(encoding="utf-8")
    grouped = group_sections()
    assert all(grouped.values())
    assert sum(map(len, grouped.values())) == len(list(sections()))
    for topic, found in grouped.items():
        part = page.partition(f"\n### {topic}\n")[2].partition("\n### ")[0]
        assert [f"#### `{section.heading}`" for section in found] == [
            line for line in part.splitlines() if line.startswith("#### ")
        ]
        assert f"](#{topic.lower().replace(' ', '-')}): `{found[0].heading}`" in page


def test_every_setting_says_what_it_is_for_in_a_sentence() -> None:
    for section in sections():
        for setting in section.settings:
            assert re.fullmatch(r"[A-Z][^|\n]+\.", setting.sentence), setting.key


def test_the_page_names_no_setting_that_does_not_exist() -> None:
    page = PAGE.read_text(encoding="utf-8")
    known = set(names())
    tops = "|".join({name.partition(".")[0] for name in known})
    assert set(re.findall(rf"`((?:{tops})\.[a-z_.]+)`", page)) <= known

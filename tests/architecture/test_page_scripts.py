"""The scripts of the pages: small modules that take no words for markup and load nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aitp_desk.pages.assets import ASSETS, IMPORTED, SCRIPT
from tests.architecture.test_console_pages import IMPORT, LONGEST, MARKUP

FILES = sorted((Path(__file__).parents[2] / "aitp_desk" / "pages" / "scripts").iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_script_is_short_and_makes_nothing_of_markup(file: Path) -> None:
    text = file.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert MARKUP.search(text) is None


def test_every_script_is_served_and_names_those_that_it_imports_as_they_are_served() -> None:
    served = (*IMPORTED, SCRIPT)
    assert {f"{one.name.partition('.')[0]}.js" for one in served} == {file.name for file in FILES}
    for script in served:
        for imported in IMPORT.findall(script.body.decode()):
            assert re.fullmatch(r"\./[a-z]+\.[0-9a-f]{12}\.js", imported)
            assert imported.removeprefix("./") in ASSETS

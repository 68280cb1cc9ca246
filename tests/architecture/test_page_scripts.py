"""The scripts of the pages: small modules that take no words for markup and load nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aitp_desk.web.inspector import routes as inspector
from aitp_desk.web.pages.assets import API_SCRIPT, SCRIPTS
from tests.architecture.test_console_pages import LONGEST, MARKUP

FILES = sorted(
    (Path(__file__).parents[2] / "aitp_desk" / "web" / "pages" / "scripts").rglob("*.js")
)
INSPECTOR = Path(inspector.__file__).with_name("inspector.js")
DECLARED = re.compile(r"^(?:export )?(?:const|let|class|(?:async )?function) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("file", [*FILES, INSPECTOR], ids=lambda file: file.name)
def test_a_script_is_short_and_makes_nothing_of_markup(file: Path) -> None:
    text = file.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert MARKUP.search(text) is None


def test_a_script_served_is_all_its_modules_in_one_and_imports_nothing() -> None:
    of_all, of_the_api = (asset.body.decode() for asset in (SCRIPTS["en"], API_SCRIPT))
    for served in (of_all, of_the_api):
        assert not re.search(r"^(?:import|export)\b", served, re.MULTILINE)
    for file in FILES:
        first_words = file.read_text("utf-8").partition("\n")[0]
        is_of_the_api = file.parent.name == "api"
        assert of_all.count(first_words) == (0 if is_of_the_api else 1)
        assert of_the_api.count(first_words) == (1 if is_of_the_api or file.stem == "dom" else 0)


def test_no_two_modules_declare_the_same_name() -> None:
    declared = [
        name for file in (*FILES, INSPECTOR) for name in DECLARED.findall(file.read_text("utf-8"))
    ]
    assert len(declared) == len(set(declared))

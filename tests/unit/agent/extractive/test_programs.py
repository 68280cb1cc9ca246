"""Questions that visitors ask on the site of a program: code, installation, what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, Said, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Tern", "https://tern.example")
PAGES = {
    "index.md": "# Tern\n\nTern ships the logs of small services. It needs no server.\n\n"
    "## Install\n\nRun `pip install tern` and restart the service.\n",
    "masking.md": "# Masking\n\nMask a secret by its key, so that nobody sees it:\n\n"
    "```python\nTern(mask=['secret'])\n```\n",
    "plugins.md": "# Plugins\n\nA plugin is a package. Install each plugin that you install into "
    "the folder, and list it in `tern.toml`.\n",
    "themes.md": "# Themes\n\nInstall themes to change the colours. You may install several.\n\n"
    "Tern looks for themes at the start.\n",
    "api.md": "# API\n\n## isEnabled(level)\n\nTells whether lines of a level are written.\n\n"
    "### level (String)\n\nThe level: `if (isEnabled('debug'))`.\n\n"
    "### levelValue (Number)\n\nThe least level that isEnabled compares.\n",
    "codes.md": "# Code\n\nThe code of a line shows how the request ended. An example is 404.\n",
}


async def ask(tmp_path: Path, question: str) -> Said:
    folder = tmp_path / "content"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    languages = Languages("en")
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        return answer(Turn(question, SITE), knowledge.library)


@pytest.mark.parametrize(
    "question",
    [
        "Please show me example code to mask my tokens",
        "Can you show me a code example of how to mask my tokens?",
        "Give me an example of code which masks my tokens",
    ],
)
async def test_code_is_asked_for_by_what_it_does(tmp_path: Path, question: str) -> None:
    said = await ask(tmp_path, question)
    assert isinstance(said, Answer)
    assert said.found
    assert said.text.endswith("Tern(mask=['secret'])\n```")


@pytest.mark.parametrize("question", ["When should I use Tern?", "Why would one choose tern"])
async def test_what_a_program_is_for_is_told_by_its_introduction(
    tmp_path: Path, question: str
) -> None:
    said = await ask(tmp_path, question)
    assert isinstance(said, Clarification)
    assert said.question.startswith("Tern: Tern ships the logs of small services.")


async def test_it_is_the_program_if_the_home_page_has_a_section_on_it(tmp_path: Path) -> None:
    said = await ask(tmp_path, "How do I install it?")
    assert isinstance(said, Answer)
    assert said.text.startswith("Run pip install tern")


async def test_a_name_is_explained_by_its_section_before_the_parts_of_it(tmp_path: Path) -> None:
    said = await ask(tmp_path, "isEnabled")
    assert isinstance(said, Answer)
    assert [source.url for source in said.sources][:2] == [
        "/api#isenabledlevel",
        "/api#level-string",
    ]

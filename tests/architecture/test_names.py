"""A module is one noun of the field, and a folder has few entries: docs/contribute/contributing.md,
"Names"."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.sources import PACKAGES, ROOT, sources

MOST_ENTRIES = 16
MOST_LAYERS = 18
"""The folders of the package itself are its layers, which pyproject.toml orders."""
TERMS = frozenset(
    "docstring embedding encoding fastembed feed framing listing ranking routing "
    "spelling testing tracing".split()
)
"""Terms of the field, and names, that end as a verb does."""
ALIASES = frozenset({"aitp_desk/protocols/hac/checking.py"})
"""Former names that packages may still import."""
VERB = re.compile(r"(?:ing|ed)$")
NO_NOUNS = frozenset(
    "about after again ahead alike already alone and anew apart at before below beside besides "
    "common further helper helpers here later manager managers misc of off on once other out over "
    "shown their then there told twice under until util utils what where who".split()
)
NOUNS_IN_ING = frozenset(
    "beginning binding ceiling embedding finding greeting heading listing meaning padding pending "
    "ranking rating reading setting standing string thing thinking tracing wording "
    "incoming missing outgoing remaining waiting working".split()  # adjectives of a state
)
"""Names of values that end as a verb does."""
TERMS_OF_THE_INTERFACE = frozenset("asking failing".split())
"""Names that packages of capabilities know: a question as it is asked, a job that fails."""
STORED = frozenset({"aitp_desk/agent/enrichment/dispatch.py: creating"})
"""Members of stored files."""
OF_A_MODEL = re.compile(
    r"\b(?:(?:claude|gpt|gemini|mistral|llama|command)-\w*\d|qwen\d|bge-|\w+-e5-|all-MiniLM|"
    r"text-embedding-)",
    re.IGNORECASE,
)
"""Names of models begin so; defaults are in data files, and examples in the pages."""
NUMBERED = "store/schema/*"
"""Migrations are a sequence: they stand in one folder of their engine, by their numbers."""


def modules() -> list[Path]:
    return [
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.name.startswith("__") and path.relative_to(ROOT).as_posix() not in ALIASES
    ]


def test_modules_and_packages_are_named_by_nouns() -> None:
    names = {part for path in modules() for part in path.with_suffix("").parts}
    last_words = {name: name.rpartition("_")[2] for name in names}
    assert {
        name
        for name, word in last_words.items()
        if word in NO_NOUNS or (VERB.search(word) and word not in TERMS)
    } == set()


def test_values_are_named_by_nouns_and_not_by_what_is_done_with_them() -> None:
    gerunds = set()
    named = set(modules())
    for source in sources():
        name = source.path.as_posix()
        if not name.startswith("aitp_desk/") or source.path not in named:
            continue
        for value in source.values:
            word = value.strip("_")
            last = word.rpartition("_")[2]
            if word.startswith(("is_", "has_")) or not last.endswith("ing"):
                continue
            if last not in NOUNS_IN_ING | TERMS_OF_THE_INTERFACE:
                gerunds.add(f"{name}: {word}")
    assert gerunds - STORED == set()


def test_no_folder_has_more_entries_than_one_sees_at_once() -> None:
    folders = {path for package in PACKAGES for path in (ROOT / package).rglob("*/")}
    folders |= {ROOT / package for package in PACKAGES}
    crowded = {}
    for folder in folders:
        if folder.name == "__pycache__" or folder.match(NUMBERED):
            continue
        entries = {entry.name for entry in folder.iterdir()} - {"__init__.py", "__pycache__"}
        modules_alone = {name for name in entries if name != "py.typed"}
        most = MOST_ENTRIES
        if folder == ROOT / "aitp_desk":
            modules_alone = {name for name in modules_alone if not name.endswith(".py")}
            most = MOST_LAYERS
        if len(modules_alone) > most:
            crowded[str(folder.relative_to(ROOT))] = len(modules_alone)
    assert crowded == {}


def test_few_modules_are_next_to_the_folders_of_the_package() -> None:
    loose = {path.name for path in (ROOT / "aitp_desk").glob("*.py")} - {"__init__.py"}
    assert loose == {"__main__.py", "commands.py", "middleware.py", "testing.py"}


def test_no_code_names_a_model() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for found in OF_A_MODEL.finditer(path.read_text(encoding="utf-8"))
    ] == []

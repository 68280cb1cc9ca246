"""Docstrings, texts and documentation use the field's words (docs/contribute/contributing.md)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.sources import ROOT, sources

DOCUMENTS = ("README.md", "CHANGELOG.md", "docs", "capabilities", "examples/clients")
MOST_WORDS = 14
LINE_END = "\n"
DENIED = re.compile(
    r"\b(?:whoever|beside|anew|at\s+length|what\s+comes\s+of"
    r"|(?:is|are|was|were)\s+told|as\s+(?:it\s+stands|they\s+stand)|is\s+to\s+go"
    r"|of\s+(?:its|their)\s+own|(?<!visitor )(?<!caller )who\s+(?:asks|calls)|(?<!-)somebody)\b",
    re.IGNORECASE,
)
"""Words that hide a noun: the caller, in the background, again, in full, receives, separate.

``page-somebody`` is a program, and "a caller who asks" has its noun.
"""


def test_no_text_of_the_code_has_a_denied_word() -> None:
    found = [
        f"{module.path}:{line}: {match[0]}"
        for module in sources()
        for line, text in module.texts
        for match in DENIED.finditer(text)
    ]
    assert found == []


def test_the_first_sentence_of_a_docstring_is_short() -> None:
    long = [
        f"{module.path}:{line}: {len(sentence.split())} words"
        for module in sources()
        for line, sentence in module.first_sentences
        if len(sentence.split()) > MOST_WORDS
    ]
    assert long == []


def test_no_document_has_a_denied_word() -> None:
    pages = [page for name in DOCUMENTS for page in _pages(ROOT / name)]
    found = [
        f"{page.relative_to(ROOT)}:{text.count(LINE_END, 0, match.start()) + 1}: {match[0]}"
        for page in pages
        for text in [page.read_text("utf-8")]
        for match in DENIED.finditer(text)
    ]
    assert found == []


def _pages(at: Path) -> list[Path]:
    found = [at] if at.is_file() else sorted(at.rglob("*.md"))
    return [page for page in found if "node_modules" not in page.parts]

"""Docstrings, texts and documentation use the field's words (docs/contribute/contributing.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("aitp_desk", "capabilities")
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


class Texts(NamedTuple):
    """The texts of a module, each with its line."""

    path: str
    constants: Sequence[tuple[int, str]]
    sentences: Sequence[tuple[int, str]]


@cache
def modules() -> Sequence[Texts]:
    """Return the texts of every module; the syntax trees of all at once are slow to keep."""
    found = []
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        tree = ast.parse(path.read_text("utf-8"))
        texts = list(texts_of(tree)), list(first_lines(tree))
        found.append(Texts(str(path.relative_to(ROOT)), *texts))
    return found


def texts_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and string constants of a module, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def first_lines(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the first sentence of each docstring, up to its first full stop, colon or semicolon."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, re.split(r"[.;:](?:\s|$)|\n\n", docstring, maxsplit=1)[0]


def test_no_text_of_the_code_has_a_denied_word() -> None:
    found = [
        f"{module.path}:{line}: {match[0]}"
        for module in modules()
        for line, text in module.constants
        for match in DENIED.finditer(text)
    ]
    assert found == []


def test_the_first_sentence_of_a_docstring_is_short() -> None:
    long = [
        f"{module.path}:{line}: {len(sentence.split())} words"
        for module in modules()
        for line, sentence in module.sentences
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
    return [at] if at.is_file() else sorted(at.rglob("*.md"))

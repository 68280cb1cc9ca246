"""Marks the parts of code for the style sheet, with Pygments.

Only classes are written, from a short list, never a style. Code is the owner's, but it is long
sometimes: a block that exceeds the size or the time stays plain.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape
from time import thread_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_CHARACTERS = 20_000
"""Longer blocks stay plain."""
MAX_SECONDS = 0.25
"""How long one block may take, in processor time: a busy machine has colours too."""

_CLASS_BY_TOKEN = {
    "Comment": "comment",
    "Comment.Preproc": "keyword",
    "Keyword": "keyword",
    "Keyword.Constant": "number",
    "Operator.Word": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Literal.Date": "number",
    "Name.Attribute": "attribute",
    "Name.Builtin": "attribute",
    "Name.Class": "name",
    "Name.Decorator": "name",
    "Name.Function": "name",
    "Name.Namespace": "name",
    "Name.Tag": "keyword",
    "Name.Variable": "attribute",
    "Generic.Deleted": "deleted",
    "Generic.Heading": "keyword",
    "Generic.Inserted": "inserted",
    "Generic.Prompt": "comment",
    "Generic.Subheading": "keyword",
}
CLASSES = frozenset(_CLASS_BY_TOKEN.values())
"""Every class that marked code has."""


def mark_code(code: str, language: str, seconds: float = MAX_SECONDS) -> str | None:
    """Return code as HTML with a class on each marked part.

    Parameters:
        language: a name or an alias of it, such as ``python`` or ``js``.
        seconds: how long it may take.

    Returns:
        None where the code stays plain: of an unknown language, too long, or too slow.
    """
    if not code or len(code) > MAX_CHARACTERS:
        return None
    lexer = _find_lexer(language.lower())
    if lexer is None:
        return None
    parts: list[str] = []
    until = thread_time() + seconds
    for number, (mark, text) in enumerate(_join(lexer.get_tokens_unprocessed(code))):
        if number % 64 == 0 and thread_time() > until:
            return None
        shown = escape(text, quote=False)
        parts.append(f'<span class="{mark}">{shown}</span>' if mark else shown)
    marked = "".join(parts)
    return marked if "<span" in marked else None


def _join(tokens: Iterator[tuple[int, Any, str]]) -> Iterator[tuple[str, str]]:
    """Join neighbours of one class, for short pages."""
    last, joined = "", ""
    for _, kind, text in tokens:
        mark = _find_class(kind)
        if mark == last or not text.strip():
            joined += text
            continue
        if joined:
            yield last, joined
        last, joined = mark, text
    if joined:
        yield last, joined


@cache
def _find_class(token: Any) -> str:
    """Return the class of a token type: its own, or that of the nearest type above."""
    name = str(token).removeprefix("Token").lstrip(".")
    while name:
        if name in _CLASS_BY_TOKEN:
            return _CLASS_BY_TOKEN[name]
        name = name.rpartition(".")[0]
    return ""


@lru_cache(maxsize=256)
def _find_lexer(language: str) -> Lexer | None:
    """Find a language's lexer; imported on first use, to keep the start fast."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None

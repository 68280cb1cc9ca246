"""Docstrings as Markdown: the roles of Sphinx become code, terms of lists become paragraphs."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|data|attr|mod|exc):`~?(?:[\w.]*\.)??([\w.]+?)`")
_TERM = re.compile(r"^(?=\S)([^\n:]{1,40})\n((?:    \S[^\n]*\n?)+)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Changes each docstring before it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was loaded."""
        if obj.docstring:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = _TERM.sub(_paragraph, text)


def _paragraph(found: re.Match[str]) -> str:
    text = "\n".join(line.strip() for line in found[2].splitlines())
    return f"\n**{found[1]}.** {text}\n"

"""Converts Jupyter notebooks to Markdown: their texts, their code and its short outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from aitp_desk.knowledge.sources.formats.base import FormatError

MAX_OUTPUT = 1000
"""A longer output is a listing, not text."""
_TICKS = re.compile(r"`+")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def notebook_markdown(text: str) -> str:
    """Return the cells of a notebook (nbformat 3 and 4) as Markdown.

    Raises:
        FormatError: it is no notebook.
    """
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        notebook = None
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None
    holder = sheets[0] if isinstance(sheets, list) and sheets else notebook
    cells = holder.get("cells") if isinstance(holder, dict) else None
    if not isinstance(cells, list):
        raise FormatError("It is not a notebook: a JSON object with a list of cells.")
    language = _language(notebook.get("metadata"))
    return "\n\n".join(part for cell in cells for part in _cell(cell, language) if part.strip())


def _language(metadata: Any) -> str:
    found = metadata if isinstance(metadata, dict) else {}
    for name in ("language_info", "kernelspec"):
        about = found.get(name)
        if isinstance(about, dict):
            said = about.get("name" if name == "language_info" else "language")
            if isinstance(said, str) and said.isalnum():
                return said
    return "python"


def _cell(cell: Any, language: str) -> Iterator[str]:
    if not isinstance(cell, dict):
        return
    source = _text(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "code":
        tags = (cell.get("metadata") or {}).get("tags") if _has_metadata(cell) else None
        hidden = set(tags) if isinstance(tags, list) else set()
        if not hidden & {"remove-cell", "hide-cell", "remove_cell"}:
            if not hidden & {"remove-input", "hide-input", "remove_input"}:
                yield _fenced(source, language)
            for output in cell.get("outputs") or ():
                said = _COLOURS.sub("", _output(output)).rstrip()
                if 0 < len(said) <= MAX_OUTPUT:
                    yield _fenced(said, "")
    elif cell.get("cell_type") == "heading":
        yield f"{'#' * int(cell.get('level') or 1)} {source}"
    elif cell.get("cell_type") == "markdown":
        yield source


def _has_metadata(cell: dict[str, Any]) -> bool:
    return isinstance(cell.get("metadata"), dict)


def _output(output: Any) -> str:
    if not isinstance(output, dict) or output.get("output_type") in {"error", "pyerr"}:
        return ""
    data = output.get("data")
    if isinstance(data, dict):
        return "" if "image/png" in data else _text(data.get("text/plain"))
    return _text(output.get("text"))


def _text(said: Any) -> str:
    if isinstance(said, list):
        return "".join(line for line in said if isinstance(line, str))
    return said if isinstance(said, str) else ""


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"

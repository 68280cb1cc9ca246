"""Jupyter notebooks."""

import json
from pathlib import Path
from typing import Any

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content


def write(folder: Path, *cells: dict[str, Any]) -> None:
    """Write the notebook ``a.ipynb``."""
    metadata = {"language_info": {"name": "python"}}
    notebook = {"nbformat": 4, "metadata": metadata, "cells": cells}
    folder.joinpath("a.ipynb").write_text(json.dumps(notebook), "utf-8")


def test_texts_code_and_short_outputs_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"cell_type": "markdown", "source": ["# Doors\n", "\n", "They open."]},
        {
            "cell_type": "code",
            "source": "door.open()",
            "outputs": [
                {"output_type": "stream", "text": ["It is \x1b[1mopen\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "x" * 5000}},
                {"output_type": "display_data", "data": {"image/png": "", "text/plain": "Fig"}},
                {"output_type": "error", "traceback": ["secret"]},
            ],
        },
        {"cell_type": "code", "source": "secret", "metadata": {"tags": ["remove-cell"]}},
        {"cell_type": "raw", "source": "secret"},
        {"cell_type": "markdown", "source": "<p hidden>secret</p>\n\n```{note}\nSo.\n```"},
    )  # fmt: skip
    (document,) = load_content(tmp_path).documents
    assert (document.path, document.title) == ("a", "Doors")
    units = [unit.text for passage in split_passages(document) for unit in passage.units]
    assert units == [
        "They open.",
        "```python\ndoor.open()\n```",
        "```\nIt is open\n```",
        "Note: So.",
    ]
    assert "secret" not in document.body


def test_what_is_no_notebook_is_a_problem(tmp_path: Path) -> None:
    tmp_path.joinpath("a.ipynb").write_text("[1]")
    (problem,) = load_content(tmp_path).problems
    assert "not a notebook" in problem.message

"""Parses the front matter of a page: YAML, TOML, or Nikola's comments."""

from __future__ import annotations

import datetime
import re
import tomllib
from typing import Any

from aitp_desk.knowledge.documents.base import Problem
from aitp_desk.model.strict_json import load_yaml

MAX_FRONT_BYTES = 64 * 1024
"""A larger front matter is a mistake: a missing closing line."""
MAX_FRONT_DEPTH = 16

_ENDS = {"---": {"---", "..."}, "+++": {"+++"}}
"""The lines that end a front matter, by its first line: YAML and TOML."""
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_NAME = re.compile(r"[\w-]+:(\s|$)")
_COMMENTED = re.compile(r"\s*(?:<!--[ \t]*\n)?((?:\.\. [\w-]+:(?!:).*\n)+)\s*(?:-->)?")
"""Nikola's front matter: a comment of reStructuredText, in other formats within one of HTML."""


def split_front(source: str, text: str, problems: list[Problem]) -> tuple[dict[str, Any], str]:
    """Split off front matter: from a first line ``---`` to the next ``---`` or ``...``.

    A page may also begin with a horizontal rule, which is ``---`` too. TOML is between ``+++``.
    """
    lines = text.split("\n")
    mark = lines[0].rstrip()
    if mark not in _ENDS:
        return {}, text
    ends = (at for at, line in enumerate(lines) if at and line.rstrip() in _ENDS[mark])
    end = next(ends, None)
    if end is None:
        if mark == "---" and len(lines) > 1 and _NAME.match(lines[1]):
            message = "The front matter has no end and is shown as text; close it with a line ---."
            problems.append(Problem(source, message, 1))
        return {}, text
    import yaml  # only when a page with front matter is read

    front: dict[str, Any] = {}
    block = "\n".join(lines[1:end])
    try:
        front = _parse(block, is_toml=mark == "+++")
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        line_number = at.line + 2 if at else 1
        reason = error.problem or "it is not YAML"
        message = (
            f"The front matter is not read: {reason}. Correct it; quote texts that contain a colon."
        )
        problems.append(Problem(source, message, line_number))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problems.append(Problem(source, f"The front matter is not read: {error}.", 1))
    return front, "\n".join(lines[end + 1 :])


def split_commented(text: str) -> tuple[dict[str, Any], str]:
    """Split off front matter in Nikola's form: lines such as ``.. title: Returns``.

    Returns:
        The front matter, and the text with empty lines in its place.
    """
    found = _COMMENTED.match(text)
    if found is None:
        return {}, text
    lines = (line[3:].partition(":") for line in found[1].splitlines())
    front: dict[str, Any] = {name: value.strip() for name, _, value in lines if value.strip()}
    if "title" not in front:
        return {}, text
    if tags := front.get("tags"):
        front["tags"] = [tag.strip() for tag in tags.split(",")]
    front["draft"] = front.pop("status", "") in {"draft", "private"}
    return front, "\n" * found[0].count("\n") + text[found.end() :]


def _parse(block: str, *, is_toml: bool) -> dict[str, Any]:
    if len(block.encode()) > MAX_FRONT_BYTES:
        raise ValueError(f"it is longer than {MAX_FRONT_BYTES} bytes")
    front = tomllib.loads(block) if is_toml else load_yaml(block, most_depth=MAX_FRONT_DEPTH)
    if front is None:
        return {}
    if not isinstance(front, dict):
        raise ValueError("it must be a list of names and values, such as title: Returns")
    plain: dict[str, Any] = _plain(front)
    return plain


def _plain(value: Any) -> Any:
    """Return the value in JSON's types, dates as ISO 8601.

    Raises:
        ValueError: JSON has no form for it: a number of too many digits, a lone surrogate,
            binary data.
    """
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        raise ValueError("a value is !!binary; put it into a file and write the file's name")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a number has too many digits; put it in quotes")
    if isinstance(value, str) and _HALF_A_CHARACTER.search(value):
        raise ValueError("a text contains half a character (\\ud800 to \\udfff)")
    return value

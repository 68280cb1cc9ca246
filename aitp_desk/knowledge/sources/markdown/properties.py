"""Reads JSX attributes that are data: lists of properties, questions or cards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aitp_desk.knowledge.sources.markdown.admonitions import make_label
from aitp_desk.knowledge.sources.markdown.fences import change_outside_code

_MAX_ROWS = 500
_MAX_DEPTH = 12
_LITERAL = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)(?P<key>\s*:)?"""
    r"""|(?P<last>,(?=\s*[\]}]))|(?P<name>[A-Za-z_$][\w$]*)(?=\s*:)|/\*.{0,500}?\*/"""
    r"""|(?P<word>[^\s,:\[\]{}"'`][^,:\[\]{}"'`]*)""",
    re.DOTALL,
)
_MARKS = re.compile(r"[_*<`~^]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": " ", "r": " "}
_CONSTANTS = frozenset({"true", "false", "null"})
_NAMES = (
    "name",
    "title",
    "label",
    "question",
    "heading",
    "path",
    "query",
    "body",
    "header",
    "param",
)
_PLACES = ("path", "query", "body", "header")
_TEXTS = ("description", "answer", "content", "text", "summary")
_DEFAULTS = ("default", "defaultvalue", "initial")


def facts_of(said: Mapping[str, Any]) -> str:
    """Return a property of an interface with its type and default.

    It also says whether the property is required.

    Parameters:
        said: by names in lower case.
    """
    name = next((_line(said[key]) for key in _NAMES if _line(said.get(key))), "")
    default = next((_line(said[key]) for key in _DEFAULTS if _line(said.get(key))), "")
    facts = [
        next((key for key in _PLACES if _line(said.get(key)) == name), ""),
        _code(_line(said.get("type"))),
        "required" if _is_set(said, "required", "isrequired") else "",
        "optional" if _is_set(said, "optional", "isoptional") else "",
        "deprecated" if _is_set(said, "deprecated", "isdeprecated") else "",
        f"default {_code(default)}" if default else "",
    ]
    told = ", ".join(filter(None, facts))
    name = _code(name) if _MARKS.search(name) else name
    return f"**{name}** ({told}):" if told and name else make_label(name)


def said_by_value(value: str) -> str:
    """Return an attribute that is a list of objects as a Markdown list; else an empty text."""
    inner = value.strip("{} \n")
    if not inner.startswith("[") or "{" not in inner:
        return ""
    try:
        data = json.loads(_LITERAL.sub(_as_json, value.strip()[1:-1]))
    except (ValueError, RecursionError):
        return ""
    rows = [row for row, _ in zip(_rows(data), range(_MAX_ROWS), strict=False)]
    return "\n".join(rows)


def _rows(data: Any, above: str = "", depth: int = 0) -> Iterator[str]:
    """Yield an item for each object with a name and further text; nested ones follow."""
    for one in data if isinstance(data, list) and depth < _MAX_DEPTH else ():
        if not isinstance(one, dict):
            continue
        said = {key.lower(): value for key, value in one.items()}
        key = next((key for key in _NAMES if _line(said.get(key))), "")
        name = _line(said.get(key))
        if name:
            name = f"{above}.{name}" if above else name
            about = next((_line(said[key]) for key in _TEXTS if _line(said.get(key))), "")
            facts = facts_of({**said, key: name})
            if about or facts.endswith("):"):
                yield f"- {facts} {change_outside_code(about, _without_tags)}".rstrip()
        for inner in one.values():
            yield from _rows(inner, name or above, depth + 1)


def _as_json(found: re.Match[str]) -> str:
    if found["text"]:
        text = _ESCAPE.sub(lambda sign: _ESCAPED.get(sign[1], sign[1]), found["text"][1:-1])
        return json.dumps(text) + (found["key"] or "")
    if found["name"]:
        return json.dumps(found["name"])
    if found["word"]:
        word = found["word"].strip()
        return word if word in _CONSTANTS or _is_number(word) else json.dumps(word)
    return ""


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`" if text else ""


def _without_tags(text: str) -> str:
    return text.replace("<", "&lt;")


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", word) is not None


def _is_set(said: Mapping[str, Any], *names: str) -> bool:
    return any(name in said and said[name] in (True, "", "true") for name in names)


def _line(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""

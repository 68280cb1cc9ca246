"""Expands shortcodes of Hugo and templates of Jinja, Liquid and Vue in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aitp_desk.knowledge.sources.markdown.admonitions import BOXES, make_heading, make_label
from aitp_desk.knowledge.sources.markdown.fences import change_outside_code, mark_code_lines

MARKS = ("{{", "{%")
_REFERENCE = re.compile(r"\{\{[<%]\s*(?:rel)?ref\s+\"?([^\"\s>%]{1,300})\"?\s*[>%]\}\}")
_TAG = re.compile(
    r"\{\{[<%]-?\s*(?P<end>/?)\s*(?P<name>[\w./-]+)(?P<rest>[^{}]{0,500}?)/?-?[>%]\}\}"
)
_HIGHLIGHT = re.compile(
    r"\s*(?:\{\{[<%]|\{%)-?\s*(?P<end>/|end)?\s*highlight\b\s*(?P<language>[\w+#-]*)"
)
_OTHER = re.compile(r"\{\{[^{}]{0,500}\}\}|\{%[^{}]{0,500}%\}")
_VARIABLE = re.compile(r"\{\{\s*([\w.-]{1,80})\s*\}\}")
_WHOLE = re.compile(r"\s*\{\{[<%][^{}]{0,200}[>%]\}\}\s*")
_BROKEN_LINE = re.compile(r"\{\{[<%][^{}`]{0,200}\n[^{}`\n]{0,200}[>%]\}\}")
_NAMED = re.compile(r"\b(?:title|header|name|label|summary|caption|alt)\s*=\s*\"([^\"]{1,200})\"")
_FIRST = re.compile(r"\s*\"([^\"]{1,200})\"")
_LABELLED = frozenset("tab tabitem details expand step card collapse accordion".split())
_PICTURES = frozenset("figure img image".split())


def expand_shortcodes(text: str, variables: Mapping[str, str]) -> str:
    """Expand shortcodes: names of tabs and admonitions, captions, code.

    Parameters:
        variables: the values of names between double braces, if the page defines them.
    """

    def change(text: str) -> str:
        return _change(text, variables)

    text = _BROKEN_LINE.sub(lambda tag: tag[0].replace("\n", " "), text)
    lines: list[str] = []
    in_highlight = False
    for line, is_code in mark_code_lines(text.split("\n")):
        found = None if is_code else _HIGHLIGHT.match(line)
        if found is not None:
            in_highlight = not found["end"]
            lines.append(f"```{found['language']}" if in_highlight else "```")
        elif is_code or in_highlight:
            lines.append(line)
        else:
            lines.append(
                change(line) if _WHOLE.fullmatch(line) else change_outside_code(line, change)
            )
    return "\n".join(lines)


def _change(text: str, variables: Mapping[str, str]) -> str:
    if not any(mark in text for mark in MARKS):
        return text
    if variables:
        text = _VARIABLE.sub(lambda name: variables.get(name[1], name[0]), text)
    text = _REFERENCE.sub(r"\1", text)
    # an opening comment stays: otherwise the text after it would be shown
    return _OTHER.sub(lambda tag: tag[0] if "<!--" in tag[0] else "", _TAG.sub(_said, text))


def _said(tag: re.Match[str]) -> str:
    name = tag["name"].lower()
    if "<!--" in tag[0]:
        return tag[0]
    if tag["end"]:
        return ""
    named = _NAMED.search(tag["rest"]) or _FIRST.match(tag["rest"])
    title = named[1] if named else ""
    if name in _PICTURES:
        return title
    if name in _LABELLED:
        return f"\n{make_label(title)}\n"
    kinds = [word.strip("\"'").lower() for word in [name, *re.split(r"[\s=]+", tag["rest"])]]
    kind = next((word for word in reversed(kinds) if word in BOXES), "")
    if not kind:
        return ""
    title = "" if title.lower() in BOXES else title
    return f"\n{make_label(make_heading(kind, title))}\n"

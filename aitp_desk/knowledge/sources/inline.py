"""What dialects of Markdown write within a line."""

from __future__ import annotations

import re

_ROLE = re.compile(
    r"\{(?P<name>[a-zA-Z][\w:.+-]*)\}"
    r"(?P<ticks>`+)(?P<text>[^`\n]{1,500})(?P=ticks)"
)
_ATTRIBUTES = re.compile(
    r"(?<=[\])`*_\"!?.])\{[ :]*[.#][^{}\n]*\}|(?<=[\])`*_])\{:?[^{}\n]*=[^{}\n]*\}"
)
_OF_HEADING = re.compile(r"^(\s{0,3}#{1,6}\s.*?)\s*\{:?\s*[#.][^{}]*\}\s*#*\s*$")
_HEADING_COMMENT = re.compile(r"^(\s{0,3}#{1,6}\s.*?)\s*(?:\{/\*.*?\*/\})\s*$")
_LIST_ATTRIBUTES = re.compile(r"\s*\{\s*\.annotate\s*\}\s*$")
_ICON = re.compile(r" ?:(?:octicons|material|fontawesome|simple)-[\w-]+:(?:\{[^{}\n]*\})?")
_KEYS = re.compile(
    r"(?<![\w+])\+\+((?:\"[^\"\n]{1,60}\"|[a-z0-9][\w-]*)(?:\+(?:\"[^\"\n]{1,60}\"|[\w-]+))*)\+\+(?![\w+])"
)
_MARKED = re.compile(r"(?<![=\w])==(?=\S)([^=\n]+)(?<=\S)==(?![=\w])")
_ANNOTATION = re.compile(r"(?<=\S)\s*\(\d{1,2}\)!?\{\s*[^{}\n]*\}|\(\d{1,2}\)!")
_FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]{1,60})\](?!:)")
_FOOTNOTE = re.compile(r"^\[\^([^\]\s]{1,60})\]:", re.MULTILINE)
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\((?:[^()\s#]*)#?([^()\s]*)\)")


class Inline:
    """Changes lines of one page.

    Parameters:
        text: the page: a mark is a footnote's where the note is in it.
    """

    def __init__(self, text: str) -> None:
        self._notes = frozenset(_FOOTNOTE.findall(text))

    def with_roles(self, line: str) -> str:
        """The line with its roles of MyST as their words."""
        if "}`" not in line:
            return line
        from aitp_desk.knowledge.sources.sphinx import role_as_markdown

        return _ROLE.sub(lambda role: role_as_markdown(role["name"], role["text"]), line)

    def change(self, text: str) -> str:
        """A text that is no code without marks for the generator."""
        if "{" in text:
            text = _HEADING_COMMENT.sub(r"\1", _OF_HEADING.sub(r"\1", text))
            text = _ATTRIBUTES.sub("", _LIST_ATTRIBUTES.sub("", _ICON.sub("", text)))
        text = _ICON.sub("", text)
        text = _ANNOTATION.sub("", text)
        text = _MARKED.sub(r"\1", _KEYS.sub(_keys, text))
        text = _EMPTY_LINK.sub(lambda link: re.sub(r"[-_]+", " ", link[1]), text)
        return _FOOTNOTE_MARK.sub(lambda mark: "" if mark[1] in self._notes else mark[0], text)


def _keys(pressed: re.Match[str]) -> str:
    """``++ctrl+alt+"x"++`` as ``Ctrl+Alt+X``."""
    keys = (key.strip('" ') for key in pressed[1].split("+"))
    return "+".join(key.replace("-", " ").capitalize() for key in keys)

"""Converts inline markup of Markdown dialects."""

from __future__ import annotations

import re

_SPAN = r"(?<!`)(?P<span>`+)(?!`).*?(?<!`)(?P=span)(?!`)"
_ROLE = re.compile(
    r"\{(?P<name>[a-zA-Z][\w:.+-]*)\}(?P<ticks>`+)(?P<text>[^`\n]{1,500})(?P=ticks)|" + _SPAN
)
_REFERENCE = re.compile(
    r"(?<![\w\])\\!])\[(?P<text>(?:[^\[\]`\n]|`[^`\n]+`){1,300})\]\[(?P<label>[^\[\]\n]{0,300})\]|"
    + _SPAN
)
_TARGET = re.compile(r"^ {0,3}\[([^\[\]\n]{1,300})\]:", re.MULTILINE)
_LANGUAGE_OF_SPAN = re.compile(r"(?<!`)`(?:#!|:::)[a-z][\w.+-]*[ ]+(?=[^`\n]+`)")
"""Inline code highlighting of MkDocs."""
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
_CRITIC = re.compile(
    r"(?<!\{)\{(?:--[^{}\n]*?--|>>[^{}\n]*?<<|\+\+(?P<added>[^{}\n]*?)\+\+"
    r"|==(?P<marked>[^{}\n]*?)==|~~[^{}\n]*?~>(?P<changed>[^{}\n]*?)~~)\}"
)
_RAISED = re.compile(r"(?<=[\w)\]])\^([\w+-]{1,12})\^")
_LOWERED = re.compile(r"(?<=[\w)\]])(?<!~)~([\w+-]{1,12})~(?!~)")
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_SUBSCRIPTS = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_EMOJI = re.compile(r":(\w{1,40}):")
_SHOWN_EMOJI = {
    "white_check_mark": "✅",
    "heavy_check_mark": "✔️",
    "ballot_box_with_check": "☑️",
    "x": "❌",
    "negative_squared_cross_mark": "❎",
    "heavy_multiplication_x": "✖️",
    "warning": "⚠️",
}
"""Emoji that mean yes, no or a warning; others are decoration."""
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\((?:[^()\s#]*)#?([^()\s]*)\)")


class Inline:
    """Converts lines of one page.

    Parameters:
        text: the page: a mark is a footnote's if the note is in it.
    """

    def __init__(self, text: str) -> None:
        self._notes = frozenset(_FOOTNOTE.findall(text))
        self._targets = frozenset(map(_normal, _TARGET.findall(text))) if "][" in text else None

    def around_code(self, line: str) -> str:
        """Convert markup that contains code or precedes it: roles, references, names."""
        if "}`" in line:
            line = _ROLE.sub(_said_by_role, line)
        if "][" in line:
            line = _REFERENCE.sub(self._reference, line)
        if "`#!" in line or "`:::" in line:
            line = _LANGUAGE_OF_SPAN.sub("`", line)
        if line.endswith("}") and "#" in line[:4]:
            line = _OF_HEADING.sub(r"\1", line)
        return line

    def _reference(self, link: re.Match[str]) -> str:
        """Return a defined reference unchanged, or only the text of an undefined one."""
        if link["span"] or self._targets is None:
            return link[0]
        return link[0] if _normal(link["label"] or link["text"]) in self._targets else link["text"]

    def change(self, text: str) -> str:
        """Return text outside of code without marks for the generator."""
        if "{" in text:
            text = _CRITIC.sub(lambda m: m["added"] or m["marked"] or m["changed"] or "", text)
            text = _HEADING_COMMENT.sub(r"\1", text)
            text = _ATTRIBUTES.sub("", _LIST_ATTRIBUTES.sub("", _ICON.sub("", text)))
        if ":" in text:
            text = _EMOJI.sub(_emoji, _ICON.sub("", text))
        if ")!" in text or "){" in text:
            text = _ANNOTATION.sub("", text)
        if "++" in text:
            text = _KEYS.sub(_keys, text)
        if "==" in text:
            text = _MARKED.sub(r"\1", text)
        if "~" in text or "^" in text:
            text = _RAISED.sub(lambda mark: mark[1].translate(_SUPERSCRIPTS), text)
            text = _LOWERED.sub(lambda mark: mark[1].translate(_SUBSCRIPTS), text)
        if "[](" in text:
            text = _EMPTY_LINK.sub(lambda link: re.sub(r"[-_]+", " ", link[1]), text)
        if "[^" in text:
            text = _FOOTNOTE_MARK.sub(lambda m: "" if m[1] in self._notes else m[0], text)
        return text


def _emoji(name: re.Match[str]) -> str:
    return _SHOWN_EMOJI.get(name[1], name[0])


def _said_by_role(role: re.Match[str]) -> str:
    if role["span"]:
        return role[0]
    from aitp_desk.knowledge.sources.formats.sphinx import role_as_markdown

    return role_as_markdown(role["name"], role["text"])


def _normal(label: str) -> str:
    return " ".join(label.split()).casefold()


def _keys(pressed: re.Match[str]) -> str:
    """Return ``++ctrl+alt+"x"++`` as ``Ctrl+Alt+X``."""
    keys = (key.strip('" ') for key in pressed[1].split("+"))
    return "+".join(key.replace("-", " ").capitalize() for key in keys)

"""Reads the tokens of JavaScript modules: what the desk's own use of the language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<word>#?[A-Za-z_$][\w$]*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<sign>\.\.\.|=>|\?\.(?!\d)|\?\?=?|&&|\|\||\*\*|\+\+|--|[-+*/%&|<>=!^]?={1,2}|.)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
RESERVED: Final = frozenset(
    """arguments async await break case catch class const constructor continue default delete do
    else export extends false finally for from function get if import in instanceof let new null of
    return set static super switch this throw true try typeof undefined void while yield""".split()
)
_VALUES: Final = frozenset({"this", "super", "null", "true", "false", "undefined", "arguments"})
_BLOCKS: Final = frozenset({")", "=>", "else", "try", "finally", "do", ";", "{", "}", ""})
CONDITIONS: Final = frozenset({"if", "for", "while", "switch", "await"})
CLOSERS: Final = frozenset({")", "]", "}"})


class Token(msgspec.Struct):
    """A piece of a module.

    Parameters:
        kind: word, number, string, regex, template or sign.
        inside: what encloses it: class, object, block, ( [ or ${; empty for nothing.
        mate: index of the token that closes it, for one that opens something.
        is_first: whether it begins a line at the top level.
    """

    kind: str
    text: str
    inside: str
    mate: int = -1
    is_first: bool = False


_NONE: Final = Token("", "", "")


def read_tokens(code: str) -> list[Token]:
    """Return the tokens of a module, without its layout and comments.

    Raises:
        ValueError: it uses what this module does not know.
    """
    return _Reader(code).read()


class _Reader:
    """Reads the tokens of a module, with what encloses each.

    Attributes:
        tokens: those read so far.
    """

    def __init__(self, code: str) -> None:
        self.tokens: list[Token] = []
        self._code = code
        self._opened: list[tuple[str, int]] = []
        self._is_class = False

    def read(self) -> list[Token]:
        place = 0
        while place < len(self._code):
            sign = self._code[place]
            if sign == "`" or (sign == "}" and self._inside == "${"):
                place = self._read_template(place)
            else:
                place = self._read_token(place)
        return self.tokens

    @property
    def _inside(self) -> str:
        return self._opened[-1][0] if self._opened else ""

    def _read_template(self, place: int) -> int:
        """Read the text of a template to its end or an expression."""
        found = _TEXT.match(self._code, place + 1)
        end = found.end() if found else len(self._code)
        text = self._code[place:end]
        if text[0] == "}":
            self._close()
        self.tokens.append(Token("template", text, self._inside))
        if text.endswith("${"):
            self._open("${")
        return end

    def _read_token(self, place: int) -> int:
        code, last = self._code, self.tokens[-1] if self.tokens else _NONE
        found = None
        if code[place] == "/" and code[place + 1] not in "/*" and not _ends_value(last):
            found = _REGEX.match(code, place)
        kind = "regex" if found else ""
        found = found or _TOKEN.match(code, place)
        if not found:
            raise ValueError(code[place : place + 40])
        text, kind = found[0], kind or str(found.lastgroup)
        if kind in {"space", "comment"}:
            return found.end()
        if kind == "sign" and text in CLOSERS:
            self._close()
        inside = self._inside
        is_first = not inside and text not in CLOSERS and code[place - 1 : place] in {"", "\n"}
        self._is_class = self._is_class or (text == "class" and inside != "object")
        self.tokens.append(Token(kind, text, inside, is_first=is_first))
        if kind == "sign" and text in {"(", "["}:
            self._open(text)
        elif kind == "sign" and text == "{":
            is_block = last.text in _BLOCKS and last.kind != "string"
            self._open("class" if self._is_class else "block" if is_block else "object")
            self._is_class = False
        return found.end()

    def _open(self, what: str) -> None:
        self._opened.append((what, len(self.tokens) - 1))

    def _close(self) -> None:
        self.tokens[self._opened.pop()[1]].mate = len(self.tokens)


def _ends_value(token: Token) -> bool:
    """Whether a slash after a token divides."""
    if token.kind == "word":
        return token.text not in RESERVED or token.text in _VALUES
    if token.kind == "template":
        return token.text.endswith("`")
    return token.kind in {"number", "string", "regex"} or token.text in {")", "]", "}"}


def text_at(tokens: Sequence[Token], place: int) -> str:
    """Return the text at a place; empty before the first and after the last token."""
    return tokens[place].text if 0 <= place < len(tokens) else ""


def is_key(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word stands where an object or a pattern has its keys."""
    return tokens[place].inside == "object" and text_at(tokens, place - 1) in {"{", ","}


def is_member(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is the name of a member, or a key."""
    return text_at(tokens, place - 1) in {".", "?."} or is_key(tokens, place)


def closes(token: Token) -> bool:
    """Whether a token closes another one."""
    if token.kind == "template":
        return token.text[0] == "}"
    return token.kind == "sign" and token.text in CLOSERS

"""Shortens JavaScript modules: drops layout, and gives variables names of one or two letters.

It reads what the desk's own modules use of the language, and is no general tool. Names of members
stay. A name becomes the same short one throughout a function at the top level or a member of a
class, so that inner scopes need no analysis: where a module declares a name, it must not mean a
browser's global there too. ``GLOBALS`` stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product
from string import ascii_letters, digits
from typing import Final

import msgspec

GLOBALS: Final = frozenset({"document", "location", "navigator", "window"})
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
_RESERVED: Final = frozenset(
    """arguments async await break case catch class const constructor continue default delete do
    else export extends false finally for from function get if import in instanceof let new null of
    return set static super switch this throw true try typeof undefined void while yield""".split()
)
_VALUES: Final = frozenset({"this", "super", "null", "true", "false", "undefined", "arguments"})
_BLOCKS: Final = frozenset({")", "=>", "else", "try", "finally", "do", ";", "{", "}", ""})
_CONDITIONS: Final = frozenset({"if", "for", "while", "switch"})
_CLOSERS: Final = frozenset({")", "]", "}"})
_NEEDLESS: Final = frozenset({(";", "}"), (",", ")"), (",", "]"), (",", "}")})
"""Signs before others that mean nothing; two commas are a hole in a list."""
_WORD_END = re.compile(r"[\w$]")


class _Token(msgspec.Struct):
    """A piece of a module.

    Parameters:
        kind: word, number, string, regex, template or sign.
        inside: what encloses it: class, object, block, ( [ or ${; empty for nothing.
        mate: index of the token that closes it, for one that opens something.
        region: number of the statement or member that it belongs to.
        is_first: whether that begins with it.
    """

    kind: str
    text: str
    inside: str
    mate: int = -1
    region: int = 0
    is_first: bool = False


_NONE: Final = _Token("", "", "")


def minify(code: str) -> str:
    """Return a module that does the same and is shorter."""
    tokens = _Reader(code).read()
    exported = _list_exported(tokens)
    declared = _list_declared(tokens)
    outer = {name for name, region in declared if region == 0} - GLOBALS - exported
    inner = {(name, region) for name, region in declared if name not in outer | GLOBALS | exported}
    words = [
        (token.text, token.region)
        for place, token in enumerate(tokens)
        if token.kind == "word" and _is_variable(tokens, place)
    ]
    free = {name for name, region in words if name not in outer and (name, region) not in inner}
    unused = [name for name in _make_names() if name not in free | _RESERVED]
    uses = Counter(name for name, _ in words if name in outer)
    letters = [name for name in unused if len(name) == 1]
    pairs = [name for name in unused if len(name) == 2]
    outers = dict(zip((name for name, _ in uses.most_common()), pairs, strict=False))
    spare = letters + pairs[len(outers) :]
    names: dict[tuple[str, int], str] = {}
    known: Counter[int] = Counter()
    for name, region in dict.fromkeys(words):
        if name in outers:
            names[name, region] = outers[name]
        elif (name, region) in inner:
            names[name, region] = spare[known[region]]
            known[region] += 1
    return "".join(_write(tokens, names))


class _Reader:
    """Reads the tokens of a module, with what encloses each.

    Attributes:
        tokens: those read so far.
    """

    def __init__(self, code: str) -> None:
        self.tokens: list[_Token] = []
        self._code = code
        self._opened: list[tuple[str, int]] = []
        self._region = 0
        self._is_line = False
        self._is_class = False

    def read(self) -> list[_Token]:
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
        """Read the text of a template up to an expression or its end."""
        found = _TEXT.match(self._code, place + 1)
        end = found.end() if found else len(self._code)
        text = self._code[place:end]
        if text[0] == "}":
            self._close()
        self.tokens.append(_Token("template", text, self._inside, region=self._region))
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
            self._is_line = self._is_line or "\n" in text
            return found.end()
        if kind == "sign" and text in _CLOSERS:
            self._close()
        inside = self._inside
        is_outer = not inside and code[place - 1 : place] in {"", "\n"}
        begins = is_outer or (self._is_line and inside == "class")
        is_first = begins and text not in _CLOSERS
        self._region += is_first
        self._is_line = False
        self._is_class = self._is_class or (text == "class" and inside != "object")
        self.tokens.append(_Token(kind, text, inside, region=self._region, is_first=is_first))
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


def _ends_value(token: _Token) -> bool:
    """Whether a slash after a token divides."""
    if token.kind == "word":
        return token.text not in _RESERVED or token.text in _VALUES
    if token.kind == "template":
        return token.text.endswith("`")
    return token.kind in {"number", "string", "regex"} or token.text in {")", "]", "}"}


def _text(tokens: Sequence[_Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""


def _is_key(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a word stands where an object or a pattern has its keys."""
    return tokens[place].inside == "object" and _text(tokens, place - 1) in {"{", ","}


def _is_short_key(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a word is a key and a variable."""
    return _is_key(tokens, place) and _text(tokens, place + 1) in {",", "}", "="}


def _is_variable(tokens: Sequence[_Token], place: int) -> bool:
    token = tokens[place]
    if token.kind != "word" or token.text[0] == "#" or token.inside == "class":
        return False
    before, after = _text(tokens, place - 1), _text(tokens, place + 1)
    if before in {".", "?."} or token.text in _RESERVED:
        return False
    if token.inside == "object" and after == "(" and before in {"get", "set", "async", "*"}:
        return False
    return not _is_key(tokens, place) or after in {",", "}", "="}


def _list_declared(tokens: Sequence[_Token]) -> set[tuple[str, int]]:
    """Return the names of variables, functions, classes and parameters, with their regions.

    Those of the top level have region 0.
    """
    found: set[tuple[str, int]] = set()
    for place, token in enumerate(tokens):
        before, after = _text(tokens, place - 1), _text(tokens, place + 1)
        if token.kind == "word" and _is_variable(tokens, place):
            if before in {"const", "let", "class", "function"} or after == "=>":
                found.add((token.text, token.region if token.inside or after == "=>" else 0))
            elif before == "*" and _text(tokens, place - 2) == "function":
                found.add((token.text, token.region if token.inside else 0))
        elif token.text in {"{", "["} and before in {"const", "let"}:
            bound = _list_bound(tokens, place)
            found |= bound if token.inside else {(name, 0) for name, _ in bound}
        elif token.text == "(" and token.kind == "sign":
            follows = _text(tokens, token.mate + 1)
            if follows == "=>" or (follows == "{" and before not in _CONDITIONS):
                found |= _list_bound(tokens, place)
    return found


def _list_bound(tokens: Sequence[_Token], start: int) -> set[tuple[str, int]]:
    """Return the names that a pattern or parameters bind, without their defaults."""
    return {
        (tokens[place].text, tokens[place].region)
        for place in range(start + 1, tokens[start].mate)
        if _is_variable(tokens, place)
        and _text(tokens, place - 1) in {"{", "[", "(", ",", ":", "..."}
        and _text(tokens, place + 1) in {"}", "]", ")", ",", "="}
    }


def _list_exported(tokens: Sequence[_Token]) -> set[str]:
    return {
        _text(tokens, place + (2 if _text(tokens, place + 1) != "async" else 3))
        for place, token in enumerate(tokens)
        if token.text == "export" and token.inside == ""
    }


def _make_names() -> Iterator[str]:
    rest = ascii_letters + digits
    return chain(ascii_letters, map("".join, product(ascii_letters, rest)))


def _write(tokens: Sequence[_Token], names: dict[tuple[str, int], str]) -> Iterator[str]:
    last = ""
    for place, token in enumerate(tokens):
        text = token.text
        short = names.get((text, token.region))
        if short and token.kind == "word" and _is_variable(tokens, place):
            text = f"{text}:{short}" if _is_short_key(tokens, place) else short
        if token.is_first and not token.inside and last:
            yield "\n"
        elif _sticks(last, text):
            yield " "
        if (text, _text(tokens, place + 1)) in _NEEDLESS and last != ",":
            continue
        if text == "const":
            text = "let"  # shorter, and the module has been tested as it is written
        yield text
        last = text


def _sticks(last: str, text: str) -> bool:
    """Whether two tokens would become another one without a space."""
    if not last:
        return False
    if last[-1] in "+-" and last[-1] == text[0]:
        return True
    return bool(_WORD_END.match(last[-1]) and (_WORD_END.match(text[0]) or text[0] == "#"))

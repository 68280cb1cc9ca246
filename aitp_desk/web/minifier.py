"""Shortens JavaScript modules: drops layout, and gives variables short names.

It reads what the desk's own modules use of the language, and is no general tool. Names of members
stay. A name belongs to the innermost function that declares it anywhere, or to the module: a block
must not declare a name that means another variable, or a browser's global, outside of the block.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from string import digits
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
_RESERVED: Final = frozenset(
    """arguments async await break case catch class const constructor continue default delete do
    else export extends false finally for from function get if import in instanceof let new null of
    return set static super switch this throw true try typeof undefined void while yield""".split()
)
_VALUES: Final = frozenset({"this", "super", "null", "true", "false", "undefined", "arguments"})
_BLOCKS: Final = frozenset({")", "=>", "else", "try", "finally", "do", ";", "{", "}", ""})
_CONDITIONS: Final = frozenset({"if", "for", "while", "switch", "await"})
_CLOSERS: Final = frozenset({")", "]", "}"})
_ENDS: Final = _CLOSERS | {",", ";"}
_NEEDLESS: Final = frozenset({(";", "}"), (",", ")"), (",", "]"), (",", "}")})
"""Signs before others that mean nothing; two commas are a hole in a list."""
_LETTERS: Final = "etnrisouaflchpdvmgybwkxjqzTSCELADRIOBNPMFUGHVWKXYZJQ"
"""Those that are frequent in code first, which then compresses better."""
_MODULE: Final = -1
_WORD_END = re.compile(r"[\w$]")


class _Token(msgspec.Struct):
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


_NONE: Final = _Token("", "", "")


def minify(code: str) -> str:
    """Return a module that does the same and is shorter."""
    tokens = _Reader(code).read()
    return "".join(_write(tokens, _Names(tokens).choose()))


class _Names:
    """Chooses the names of a module's variables.

    Functions are numbered in the order of their beginnings; a binding is a name with the function
    that declares it.
    """

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._parents: list[int] = []
        self._scopes = self._find_scopes()
        exported = _list_exported(tokens)
        self._declared = {
            (tokens[place].text, self._scopes[place])
            for place in _list_declared(tokens)
            if tokens[place].text not in exported
        }

    def choose(self) -> Mapping[int, str]:
        """Return the new names by the places of the words that they replace."""
        tokens, scopes = self._tokens, self._scopes
        found = {
            place: self._resolve(token.text, scopes[place])
            for place, token in enumerate(tokens)
            if _is_variable(tokens, place)
        }
        free = {tokens[place].text for place, binding in found.items() if binding is None}
        bound = {place: binding for place, binding in found.items() if binding is not None}
        used: defaultdict[int, set[tuple[str, int]]] = defaultdict(set)
        for place, binding in bound.items():
            scope = scopes[place]
            while scope != binding[1]:
                used[scope].add(binding)
                scope = self._parents[scope]
        by_scope: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
        for binding, _ in Counter(bound.values()).most_common():
            if binding[1] == _MODULE:
                by_scope[_MODULE].append(binding)
        for binding in dict.fromkeys(bound.values()):
            if binding[1] != _MODULE:
                by_scope[binding[1]].append(binding)
        names = [name for name in _make_names() if name not in free | _RESERVED]
        chosen: dict[tuple[str, int], str] = {}
        for scope in range(_MODULE, len(self._parents)):
            taken = {chosen[binding] for binding in used[scope]}
            least = 2 if scope == _MODULE else 1
            spare = (name for name in names if name not in taken and len(name) >= least)
            for binding in by_scope[scope]:
                chosen[binding] = next(spare)
        return {place: chosen[binding] for place, binding in bound.items()}

    def _resolve(self, name: str, scope: int) -> tuple[str, int] | None:
        while (name, scope) not in self._declared:
            if scope == _MODULE:
                return None
            scope = self._parents[scope]
        return name, scope

    def _find_scopes(self) -> list[int]:
        """Return the innermost function of each token."""
        scopes = [_MODULE] * len(self._tokens)
        functions = sorted(_list_functions(self._tokens), key=lambda one: (one[0], -one[1]))
        for number, (begin, end) in enumerate(functions):
            self._parents.append(scopes[begin])
            scopes[begin:end] = [number] * (end - begin)
        return scopes


class _Reader:
    """Reads the tokens of a module, with what encloses each.

    Attributes:
        tokens: those read so far.
    """

    def __init__(self, code: str) -> None:
        self.tokens: list[_Token] = []
        self._code = code
        self._opened: list[tuple[str, int]] = []
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
        """Read the text of a template to its end or an expression."""
        found = _TEXT.match(self._code, place + 1)
        end = found.end() if found else len(self._code)
        text = self._code[place:end]
        if text[0] == "}":
            self._close()
        self.tokens.append(_Token("template", text, self._inside))
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
        if kind == "sign" and text in _CLOSERS:
            self._close()
        inside = self._inside
        is_first = not inside and text not in _CLOSERS and code[place - 1 : place] in {"", "\n"}
        self._is_class = self._is_class or (text == "class" and inside != "object")
        self.tokens.append(_Token(kind, text, inside, is_first=is_first))
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


def _list_functions(tokens: Sequence[_Token]) -> Iterator[tuple[int, int]]:
    """Yield where each function begins, with its parameters, and where it has ended."""
    openers = {token.mate: place for place, token in enumerate(tokens) if token.mate >= 0}
    for place, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text == "=>":
            begin = openers[place - 1] if _text(tokens, place - 1) == ")" else place - 1
            has_block = _text(tokens, place + 1) == "{"
            end = tokens[place + 1].mate + 1 if has_block else _find_end(tokens, place + 1)
            yield begin, end
        elif _has_block(tokens, place) and _text(tokens, place - 1) != "catch":
            yield place, tokens[token.mate + 1].mate + 1


def _has_block(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a parenthesis opens the parameters of a block."""
    token = tokens[place]
    is_open = token.kind == "sign" and token.text == "("
    return (
        is_open
        and _text(tokens, token.mate + 1) == "{"
        and _text(tokens, place - 1) not in _CONDITIONS
    )


def _find_end(tokens: Sequence[_Token], place: int) -> int:
    """Return the place after an expression."""
    while place < len(tokens):
        token = tokens[place]
        if token.mate >= 0:
            while tokens[place].mate >= 0:
                place = tokens[place].mate
        elif (token.kind == "sign" and token.text in _CLOSERS | {",", ";"}) or (
            token.kind == "template" and token.text[0] == "}"
        ):
            break
        place += 1
    return place


def _list_declared(tokens: Sequence[_Token]) -> Iterator[int]:
    """Yield where variables, functions, classes and parameters are declared."""
    for place, token in enumerate(tokens):
        before, after = _text(tokens, place - 1), _text(tokens, place + 1)
        if token.kind == "word" and _is_variable(tokens, place):
            is_generator = before == "*" and _text(tokens, place - 2) == "function"
            if before in {"const", "let", "class", "function"} or after == "=>" or is_generator:
                yield place
        elif _opens_binding(tokens, place):
            yield from _list_bound(tokens, place)


def _opens_binding(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a bracket opens a pattern that is declared, or parameters."""
    token = tokens[place]
    if token.text in {"{", "["}:
        return _text(tokens, place - 1) in {"const", "let"}
    is_open = token.kind == "sign" and token.text == "("
    return is_open and (_text(tokens, token.mate + 1) == "=>" or _has_block(tokens, place))


def _list_bound(tokens: Sequence[_Token], first: int) -> Iterator[int]:
    """Yield where a pattern or parameters bind names, without their defaults."""
    for place in range(first + 1, tokens[first].mate):
        if (
            _is_variable(tokens, place)
            and _text(tokens, place - 1) in {"{", "[", "(", ",", ":", "..."}
            and _text(tokens, place + 1) in {"}", "]", ")", ",", "="}
        ):
            yield place


def _list_exported(tokens: Sequence[_Token]) -> set[str]:
    return {
        _text(tokens, place + (2 if _text(tokens, place + 1) != "async" else 3))
        for place, token in enumerate(tokens)
        if token.text == "export" and token.inside == ""
    }


def _make_names() -> Iterator[str]:
    return chain(_LETTERS, map("".join, product(_LETTERS, _LETTERS + digits)))


def _write(tokens: Sequence[_Token], names: Mapping[int, str]) -> Iterator[str]:
    last = ""
    for place, token in enumerate(tokens):
        text = token.text
        if place in names:
            is_short = _is_short_key(tokens, place)
            text = f"{text}:{names[place]}" if is_short else names[place]
        if token.is_first and last:
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

"""Chooses short names for the variables of JavaScript modules.

A name belongs to the innermost function that declares it anywhere, or to the module: a block must
not declare a name that means another variable, or a browser's global, outside of the block.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from string import digits
from typing import Final

from aitp_desk.web.javascript.tokens import (
    CLOSERS,
    CONDITIONS,
    RESERVED,
    Token,
    is_key,
    text_at,
)

_ENDS: Final = CLOSERS | {",", ";"}
_LETTERS: Final = "etnrisouaflchpdvmgybwkxjqzTSCELADRIOBNPMFUGHVWKXYZJQ"
"""Those that are frequent in code first, which then compresses better."""
_MODULE: Final = -1


def choose_names(tokens: Sequence[Token]) -> Mapping[int, str]:
    """Return the new names of variables, by their places."""
    return _Names(tokens).choose()


class _Names:
    """Chooses the names of a module's variables.

    Functions are numbered in the order of their beginnings; a binding is a name with the function
    that declares it.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
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
        names = [name for name in make_names() if name not in free | RESERVED]
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


def is_short_key(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is a key and a variable."""
    return is_key(tokens, place) and text_at(tokens, place + 1) in {",", "}", "="}


def _is_variable(tokens: Sequence[Token], place: int) -> bool:
    token = tokens[place]
    if token.kind != "word" or token.text[0] == "#" or token.inside == "class":
        return False
    before, after = text_at(tokens, place - 1), text_at(tokens, place + 1)
    if before in {".", "?."} or token.text in RESERVED:
        return False
    if token.inside == "object" and after == "(" and before in {"get", "set", "async", "*"}:
        return False
    return not is_key(tokens, place) or after in {",", "}", "="}


def _list_functions(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where each function begins, with its parameters, and where it has ended."""
    openers = {token.mate: place for place, token in enumerate(tokens) if token.mate >= 0}
    for place, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text == "=>":
            begin = openers[place - 1] if text_at(tokens, place - 1) == ")" else place - 1
            has_block = text_at(tokens, place + 1) == "{"
            end = tokens[place + 1].mate + 1 if has_block else _find_end(tokens, place + 1)
            yield begin, end
        elif _has_block(tokens, place) and text_at(tokens, place - 1) != "catch":
            yield place, tokens[token.mate + 1].mate + 1


def _has_block(tokens: Sequence[Token], place: int) -> bool:
    """Whether a parenthesis opens the parameters of a block."""
    token = tokens[place]
    is_open = token.kind == "sign" and token.text == "("
    return (
        is_open
        and text_at(tokens, token.mate + 1) == "{"
        and text_at(tokens, place - 1) not in CONDITIONS
    )


def _find_end(tokens: Sequence[Token], place: int) -> int:
    """Return the place after an expression."""
    while place < len(tokens):
        token = tokens[place]
        if token.mate >= 0:
            while tokens[place].mate >= 0:
                place = tokens[place].mate
        elif (token.kind == "sign" and token.text in CLOSERS | {",", ";"}) or (
            token.kind == "template" and token.text[0] == "}"
        ):
            break
        place += 1
    return place


def _list_declared(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield where variables, functions, classes and parameters are declared."""
    for place, token in enumerate(tokens):
        before, after = text_at(tokens, place - 1), text_at(tokens, place + 1)
        if token.kind == "word" and _is_variable(tokens, place):
            is_generator = before == "*" and text_at(tokens, place - 2) == "function"
            if before in {"const", "let", "class", "function"} or after == "=>" or is_generator:
                yield place
        elif _opens_binding(tokens, place):
            yield from _list_bound(tokens, place)


def _opens_binding(tokens: Sequence[Token], place: int) -> bool:
    """Whether a bracket opens a pattern that is declared, or parameters."""
    token = tokens[place]
    if token.text in {"{", "["}:
        return text_at(tokens, place - 1) in {"const", "let"}
    is_open = token.kind == "sign" and token.text == "("
    return is_open and (text_at(tokens, token.mate + 1) == "=>" or _has_block(tokens, place))


def _list_bound(tokens: Sequence[Token], first: int) -> Iterator[int]:
    """Yield where a pattern or parameters bind names, without their defaults."""
    for place in range(first + 1, tokens[first].mate):
        if (
            _is_variable(tokens, place)
            and text_at(tokens, place - 1) in {"{", "[", "(", ",", ":", "..."}
            and text_at(tokens, place + 1) in {"}", "]", ")", ",", "="}
        ):
            yield place


def _list_exported(tokens: Sequence[Token]) -> set[str]:
    return {
        text_at(tokens, place + (2 if text_at(tokens, place + 1) != "async" else 3))
        for place, token in enumerate(tokens)
        if token.text == "export" and token.inside == ""
    }


def make_names() -> Iterator[str]:
    """Yield names, the shortest first."""
    return chain(_LETTERS, map("".join, product(_LETTERS, _LETTERS + digits)))

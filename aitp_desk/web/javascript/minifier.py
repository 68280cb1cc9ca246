"""Shortens JavaScript modules: their layout, words, numbers, variables and private members.

It reads what the desk's own modules use of the language, and is no general tool.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from aitp_desk.web.javascript.members import choose_members
from aitp_desk.web.javascript.names import choose_names, is_short_key
from aitp_desk.web.javascript.tokens import Token, closes, is_member, read_tokens, text_at

_NEEDLESS: Final = frozenset({(";", "}"), (",", ")"), (",", "]"), (",", "}")})
"""Signs before others that mean nothing; two commas are a hole in a list."""
_DECLARE: Final = frozenset({"const", "let"})
_SHORTER: Final = {
    "const": "let",
    "let": "let",
    "true": "!0",
    "false": "!1",
    "undefined": "void 0",
}
_THOUSANDS = re.compile(r"(?<=\d)((?:000)+)$")
_WORD_END = re.compile(r"[\w$]")


def minify(code: str, others: str = "", members: Collection[str] = ()) -> str:
    """Return a module that does the same and is shorter.

    Parameters:
        others: modules that use it: no member that they name becomes shorter.
        members: names that only its own objects have, which become shorter, too.
    """
    tokens = read_tokens(code)
    shorter = choose_members(tokens, read_tokens(others), members)
    return "".join(_write(tokens, choose_names(tokens), shorter))


def _write(
    tokens: Sequence[Token], names: Mapping[int, str], members: Mapping[int, str]
) -> Iterator[str]:
    shorter = {**_shorten_words(tokens), **members}
    last = ""
    for place, token in enumerate(tokens):
        text = shorter.get(place, token.text)
        if not text:
            continue
        if place in names:
            is_short = is_short_key(tokens, place)
            text = f"{text}:{names[place]}" if is_short else names[place]
        if token.is_first and last:
            yield "\n"
        elif _sticks(last, text):
            yield " "
        if (text, text_at(tokens, place + 1)) in _NEEDLESS and last != ",":
            continue
        yield text
        last = text


def _shorten_words(tokens: Sequence[Token]) -> Mapping[int, str]:
    """Return shorter texts of declarations, values and sole parameters, by their places.

    Declarations in a row become one. A constant becomes a variable, since the module has been
    tested as it is written.
    """
    found: dict[int, str] = {}
    declares = [False]
    for place, token in enumerate(tokens):
        if closes(token):
            declares.pop()
        if token.mate >= 0:
            declares.append(False)
        elif token.text == ";" and declares[-1]:
            declares[-1] = text_at(tokens, place + 1) in _DECLARE
            if declares[-1]:
                found |= {place: ",", place + 1: ""}
        elif token.kind == "word" and token.text in _SHORTER and not is_member(tokens, place):
            found.setdefault(place, _SHORTER[token.text])
            begins = token.text in _DECLARE and text_at(tokens, place - 1) not in {"(", "export"}
            declares[-1] = declares[-1] or begins
        elif token.kind == "number":
            found[place] = _shorten_number(token.text)
        elif token.text == "=>" and _has_one_name(tokens, place):
            found |= {place - 3: "", place - 1: ""}
    return found


def _has_one_name(tokens: Sequence[Token], place: int) -> bool:
    """Whether an arrow has one parameter, which needs no parentheses."""
    is_name = place > 2 and tokens[place - 2].kind == "word"
    return is_name and tokens[place - 3].mate == place - 1


def _shorten_number(number: str) -> str:
    digits = number.replace("_", "").removeprefix("0" if "." in number else "")
    return _THOUSANDS.sub(lambda zeros: f"e{len(zeros[0])}", digits)


def _sticks(last: str, text: str) -> bool:
    """Whether two tokens would become another one without a space."""
    if not last:
        return False
    if last[-1] in "+-" and last[-1] == text[0]:
        return True
    return bool(_WORD_END.match(last[-1]) and (_WORD_END.match(text[0]) or text[0] == "#"))

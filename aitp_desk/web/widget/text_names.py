"""Gives the chat's texts shorter names, in its code and in its catalogues alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from string import ascii_lowercase

_CALL = re.compile(r'\b(text|counted)\(\s*"(\w+)"')
_STRING = re.compile(r'"(\w+)"')


def shorten_text_names(code: str, names: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """Return the code with shorter names of texts, and these by the old names.

    A name that also stands elsewhere than in ``text("…")`` or ``counted("…")`` stays.

    Parameters:
        names: of all texts, without the forms of plurals.
    """
    known = frozenset(names)
    called = Counter(name for _, name in _CALL.findall(code))
    quoted = Counter(_STRING.findall(code))
    replaced = [name for name, count in called.most_common() if count == quoted[name]]
    pairs = map("".join, product(ascii_lowercase, repeat=2))
    short = (pair for pair in pairs if pair not in known)
    given = dict(zip((name for name in replaced if name in known), short, strict=False))
    code = _CALL.sub(lambda call: f'{call[1]}("{given.get(call[2], call[2])}"', code)
    return code, given


def rename_texts(texts: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return a catalogue under the shorter names; the forms of plurals keep theirs."""
    renamed = {}
    for name, text in texts.items():
        base, dot, form = name.partition(".")
        renamed[f"{given.get(base, base)}{dot}{form}"] = text
    return renamed

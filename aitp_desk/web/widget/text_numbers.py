"""Numbers the chat's texts, so that no name of a text is served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_CALL = re.compile(r'\b(text|counted)\(\s*"(\w+)"')


def number_texts(code: str, first: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the code with numbers in ``text("…")`` and ``counted("…")``, and the names in order.

    Parameters:
        first: names of the texts that another module reads, by these positions.
    """
    names = [*first, *(name for _, name in _CALL.findall(code))]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    code = _CALL.sub(lambda call: f"{call[1]}({numbers[call[2]]}", code)
    return code, list(numbers)


def list_texts(texts: Mapping[str, str], names: Iterable[str]) -> list[str | dict[str, str]]:
    """Return the texts of a language in an order of names; one with a count by its plural forms."""
    forms: dict[str, dict[str, str]] = {}
    for name, text in texts.items():
        base, dot, form = name.partition(".")
        if dot:
            forms.setdefault(base, {})[form] = text
    return [texts[name] if name in texts else forms[name] for name in names]

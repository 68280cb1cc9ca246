"""Numbers the chat's texts, so that no name of a text is served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_FORMS = ("one", "few", "other")
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


def list_texts(texts: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return the texts of a language in an order of names; one with a count has all its forms.

    These are the form for one, then that for few, then that for any other, with bars between.
    """

    def forms_of(name: str) -> str:
        named = (f"{name}.{form}" for form in _FORMS)
        return "|".join(texts[form] for form in named if form in texts)

    return [texts[name] if name in texts else forms_of(name) for name in names]

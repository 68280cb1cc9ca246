"""Operators' names, as visitors see them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

OPERATOR_NAME: Final = r"[a-z0-9][a-z0-9._-]{0,62}"
"""The pattern of an operator's name, which is the end of an actor's id."""
NAMELESS: Final = "operator"
"""The name of an operator whose key has a name without a letter or digit of the Latin script."""

_LONGEST = 63
_OTHERS = re.compile(r"[^a-z0-9._-]+")


def operator_name(key_name: str) -> str:
    """Return an operator's name, made from the name of its API key.

    Letters become lower case without marks, and other characters become a hyphen: ``Anna Sørensen``
    becomes ``anna-s-rensen``. Keys with the same result are one operator.

    Parameters:
        key_name: as given when the key was made.
    """
    plain = unicodedata.normalize("NFKD", key_name).casefold()
    letters = "".join(one for one in plain if not unicodedata.combining(one))
    return _OTHERS.sub("-", letters).strip("._-")[:_LONGEST] or NAMELESS

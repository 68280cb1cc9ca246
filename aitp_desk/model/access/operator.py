"""What the people who run the desk are called by visitors."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

OPERATOR_NAME: Final = r"[a-z0-9][a-z0-9._-]{0,62}"
"""The pattern of an operator's name, which is the end of an actor's id."""
NAMELESS: Final = "operator"
"""What an operator is called whose key has a name without a letter or digit of the Latin script."""

_LONGEST = 63
_OTHERS = re.compile(r"[^a-z0-9._-]+")


def operator_name(key_name: str) -> str:
    """The name of the operator who signs in by an API key: the key's, as visitors may see it.

    Letters become small ones without marks, and whatever else no name has becomes a hyphen:
    ``Anna Sørensen`` is ``anna-s-rensen``. Keys whose names come to the same are one operator.

    Parameters:
        key_name: what the key's maker calls it.
    """
    plain = unicodedata.normalize("NFKD", key_name).casefold()
    letters = "".join(one for one in plain if not unicodedata.combining(one))
    return _OTHERS.sub("-", letters).strip("._-")[:_LONGEST] or NAMELESS

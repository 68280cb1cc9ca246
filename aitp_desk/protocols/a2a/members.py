"""Reads members of JSON objects under either spelling, and checks their types.

Version 1.0 is ProtoJSON: members are written in lower camel case, and also read in the spelling of
the field; a null means an absent member.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aitp_desk.model.errors import InvalidRequest, MissingField

MAX_ID = 512
_UPPER = re.compile(r"[A-Z]")


class ObjectReader:
    """Reads the members of an object.

    Parameters:
        given: the object.
        at: its path in the request, for ``param``: empty, or with a dot at its end.
    """

    def __init__(self, given: Any, at: str = "") -> None:
        if not isinstance(given, dict):
            raise InvalidRequest(
                f"{at.rstrip('.') or 'params'} must be an object.", param=at.rstrip(".")
            )
        self._given: Mapping[str, Any] = given
        self._at = at

    def get_value(self, name: str) -> Any:
        """Return a member by its lower camel case name; None without it."""
        value = self._given.get(name)
        return self._given.get(_spelled(name)) if value is None else value

    def __contains__(self, name: str) -> bool:
        return self.get_value(name) is not None

    def get_path(self, name: str) -> str:
        """Return the path of a member, for ``param``."""
        return f"{self._at}{name}"

    def get_object(self, name: str) -> ObjectReader:
        """Return a member that is an object; an empty one where it is absent."""
        value = self.get_value(name)
        return ObjectReader({} if value is None else value, f"{self.get_path(name)}.")

    def get_text(self, name: str, longest: int | None = MAX_ID) -> str:
        """Return a member that is a text; empty where it is absent.

        Raises:
            InvalidRequest: it is not a text, or too long.
        """
        value = self.get_value(name)
        if value is None:
            return ""
        if not isinstance(value, str) or (longest is not None and len(value) > longest):
            most = "" if longest is None else f" of at most {longest} characters"
            raise InvalidRequest(
                f"{self.get_path(name)} must be a text{most}.", param=self.get_path(name)
            )
        return value

    def get_required_text(self, name: str) -> str:
        """Return a required member that is a text.

        Raises:
            MissingField: it is absent or empty.
        """
        value = self.get_text(name)
        if not value:
            raise MissingField(f"{self.get_path(name)} is required.", param=self.get_path(name))
        return value

    def get_boolean(self, name: str) -> bool | None:
        """Return a member that is true or false; None where it is absent."""
        value = self.get_value(name)
        if value is not None and not isinstance(value, bool):
            raise InvalidRequest(
                f"{self.get_path(name)} must be true or false.", param=self.get_path(name)
            )
        return value

    def get_count(self, name: str, most: int | None = None) -> int | None:
        """Return a member that is a non-negative whole number; None where it is absent."""
        value = self.get_value(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)  # ProtoJSON and queries allow numbers as texts
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and (type(value) is not int or value < 0 or (most or value) < value):
            bound = "of 0 or more" if most is None else f"from 0 to {most}"
            raise InvalidRequest(
                f"{self.get_path(name)} must be a whole number {bound}.",
                param=self.get_path(name),
            )
        return value


def _spelled(name: str) -> str:
    """Return a member's name in the spelling of its field."""
    return _UPPER.sub(lambda found: f"_{found[0].lower()}", name)

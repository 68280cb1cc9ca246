"""Texts of transports in every language that the desk speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

import msgspec

ENGLISH = "en"
_VALUE = re.compile(r"\{(\w+)\}")


class TextCatalogue:
    """The texts of one package, from its ``texts.json``: by key, then by language.

    Parameters:
        package: its full name.
    """

    def __init__(self, package: str) -> None:
        data = files(package).joinpath("texts.json").read_bytes()
        self._texts: Mapping[str, Mapping[str, str]] = msgspec.json.decode(
            data, type=dict[str, dict[str, str]]
        )
        self.languages = tuple(next(iter(self._texts.values())))

    def supported(self, tag: str) -> str:
        """Return the language of the texts for a tag (BCP 47); English if there are none."""
        language = tag.partition("-")[0].lower()
        return language if language in self.languages else ENGLISH

    def say(self, key: str, language: str, /, **values: str) -> str:
        """Return a text with its values.

        Parameters:
            language: as for :meth:`supported`.

        Raises:
            KeyError: there is no such text, or a value of it is not given.
        """
        text = self._texts[key][self.supported(language)]
        return _VALUE.sub(lambda found: values[found[1]], text)

"""The pages' own texts in every supported language: one catalogue, by key.

A text names values as ``{name}``. Templates name texts as ``{{key}}``; the values of these texts
are then values of the template. The script's texts have keys that begin with ``script.``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property
from html import escape
from importlib.resources import files

import msgspec

_CATALOGUE: Mapping[str, Mapping[str, str]] = msgspec.json.decode(
    files(__package__).joinpath("texts.json").read_bytes(), type=dict[str, dict[str, str]]
)
ENGLISH = "en"
LANGUAGES = tuple(next(iter(_CATALOGUE.values())))
_SCRIPT = "script."
_KEY = re.compile(r"\{\{([\w.]+)\}\}")
_VALUE = re.compile(r"\{(\w+)\}")


class Texts:
    """The texts in one language.

    Attributes:
        language: the tag of that language.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._templates: dict[str, str] = {}

    def say(self, key: str, /, **values: str) -> str:
        """Return a text with its values.

        Raises:
            KeyError: there is no such text, or a value of it is not given.
        """
        text = _CATALOGUE[key][self.language]
        return _VALUE.sub(lambda found: values[found[1]], text)

    def count(self, key: str, count: int) -> str:
        """Return the singular or the plural text, with the count."""
        return self.say(f"{key}.{'one' if count == 1 else 'other'}", count=f"{count:,}")

    def template(self, source: str) -> str:
        """Return a template with the texts that it names."""
        if source not in self._templates:
            self._templates[source] = _KEY.sub(lambda found: self._as_template(found[1]), source)
        return self._templates[source]

    @cached_property
    def script(self) -> dict[str, str]:
        """The script's texts, by their keys without ``script.``."""
        return {
            key.removeprefix(_SCRIPT): texts[self.language]
            for key, texts in _CATALOGUE.items()
            if key.startswith(_SCRIPT)
        }

    def _as_template(self, key: str) -> str:
        text = escape(_CATALOGUE[key][self.language].replace("$", "$$"))
        return _VALUE.sub(r"$\1", text)


@cache
def find_texts(tag: str) -> Texts:
    """Return the texts in a language, or in English where there is no translation.

    Parameters:
        tag: BCP 47 tag, such as ``de-AT``.
    """
    language = tag.partition("-")[0].lower()
    return Texts(language if language in LANGUAGES else ENGLISH)


def find_language_tag(tag: str) -> str:
    """Return the language tag of the pages' own texts, given the site's language.

    Parameters:
        tag: BCP 47 tag of the site's language.
    """
    spoken = find_texts(tag).language
    return tag if tag.partition("-")[0].lower() == spoken else spoken

"""The mails' own texts in every supported language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

import msgspec

_CATALOGUE: Mapping[str, Mapping[str, str]] = msgspec.json.decode(
    files(__package__).joinpath("texts.json").read_bytes(), type=dict[str, dict[str, str]]
)
ENGLISH = "en"
LANGUAGES = tuple(next(iter(_CATALOGUE.values())))
_VALUE = re.compile(r"\{(\w+)\}")


def supported(tag: str) -> str:
    """Return the language of the texts for a tag (BCP 47); English if there are none."""
    language = tag.partition("-")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def say(key: str, language: str, /, **values: str) -> str:
    """Return a text with its values.

    Raises:
        KeyError: there is no such text, or a value of it is not given.
    """
    text = _CATALOGUE[key][supported(language)]
    return _VALUE.sub(lambda found: values[found[1]], text)

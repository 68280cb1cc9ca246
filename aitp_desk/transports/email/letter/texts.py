"""The mails' own texts in every supported language."""

from __future__ import annotations

from aitp_desk.transports.wire.catalogue import TextCatalogue

_CATALOGUE = TextCatalogue(__package__)
LANGUAGES = _CATALOGUE.languages
supported = _CATALOGUE.supported
say = _CATALOGUE.say
